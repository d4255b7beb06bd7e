// SPDX-License-Identifier: Apache-2.0
#include "conf/schema.h"
#include "conf/accept.h"
#include "conf/schema_keys.h"

#include <string.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

static const struct schema_choice log_levels[] = {{"error", CONF_LOG_ERROR},
                                                  {"warning", CONF_LOG_WARNING},
                                                  {"info", CONF_LOG_INFO},
                                                  {"debug", CONF_LOG_DEBUG},
                                                  {NULL, 0}};
static const struct schema_choice hugepages[] = {
    {"auto", CONF_HUGEPAGES_AUTO}, {"yes", CONF_HUGEPAGES_YES}, {"no", CONF_HUGEPAGES_NO}, {NULL, 0}};
static const struct schema_choice checksums[] = {
    {"verify", CONF_CHECKSUM_VERIFY}, {"trust", CONF_CHECKSUM_TRUST}, {NULL, 0}};
static const struct schema_choice cs_policies[] = {
    {"lru", CONF_CS_LRU}, {"priority-fifo", CONF_CS_PRIORITY_FIFO}, {NULL, 0}};
static const struct schema_choice cs_unsolicited[] = {{"drop-all", CONF_CS_DROP_ALL},
                                                      {"admit-local", CONF_CS_ADMIT_LOCAL},
                                                      {"admit-network", CONF_CS_ADMIT_NETWORK},
                                                      {"admit-all", CONF_CS_ADMIT_ALL},
                                                      {NULL, 0}};
static const struct schema_choice scopes[] = {
    {"non-local", CONF_SCOPE_NON_LOCAL}, {"local", CONF_SCOPE_LOCAL}, {NULL, 0}};
static const struct schema_choice persistencies[] = {
    {"persistent", CONF_PERSISTENT}, {"permanent", CONF_PERMANENT}, {NULL, 0}};
static const struct schema_choice link_types[] = {{"point-to-point", CONF_LINK_P2P},
                                                  {"multi-access", CONF_LINK_MULTI_ACCESS},
                                                  {"ad-hoc", CONF_LINK_AD_HOC},
                                                  {NULL, 0}};

static const struct schema_key daemon_keys[] = {
    {"user", SCHEMA_TEXT, FIELD(conf_daemon, user), .max = 32, .accept = accept_user, .form = "ACCOUNT",
     .def_note = "the account it was started as",
     .meaning = "Account that the daemon changes to once devices are open; its privileges are given up."},
    {"log-level", SCHEMA_CHOICE, FIELD(conf_daemon, log_level), .choices = log_levels, .def = "info", .live = true,
     .meaning = "Least severe messages that are logged."},
    {"log-file", SCHEMA_TEXT, FIELD(conf_daemon, log_file), .max = 1024, .accept = accept_path, .form = "PATH",
     .def_note = "standard error", .meaning = "File that messages are appended to."},
    {"runtime-dir", SCHEMA_TEXT, FIELD(conf_daemon, runtime_dir), .max = 80, .accept = accept_path, .form = "PATH",
     .def = "/run/pitlane", .meaning = "Folder of DPDK's run-time files and of the telemetry socket."},
    {"file-prefix", SCHEMA_TEXT, FIELD(conf_daemon, file_prefix), .max = 32, .accept = accept_file_prefix,
     .form = "WORD", .def = "pitlane", .meaning = "Tells apart the run-time files of several daemons on one host."},
    {"tlv-lenient", SCHEMA_BOOL, FIELD(conf_daemon, tlv_lenient), .def = "false",
     .meaning = "Accept TLV numbers that are not in their shortest form."},
    {"strict-perms", SCHEMA_BOOL, FIELD(conf_daemon, strict_perms), .def = "false",
     .meaning = "Refuse a configuration that everyone may write, instead of warning about it."},
};

static const struct schema_key worker_keys[] = {
    {"count", SCHEMA_COUNT, FIELD(conf_workers, count), .min = 1, .max = CONF_WORKERS_MAX, .def = "1",
     .def_note = "as many as lcores, else 1", .meaning = "Worker threads; each owns a part of the PIT and CS."},
    {"lcores", SCHEMA_COUNTS, ELEMENTS(conf_workers, lcores, n_lcores), .min = 0, .max = 1023,
     .def_note = "chosen by the daemon", .meaning = "CPUs that workers run on, one for each worker."},
    {"busy-poll", SCHEMA_BOOL, FIELD(conf_workers, busy_poll), .def = "false",
     .meaning = "Never sleep: least latency, one whole CPU for each worker."},
    {"max-sleep", SCHEMA_TIME_US, FIELD(conf_workers, max_sleep_us), .min = 0, .max = 10000, .def = "50us",
     .meaning = "Longest sleep of an idle worker; what an idle forwarder may add to the latency of a packet."},
    {"burst", SCHEMA_COUNT, FIELD(conf_workers, burst), .min = 8, .max = 64, .def = "32",
     .meaning = "Most packets taken from a port at once."},
    {"dispatch-components", SCHEMA_COUNT, FIELD(conf_workers, dispatch_components), .min = 1, .max = 4, .def = "2",
     .meaning = "Leading name components that decide which worker owns a name."},
};

