// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_SOCK_SOCK_H
#define PORTS_SOCK_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "ports/face.h"
#include "ports/port.h"

/*
 * Faces over sockets of the kernel: Unix stream, TCP, UDP and WebSocket, on libuv in one I/O thread. The thread is
 * the other end of a thread port: it frames what it reads into link-layer packets for the workers, and writes what
 * they send. It touches no table. Faces are made and removed by the control thread, which hears of peers that come
 * and go by sock_poll().
 */

struct sock;
struct rte_mempool;

#define SOCK_SUBNETS_MAX 32

struct sock_subnet {
    uint8_t ip[16]; /**< IPv4 as ::ffff:a.b.c.d */
    uint8_t prefix_len;
};

/** Strings and lists stay the caller's, and stay until sock_stop(). */
struct sock_config {
    struct port *port; /**< thread port, opened */
    struct rte_mempool *pool;
    const char *account; /**< that the daemon becomes: owner of the Unix socket and of folders made for it; NULL: us */

    const char *unix_path;  /**< NULL: none */
    unsigned unix_mode;     /**< 0660 */
    const char *unix_group; /**< NULL: as it comes */
    const char *const
        *unix_users; /**< accounts that may connect (SO_PEERCRED), NULL-ended; NULL: all that the mode lets */

    bool tcp_listen, tcp_v4, tcp_v6;
    uint16_t tcp_port;
    /** TCP faces are local when the addresses of both ends are in the whitelist and in no subnet of the blacklist. */
    struct sock_subnet local_white[SOCK_SUBNETS_MAX], local_black[SOCK_SUBNETS_MAX];
    unsigned n_local_white, n_local_black;

    bool udp_listen, udp_v4, udp_v6;
    uint16_t udp_port;
    uint16_t udp_mtu;    /**< largest link-layer packet of a UDP face: 64..8800 */
    uint32_t udp_idle_s; /**< on-demand faces close between this and twice this */
    bool udp_multicast;  /**< a permanent face to 224.0.23.170:56363 and ff02::1234 on each interface that is no port */
    const char *const *netdevs; /**< interfaces that are ports, NULL-ended; NULL: none */

    bool ws_listen, ws_v4, ws_v6;
    uint16_t ws_port;

    uint32_t faces_max;      /**< on-demand faces at once, of each kind: none can crowd out another */
    uint32_t queue_max;      /**< octets that may wait for a slow reader; more is dropped */
    uint32_t stall_ms;       /**< a peer that reads nothing, or completes no element, for this long is closed: 10 s */
    bool congestion_marking; /**< default of new faces */
};

/** What the control thread hears, from sock_poll(). */
struct sock_listener {
    /**
     * A peer connected, or its first datagram came: add its face to the table (kind FACE_THREAD). @return FaceId, 0 to
     * refuse
     */
    uint32_t (*accepted)(void *ctx, const struct face_config *config);
    /** The outcome of sock_connect(): 0 and the face's configuration, or a negative errno. @return FaceId, 0 to refuse
     */
    uint32_t (*connected)(void *ctx, uint64_t ticket, int rc, const struct face_config *config);
    /** The peer is gone; the face is to be removed. */
    void (*closed)(void *ctx, uint32_t face);
    /** A permanent face lost or regained its peer. */
    void (*updown)(void *ctx, uint32_t face, bool up);
    void *ctx;
};

/** Listen. On failure @p err says why in words. Control thread. @return 0, negative errno */
int sock_start(struct sock **sock, const struct sock_config *config, const struct sock_listener *listener,
               char err[200]);
/**
 * Start the I/O thread. Apart from sock_start(), so that an account can be changed between the two: the thread gives up
 * its capabilities and could not follow. Control thread. @return 0, negative errno
 */
int sock_run(struct sock *sock, char err[200]);
/** Close everything; what was queued is written as far as it goes without waiting. Control thread. */
void sock_stop(struct sock *sock);

/** Readable when sock_poll() has something to tell. */
int sock_fd(const struct sock *sock);
/** Call the listener for what happened. Control thread, under the daemon's lock. */
void sock_poll(struct sock *sock);

/** A face that management asks for. */
struct sock_remote {
    bool stream; /**< TCP, else UDP */
    struct sockaddr_storage address;
    uint8_t persistency;
    uint8_t flags;
    uint16_t mtu;                                          /**< 0: default */
    uint64_t congestion_interval_ns, congestion_threshold; /**< 0: default */
};
/** Connect; the listener's connected() tells the outcome under @p ticket. @return 0, -EAFNOSUPPORT, -ENOMEM */
int sock_connect(struct sock *sock, const struct sock_remote *remote, uint64_t ticket);
/** The face of a remote endpoint, 0: none. Control thread. */
uint32_t sock_find(const struct sock *sock, bool stream, const struct sockaddr_storage *address);
/** Close the socket of a face that was removed from the table. */
void sock_close(struct sock *sock, uint32_t face);
/** A face was changed (persistency, flags, congestion, MTU): the I/O thread takes the new values over. */
void sock_changed(struct sock *sock, const struct face *face);

/** URIs of what is listened on, for faces/channels: unix:///run/nfd/nfd.sock, tcp4://0.0.0.0:6363. @return their number
 */
unsigned sock_channels(const struct sock *sock, const char *const **uris);

/** Counters of the I/O thread; any thread, relaxed. */
struct sock_counters {
    uint64_t accepted, refused, closed;
    uint64_t malformed;  /**< connections closed over octets that are no element, or too long */
    uint64_t datagrams;  /**< datagrams dropped because they are not one packet of at most 8800 octets */
    uint64_t stalled;    /**< connections closed by stall_ms */
    uint64_t queue_full; /**< packets dropped because their reader was slow */
    uint64_t no_mbuf;    /**< packets lost for want of a buffer */
    uint64_t ring_full;  /**< datagrams lost because a worker was too slow; streams wait */
    uint64_t marked;     /**< packets marked because a queue was long */
    uint64_t no_face;    /**< packets that came for a peer that is gone */
};
void sock_counters(const struct sock *sock, struct sock_counters *counters);
/** What each of them is called; ended by a NULL name. Any thread. */
struct sock_counter_desc {
    const char *name;
    size_t offset; /**< in struct sock_counters */
    const char *text;
};
extern const struct sock_counter_desc sock_counter_descs[];
/** Milliseconds until an on-demand face is closed if nothing comes, for ExpirationPeriod; -1: never. */
int64_t sock_expires_ms(const struct sock *sock, uint32_t face);

#endif
