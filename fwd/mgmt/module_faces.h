// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_MODULE_FACES_H
#define FWD_MGMT_MODULE_FACES_H

struct mgmt;
struct face_control;

/**
 * Publish what happens to faces as /localhost/nfd/faces/events; part of mgmt_create(). Control thread.
 *
 * @return 0, -ENOSPC
 */
int mgmt_faces_listen(struct mgmt *mgmt, struct face_control *faces);

#endif