static const struct schema_key memory_keys[] = {
    {"hugepages", SCHEMA_CHOICE, FIELD(conf_memory, hugepages), .choices = hugepages, .def = "auto",
     .meaning = "auto: use hugepages where there are any, else 4 kB pages with one warning; yes: fail without them."},
    {"mbufs", SCHEMA_COUNT, FIELD(conf_memory, mbufs), .min = 1024, .max = 1 << 26, .def = "0",
     .zero = "computed from ports and tables", .meaning = "Packet buffers, shared by all ports."},
    {"mbuf-size", SCHEMA_SIZE, FIELD(conf_memory, mbuf_size), .min = 1024, .max = 16384, .def = "2176",
     .meaning = "Octets of one packet buffer, 128 octets of headroom counted in."},
};

static const struct schema_key port_keys[] = {
    {"device", SCHEMA_TEXT, FIELD(conf_port, device), .max = 512, .accept = accept_device, .form = "DEVICE",
     .def_note = "none; each port has either device or netdev",
     .meaning = "DPDK device: a PCI address (\"0000:8a:00.0\"), or a driver with its arguments "
                "(\"net_memif0,role=server,id=0\")."},
    {"netdev", SCHEMA_TEXT, FIELD(conf_port, netdev), .max = 15, .accept = accept_netdev, .form = "INTERFACE",
     .def_note = "none; each port has either device or netdev",
     .meaning = "Kernel interface, shared with the kernel: AF_XDP takes NDN frames, all others stay the kernel's."},
    {"mtu", SCHEMA_SIZE, FIELD(conf_port, mtu), .min = 256, .max = 9600, .def = "0", .zero = "the device's own",
     .meaning = "Largest network-layer packet of the port, in octets; at most 3300 with netdev."},
    {"queues", SCHEMA_COUNT, FIELD(conf_port, queues), .min = 1, .max = 64, .def = "0",
     .zero = "one for each worker, as far as the device has them",
     .meaning = "Receive queues, and as many transmit queues; at most one for each worker."},
    {"rx-desc", SCHEMA_COUNT, FIELD(conf_port, rx_desc), .min = 64, .max = 32768, .def = "1024",
     .meaning = "Descriptors of each receive queue; bounded by the device."},
    {"tx-desc", SCHEMA_COUNT, FIELD(conf_port, tx_desc), .min = 64, .max = 32768, .def = "1024",
     .meaning = "Descriptors of each transmit queue; bounded by the device."},
    {"udp-ports", SCHEMA_COUNTS, ELEMENTS(conf_port, udp_ports, n_udp_ports), .min = 1, .max = 65535, .def = "6363",
     .meaning = "UDP destination ports whose packets are NDN's; with netdev they no longer reach the kernel."},
    {"udp-on-demand", SCHEMA_COUNT, FIELD(conf_port, udp_on_demand), .min = 1, .max = 15000, .def = "0",
     .zero = "packets of unknown peers are dropped and counted",
     .meaning = "Faces that UDP peers which nobody configured may have on the port at once; the first packet of a peer "
                "makes its face. When there are too many, the one silent for longest (5 s or more) goes first."},
    {"udp-idle-timeout", SCHEMA_TIME_MS, FIELD(conf_port, udp_idle_ms), .min = 1000, .max = 86400000, .def = "600s",
     .meaning = "Such a face that nothing came by for this long is removed."},
    {"bare", SCHEMA_BOOL, FIELD(conf_port, bare), .def = "false", .def_note = "true for net_memif, else false",
     .meaning = "Frames are NDN packets without an Ethernet header, as memif applications exchange them."},
    {"promiscuous", SCHEMA_BOOL, FIELD(conf_port, promiscuous), .def = "false",
     .meaning = "Receive frames for other MAC addresses too; they are counted and dropped."},
    {"checksum", SCHEMA_CHOICE, FIELD(conf_port, checksum), .choices = checksums, .def = "verify",
     .meaning = "verify: check IP and UDP checksums that the device did not; trust: leave them, for veth whose peer "
                "sends them unfinished."},
    {"address4", SCHEMA_TEXT, FIELD(conf_port, address4), .max = 32, .accept = accept_address4,
     .form = "ADDRESS/LENGTH", .def_note = "none", .meaning = "IPv4 address of the port, needed by udp4 faces."},
    {"address6", SCHEMA_TEXT, FIELD(conf_port, address6), .max = 64, .accept = accept_address6,
     .form = "ADDRESS/LENGTH", .def_note = "none", .meaning = "IPv6 address of the port, needed by udp6 faces."},
};

