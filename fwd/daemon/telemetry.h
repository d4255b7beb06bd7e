// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_TELEMETRY_H
#define FWD_DAEMON_TELEMETRY_H

struct daemon;

/*
 * What `pitlane` and others read: commands /pitlane/... of the DPDK telemetry socket. An answer of that library is
 * bounded at 16 kB, 256 entries an object and 127 octets a string, so lists come in pages,
 *
 *     /pitlane/faces,START  ->  {"rows": {"0": {...}, "1": {...}}, "next": START of the next page}
 *
 * and a longer string as an array of its pieces. "next" is absent on the last page.
 */
/**
 * Register the commands and answer from @p daemon, which lives until telemetry_stop(). Its lock is taken for each
 * answer. Control thread.
 *
 * @return 0, or a negative errno
 */
int telemetry_start(struct daemon *daemon);

/** Answer no more; returns once no answer is being made. Control thread, not holding the daemon's lock. */
void telemetry_stop(void);

#endif