static const struct schema_key face_keys[] = {
    {"port", SCHEMA_TEXT, FIELD(conf_face, port_name), .max = 64, .required = true, .accept = accept_reference,
     .form = "PORT", .meaning = "The port that the face sends and receives on."},
    {"remote", SCHEMA_TEXT, FIELD(conf_face, remote), .max = 128, .required = true, .accept = accept_remote,
     .form = "URI",
     .meaning = "The other side: \"ether://[MAC]\", \"udp4://ADDRESS:PORT\", \"udp6://[ADDRESS]:PORT\", unicast or a "
                "group, or \"bare\" on a bare port; UDP ports are 6363 for hosts and 56363 for groups unless given."},
    {"local", SCHEMA_TEXT, FIELD(conf_face, local), .max = 128, .accept = accept_local, .form = "URI",
     .def_note = "the port's address; its first UDP port, for a group the group's",
     .meaning = "Our side, where it differs from the port's: another UDP port, or another MAC address."},
    {"vlan", SCHEMA_COUNT, FIELD(conf_face, vlan), .min = 1, .max = 4094, .def = "0", .zero = "untagged",
     .meaning = "VLAN tag of the face's frames."},
    {"mtu", SCHEMA_SIZE, FIELD(conf_face, mtu), .min = 64, .max = 9600, .def = "0", .zero = "what the port allows",
     .meaning = "Largest NDNLPv2 packet of the face, in octets; larger packets are fragmented."},
    {"mac", SCHEMA_TEXT, FIELD(conf_face, mac), .max = 17, .accept = accept_mac, .form = "MAC",
     .def_note = "asked from the kernel's neighbour table",
     .meaning = "MAC address of the next hop of a UDP face, for networks without ARP."},
    {"next-hop", SCHEMA_TEXT, FIELD(conf_face, next_hop_text), .max = 64, .accept = accept_next_hop, .form = "ADDRESS",
     .def_note = "the remote address", .meaning = "Gateway of a UDP face whose remote is not on the port's network."},
    {"scope", SCHEMA_CHOICE, FIELD(conf_face, scope), .choices = scopes, .def = "non-local",
     .meaning = "local: the other side is an application of this host and may use /localhost; only on bare ports."},
    {"link-type", SCHEMA_CHOICE, FIELD(conf_face, link_type), .choices = link_types, .def = "point-to-point",
     .def_note = "point-to-point for hosts, multi-access for groups",
     .meaning = "ad-hoc: senders of the group may not hear one another; groups only, as multi-access."},
    {"persistency", SCHEMA_CHOICE, FIELD(conf_face, persistency), .choices = persistencies, .def = "persistent",
     .meaning = "As management shows it; either stays until management destroys it."},
    {"reliability", SCHEMA_BOOL, FIELD(conf_face, reliability), .def = "false",
     .meaning =
         "Packets are acknowledged, and sent again when they are not (NDNLPv2); the other side must do so, too."},
    {"congestion-marking", SCHEMA_BOOL, FIELD(conf_face, congestion_marking), .def = "false",
     .meaning = "Packets are given a CongestionMark when the port's device has refused some for 100 ms."},
    {"local-fields", SCHEMA_BOOL, FIELD(conf_face, local_fields), .def = "false",
     .meaning = "Packets carry IncomingFaceId, and may come with NextHopFaceId; only with scope local."},
};

static const struct schema_key route_keys[] = {
    {"prefix", SCHEMA_TEXT, FIELD(conf_route, prefix), .max = 4096, .required = true, .accept = accept_name,
     .form = "NAME", .meaning = "Name prefix of the Interests."},
    {"face", SCHEMA_TEXT, FIELD(conf_route, face_name), .max = 64, .required = true, .accept = accept_reference,
     .form = "FACE", .meaning = "The face they may be sent to."},
    {"cost", SCHEMA_COUNT, FIELD(conf_route, cost), .min = 0, .max = UINT32_MAX, .def = "0",
     .meaning = "Of several faces best-route takes the one of least cost."},
    {"child-inherit", SCHEMA_BOOL, FIELD(conf_route, child_inherit), .def = "true",
     .meaning = "Longer prefixes that have routes have this one, too (CHILD_INHERIT)."},
    {"capture", SCHEMA_BOOL, FIELD(conf_route, capture), .def = "false",
     .meaning = "This prefix and those below it take no routes of shorter ones over (CAPTURE)."},
};

static const struct schema_key strategy_keys[] = {
    {"prefix", SCHEMA_TEXT, FIELD(conf_strategy, prefix), .max = 4096, .required = true, .accept = accept_name,
     .form = "NAME", .meaning = "Name prefix that the strategy serves, with all below it that has none of its own."},
    {"strategy", SCHEMA_TEXT, FIELD(conf_strategy, strategy), .max = 1000, .required = true, .accept = accept_strategy,
     .form = "STRATEGY",
     .meaning = "How a face is chosen: access, asf, best-route, multicast, random or self-learning, also with "
                "parameters as in \"asf/v=5/max-timeouts~2\"; the full name that NFD uses is allowed too."},
    {"retx-suppression-initial", SCHEMA_TIME_MS, FIELD(conf_strategy, retx_suppression_initial_ms), .min = 1,
     .max = 10000, .def = "10ms", .meaning = "Retransmissions sooner than this after the first Interest are not sent."},
    {"retx-suppression-max", SCHEMA_TIME_MS, FIELD(conf_strategy, retx_suppression_max_ms), .min = 1, .max = 10000,
     .def = "250ms", .meaning = "Longest that this time grows to."},
    {"retx-suppression-multiplier", SCHEMA_REAL, FIELD(conf_strategy, retx_suppression_multiplier), .min = 1000000,
     .max = 10000000, .def = "2.0", .meaning = "Factor that it grows by with each retransmission sent."},
};

static const struct schema_key pit_keys[] = {
    {"capacity", SCHEMA_COUNT, FIELD(conf_pit, capacity), .min = 1024, .max = 1 << 24, .def = "128k",
     .meaning = "Pending Interests of each worker; memory for all of them is taken at start."},
    {"max-lifetime", SCHEMA_TIME_MS, FIELD(conf_pit, max_lifetime_ms), .min = 100, .max = 300000, .def = "60s",
     .meaning = "Longest InterestLifetime; longer ones are cut to it."},
    {"face-share", SCHEMA_REAL, FIELD(conf_pit, face_share), .min = 10000, .max = 1000000, .def = "0.25",
     .meaning = "Part of the PIT that Interests of one face may fill."},
    {"dead-nonce-capacity", SCHEMA_COUNT, FIELD(conf_pit, dead_nonce_capacity), .min = 1024, .max = 1 << 26,
     .def = "1m", .meaning = "Nonces of satisfied Interests that each worker remembers to find loops."},
};

static const struct schema_key cs_keys[] = {
    {"capacity", SCHEMA_COUNT, FIELD(conf_cs, capacity), .min = 1, .max = 1 << 24, .def = "64k", .zero = "no caching",
     .meaning = "Data packets that each worker keeps; each holds its packet buffers."},
    {"capacity-max", SCHEMA_COUNT, FIELD(conf_cs, capacity_max), .min = 1, .max = 1 << 24, .def = "0",
     .zero = "as capacity", .meaning = "Most that the capacity may be raised to while running."},
    {"policy", SCHEMA_CHOICE, FIELD(conf_cs, policy), .choices = cs_policies, .def = "lru",
     .meaning = "Which Data goes first when the CS is full."},
    {"unsolicited", SCHEMA_CHOICE, FIELD(conf_cs, unsolicited), .choices = cs_unsolicited, .def = "drop-all",
     .meaning = "Whose Data is kept although no Interest asked for it: nobody's, that of local applications, that of "
                "the network, everybody's."},
};

static const struct schema_key forwarding_keys[] = {
    {"default-hop-limit", SCHEMA_COUNT, FIELD(conf_forwarding, default_hop_limit), .min = 1, .max = 255, .def = "0",
     .zero = "none", .meaning = "HopLimit of Interests that come without."},
    {"region", SCHEMA_TEXTS, ELEMENTS(conf_forwarding, region, n_regions), .max = 4096, .accept = accept_name,
     .form = "NAME", .def_note = "none",
     .meaning = "Names of the network regions that this forwarder is in: an Interest with a ForwardingHint that is a "
                "prefix of one of them goes on by its own name."},
};

static const struct schema_key fib_keys[] = {
    {"capacity", SCHEMA_COUNT, FIELD(conf_fib, capacity), .min = 64, .max = 1 << 22, .def = "64k",
     .meaning = "Name prefixes with routes or strategies."},
};

static const struct schema_key lp_keys[] = {
    {"max-fragments", SCHEMA_COUNT, FIELD(conf_lp, max_fragments), .min = 1, .max = 400, .def = "32",
     .meaning = "Fragments of one packet; packets of more are dropped."},
    {"timeout", SCHEMA_TIME_MS, FIELD(conf_lp, timeout_ms), .min = 10, .max = 60000, .def = "500ms",
     .meaning = "How long the rest of a packet is waited for after its last fragment."},
    {"budget", SCHEMA_SIZE, FIELD(conf_lp, budget), .min = 256 << 10, .max = INT64_C(1) << 31, .def = "16m",
     .meaning = "Octets of packet buffers that incomplete packets may hold, for each worker."},
    {"messages", SCHEMA_COUNT, FIELD(conf_lp, messages), .min = 16, .max = 1 << 20, .def = "1024",
     .meaning = "Incomplete packets of each worker."},
    {"per-face", SCHEMA_COUNT, FIELD(conf_lp, per_face), .min = 1, .max = 1 << 20, .def = "64",
     .meaning = "Incomplete packets of one face."},
    {"reliable-faces", SCHEMA_COUNT, FIELD(conf_lp, reliable_faces), .min = 1, .max = 16384, .def = "256",
     .zero = "no face has reliability", .meaning = "Faces with reliability; more of them go without."},
    {"unacknowledged", SCHEMA_COUNT, FIELD(conf_lp, unacknowledged), .min = 64, .max = 1 << 20, .def = "4096",
     .meaning = "Packet buffers that each worker keeps until they are acknowledged, a quarter of them for one face; "
                "what finds no room is sent once."},
};

static const struct schema_key authorization_keys[] = {
    {"certfile", SCHEMA_TEXT, FIELD(conf_authorization, certfile), .max = 4096, .required = true,
     .accept = accept_anchor, .form = "any|FILE|hmac:FILE",
     .meaning = "Whose commands: signed by the key of the certificate in FILE (NDN certificate, as \"ndnsec "
                "cert-dump\" writes it), or by the HMAC key in it (\"hmac:FILE\": name and key in base64); \"any\": "
                "everyone's, also unsigned ones. Signatures must be at most two minutes old, and each newer than the "
                "last of its key. A path is relative to the file that says it."},
    {"privileges", SCHEMA_TEXTS, ELEMENTS(conf_authorization, privilege, n_privileges), .max = 32, .required = true,
     .accept = accept_privilege, .form = "faces|fib|cs|strategy-choice",
     .meaning = "Management modules that they may command."},
};

static const struct schema_key rib_keys[] = {
    {"localhost-security", SCHEMA_TEXTS, ELEMENTS(conf_rib, localhost_security, n_localhost_security), .max = 4096,
     .accept = accept_anchor, .form = "any|FILE|FOLDER|base64:CERTIFICATE", .def = "any",
     .meaning = "Trust anchors for commands to /localhost/nfd/rib: certificates, and folders of them. \"any\": every "
                "signed command, whoever signed it; none: no command."},
    {"localhop-security", SCHEMA_TEXTS, ELEMENTS(conf_rib, localhop_security, n_localhop_security), .max = 4096,
     .accept = accept_anchor, .form = "any|FILE|FOLDER|base64:CERTIFICATE",
     .def_note = "none; /localhop/nfd/rib is not served",
     .meaning = "Trust anchors for commands that neighbours send to /localhop/nfd/rib."},
    {"prefix-announcement-validation", SCHEMA_TEXTS,
     ELEMENTS(conf_rib, announcement_validation, n_announcement_validation), .max = 4096, .accept = accept_anchor,
     .form = "any|FILE|FOLDER|base64:CERTIFICATE", .def = "any",
     .meaning = "Trust anchors for prefix announcements, whose prefix must be under the identity that signs them."},
    {"certificates", SCHEMA_TEXTS, ELEMENTS(conf_rib, certificates, n_certificates), .max = 4096,
     .accept = accept_certificates, .form = "FILE|FOLDER|base64:CERTIFICATE", .def_note = "none",
     .meaning = "Certificates that are trusted when a chain of these leads to an anchor, each issued by an identity "
                "above its own. None are fetched from the network."},
    {"anchor-refresh", SCHEMA_TIME_MS, FIELD(conf_rib, anchor_refresh_ms), .min = 1000, .max = 86400000, .def = "60min",
     .meaning = "How often folders of certificates are read again."},
    {"readvertise-nlsr", SCHEMA_BOOL, FIELD(conf_rib, readvertise_nlsr), .def = "false",
     .meaning = "Tell NLSR, at /localhost/nlsr, of the routes that applications register with origin client."},
    {"auto-prefix-propagate", SCHEMA_BOOL, FIELD(conf_rib, auto_prefix_propagate), .def = "false",
     .meaning = "Register the routes of applications with the gateway, at /localhop/nfd. Not together with "
                "localhop-security: a gateway does not pass on to its own what others register with it."},
    {"propagate-cost", SCHEMA_COUNT, FIELD(conf_rib, propagate_cost), .max = UINT32_MAX, .def = "15",
     .meaning = "Cost of these routes at the gateway."},
    {"propagate-timeout", SCHEMA_TIME_MS, FIELD(conf_rib, propagate_timeout_ms), .min = 100, .max = 600000,
     .def = "10s", .meaning = "How long the gateway's answer is waited for."},
    {"propagate-refresh-interval", SCHEMA_TIME_MS, FIELD(conf_rib, propagate_refresh_ms), .min = 1000, .max = 86400000,
     .def = "5min", .meaning = "How often routes are registered with the gateway anew."},
    {"propagate-base-retry-wait", SCHEMA_TIME_MS, FIELD(conf_rib, propagate_base_retry_ms), .min = 1000,
     .max = 86400000, .def = "50s", .meaning = "Time from a failure to the next attempt; doubled by each failure."},
    {"propagate-max-retry-wait", SCHEMA_TIME_MS, FIELD(conf_rib, propagate_max_retry_ms), .min = 1000, .max = 86400000,
     .def = "60min", .meaning = "Longest that this time grows to."},
    {"propagate-certificate", SCHEMA_TEXT, FIELD(conf_rib, propagate_certificate), .max = 4096, .accept = accept_name,
     .form = "NAME", .def_note = "none",
     .meaning = "Certificate that commands to the gateway name; the name of its identity is registered for all routes "
                "below it, and no others. Without it each route is registered, with a digest for a signature."},
    {"propagate-key", SCHEMA_TEXT, FIELD(conf_rib, propagate_key), .max = 4096, .accept = accept_path, .form = "PATH",
     .def_note = "none",
     .meaning = "Private key that goes with propagate-certificate, in PEM form without a passphrase."},
};

static const struct schema_key unix_keys[] = {
    {"enabled", SCHEMA_BOOL, FIELD(conf_unix, enabled), .def = "true",
     .meaning = "Applications on this host connect to a Unix stream socket."},
    {"path", SCHEMA_TEXT, FIELD(conf_unix, path), .max = 107, .accept = accept_path, .form = "PATH",
     .def = "/run/nfd/nfd.sock",
     .meaning = "The socket, where NDN applications look for it. One that a process left behind is replaced; folders "
                "on the way are made."},
    {"mode", SCHEMA_TEXT, FIELD(conf_unix, mode_text), .max = 4, .accept = accept_mode, .form = "OCTAL", .def = "0660",
     .meaning = "Who may connect; \"0666\" lets everyone on this host, as the reference forwarder does."},
    {"group", SCHEMA_TEXT, FIELD(conf_unix, group), .max = 32, .accept = accept_group, .form = "GROUP",
     .def_note = "that of the daemon", .meaning = "Group that the socket belongs to."},
    {"users", SCHEMA_TEXTS, ELEMENTS(conf_unix, users, n_users), .max = 32, .accept = accept_user, .form = "ACCOUNT",
     .def_note = "all that the mode lets",
     .meaning = "Accounts that may connect; the connections of all others are closed."},
};

static const struct schema_key tcp_keys[] = {
    {"listen", SCHEMA_BOOL, FIELD(conf_tcp, listen), .def = "true",
     .meaning = "Accept TCP connections. Faces to others can be made in any case."},
    {"port", SCHEMA_COUNT, FIELD(conf_tcp, port), .min = 1, .max = 65535, .def = "6363",
     .meaning = "TCP port that is listened on."},
    {"ipv4", SCHEMA_BOOL, FIELD(conf_tcp, ipv4), .def = "true", .meaning = "Listen on 0.0.0.0."},
    {"ipv6", SCHEMA_BOOL, FIELD(conf_tcp, ipv6), .def = "true", .meaning = "Listen on [::]."},
    {"local-whitelist", SCHEMA_TEXTS, ELEMENTS(conf_tcp, local_whitelist, n_local_whitelist), .max = 64,
     .accept = accept_subnet, .form = "ADDRESS/LENGTH", .def = "127.0.0.0/8, ::1/128",
     .meaning = "A TCP face is local, and may use /localhost, when the addresses of both ends are in one of these "
                "subnets."},
    {"local-blacklist", SCHEMA_TEXTS, ELEMENTS(conf_tcp, local_blacklist, n_local_blacklist), .max = 64,
     .accept = accept_subnet, .form = "ADDRESS/LENGTH", .def_note = "none",
     .meaning = "Subnets whose addresses make no TCP face local, whatever local-whitelist says."},
};

static const struct schema_key udp_keys[] = {
    {"listen", SCHEMA_BOOL, FIELD(conf_udp, listen), .def = "true",
     .meaning = "A UDP packet from somebody new makes an on-demand face. What comes in by a port with udp-ports does "
                "not get here: it is the port's."},
    {"port", SCHEMA_COUNT, FIELD(conf_udp, port), .min = 1, .max = 65535, .def = "6363",
     .meaning = "UDP port that is listened on, and that faces to others send from."},
    {"ipv4", SCHEMA_BOOL, FIELD(conf_udp, ipv4), .def = "true", .meaning = "Listen on 0.0.0.0."},
    {"ipv6", SCHEMA_BOOL, FIELD(conf_udp, ipv6), .def = "true", .meaning = "Listen on [::]."},
    {"mtu", SCHEMA_SIZE, FIELD(conf_udp, mtu), .min = 64, .max = 8800, .def = "8800",
     .meaning = "Largest NDNLPv2 packet of a UDP face, in octets; larger packets are fragmented."},
    {"idle-timeout", SCHEMA_TIME_MS, FIELD(conf_udp, idle_timeout_ms), .min = 1000, .max = 86400000, .def = "600s",
     .meaning = "An on-demand face that nothing came from for this long is closed."},
    {"multicast", SCHEMA_BOOL, FIELD(conf_udp, multicast), .def = "true",
     .meaning = "A permanent face to the groups 224.0.23.170:56363 and [ff02::1234]:56363 on each interface that is "
                "no netdev of a port."},
};

static const struct schema_key websocket_keys[] = {
    {"listen", SCHEMA_BOOL, FIELD(conf_websocket, listen), .def = "true",
     .meaning = "Accept WebSocket connections of browsers: binary frames, one packet in each."},
    {"port", SCHEMA_COUNT, FIELD(conf_websocket, port), .min = 1, .max = 65535, .def = "9696",
     .meaning = "TCP port that is listened on."},
    {"ipv4", SCHEMA_BOOL, FIELD(conf_websocket, ipv4), .def = "true", .meaning = "Listen on 0.0.0.0."},
    {"ipv6", SCHEMA_BOOL, FIELD(conf_websocket, ipv6), .def = "true", .meaning = "Listen on [::]."},
};

static const struct schema_key sockets_keys[] = {
    {"faces", SCHEMA_COUNT, FIELD(conf_sockets, faces), .min = 1, .max = 15000, .def = "4k",
     .meaning = "On-demand faces at once, of each kind: Unix, TCP, UDP, WebSocket. More are refused."},
    {"queue", SCHEMA_SIZE, FIELD(conf_sockets, queue), .min = 16 << 10, .max = 64 << 20, .def = "256k",
     .meaning = "Octets that wait for a peer that reads slowly, beside what the kernel keeps; more are dropped."},
    {"stall-timeout", SCHEMA_TIME_MS, FIELD(conf_sockets, stall_ms), .min = 100, .max = 3600000, .def = "10s",
     .meaning = "A peer that reads nothing of what waits for it, or has begun a packet and does not end it, for this "
                "long is disconnected."},
    {"congestion-marking", SCHEMA_BOOL, FIELD(conf_sockets, congestion_marking), .def = "true",
     .meaning = "New faces mark packets when their queue stays long; each face's own flag can be changed. Applications "
                "that know no NDNLPv2 need it off."},
};

#define ONE(field, table)                                                                                       \
    .kind = SCHEMA_ONE, .offset = offsetof(struct conf, field), .item_size = sizeof(((struct conf *)0)->field), \
    .max_items = 1, .keys = table, .n_keys = N(table)
#define MANY(field, count, max, table)                                                    \
    .offset = offsetof(struct conf, field), .count_offset = offsetof(struct conf, count), \
    .item_size = sizeof(*((struct conf *)0)->field), .max_items = max, .keys = table, .n_keys = N(table)

const struct schema_section schema_sections[] = {
    {"daemon", ONE(daemon, daemon_keys), .restart = true, .meaning = "The process: account, log, files."},
    {"workers", ONE(workers, worker_keys), .restart = true, .meaning = "The threads that forward."},
    {"memory", ONE(memory, memory_keys), .restart = true, .meaning = "Hugepages and packet buffers."},
    {"port", .kind = SCHEMA_NAMED, MANY(port, n_ports, CONF_PORTS_MAX, port_keys), .restart = true,
     .meaning = "Network ports, each under a name of its own."},
    {"face", .kind = SCHEMA_NAMED, MANY(face, n_faces, CONF_FACES_MAX, face_keys),
     .meaning = "Neighbours that packets are exchanged with, each under a name of its own."},
    {"route", .kind = SCHEMA_LIST, MANY(route, n_routes, 1000000, route_keys),
     .meaning = "Where Interests may be sent; several routes may have one prefix."},
    {"strategy", .kind = SCHEMA_LIST, MANY(strategy, n_strategies, 10000, strategy_keys),
     .meaning = "How routes are used; \"/\" has best-route unless configured."},
    {"pit", ONE(pit, pit_keys), .restart = true, .meaning = "Pending Interest Table."},
    {"cs", ONE(cs, cs_keys), .restart = true, .meaning = "Content Store."},
    {"fib", ONE(fib, fib_keys), .restart = true, .meaning = "Forwarding Information Base."},
    {"lp", ONE(lp, lp_keys), .restart = true, .meaning = "NDNLPv2 reassembly and reliability."},
    {"forwarding", ONE(forwarding, forwarding_keys), .restart = true,
     .meaning = "What becomes of Interests, beside routes and strategies."},
    {"authorizations", .kind = SCHEMA_LIST,
     MANY(authorization, n_authorizations, CONF_AUTHORIZATIONS_MAX, authorization_keys), .restart = true,
     .meaning = "Who may command faces, FIB, CS and strategies. As long as nobody is listed everyone on this host "
                "may, as with the reference forwarder's sample configuration; else only who is listed."},
    {"rib", ONE(rib, rib_keys), .restart = true, .meaning = "Routes of applications and routing daemons."},
    {"unix", ONE(unix_socket, unix_keys), .restart = true, .meaning = "The socket of applications on this host."},
    {"tcp", ONE(tcp, tcp_keys), .restart = true, .meaning = "Faces over TCP."},
    {"udp", ONE(udp, udp_keys), .restart = true, .meaning = "Faces over the kernel's UDP, beside those of ports."},
    {"websocket", ONE(websocket, websocket_keys), .restart = true, .meaning = "Faces of browsers."},
    {"sockets", ONE(sockets, sockets_keys), .restart = true, .meaning = "What faces over sockets have in common."},
    {"quic", .kind = SCHEMA_NAMED, MANY(quic, n_quics, CONF_QUIC_MAX, schema_quic_keys),
     .meaning = "QUIC services, each under a name of its own: datagrams to a virtual address go to one of its servers, "
                "which connection IDs name."},
    {"quic-config", .kind = SCHEMA_LIST, MANY(quic_config, n_quic_configs, CONF_QUIC_MAX * 7, schema_quic_config_keys),
     .meaning = "QUIC-LB configurations of services: how the connection IDs of servers are made."},
    {"quic-scheme", .kind = SCHEMA_LIST,
     MANY(quic_scheme, n_quic_schemes, CONF_QUIC_MAX *CONF_QUIC_SCHEMES_MAX, schema_quic_scheme_keys),
     .meaning = "Private layouts of connection IDs with a plaintext server ID at a fixed place. What a first octet "
                "stands for must be one."},
    {"quic-server", .kind = SCHEMA_NAMED,
     MANY(quic_server, n_quic_servers, CONF_QUIC_MAX *CONF_QUIC_SERVERS_MAX, schema_quic_server_keys),
     .meaning = "Servers of QUIC services, each under a name of its own."},
};
const unsigned schema_n_sections = N(schema_sections);

const struct schema_section *schema_find(const char *name)
{
    for (unsigned i = 0; i < schema_n_sections; i++)
        if (strcmp(schema_sections[i].name, name) == 0)
            return &schema_sections[i];
    return NULL;
}

const struct schema_key *schema_find_key(const struct schema_section *section, const char *name)
{
    for (unsigned i = 0; i < section->n_keys; i++)
        if (strcmp(section->keys[i].name, name) == 0)
            return &section->keys[i];
    return NULL;
}

void *schema_items(const struct schema_section *section, const struct conf *conf, unsigned *n)
{
    const char *base = (const char *)conf + section->offset;
    void *items;
    if (section->kind == SCHEMA_ONE) {
        *n = 1;
        memcpy(&items, &base, sizeof items);
        return items;
    }
    memcpy(n, (const char *)conf + section->count_offset, sizeof *n);
    memcpy(&items, base, sizeof items);
    return items;
}
