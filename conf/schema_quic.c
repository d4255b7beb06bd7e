// SPDX-License-Identifier: Apache-2.0
#include "conf/accept.h"
#include "conf/schema_keys.h"

static const struct schema_choice deliveries[] = {
    {"l2", CONF_QUIC_L2}, {"ipip", CONF_QUIC_IPIP}, {"gue", CONF_QUIC_GUE}, {NULL, 0}};
static const struct schema_choice retries[] = {
    {"off", CONF_QUIC_RETRY_OFF}, {"on", CONF_QUIC_RETRY_ON}, {"transition", CONF_QUIC_RETRY_TRANSITION}, {NULL, 0}};
static const struct schema_choice states[] = {
    {"up", CONF_QUIC_UP}, {"drain", CONF_QUIC_DRAIN}, {"down", CONF_QUIC_DOWN}, {NULL, 0}};

const struct schema_key schema_quic_keys[21] = {
    {"vip", SCHEMA_TEXTS, ELEMENTS(conf_quic, vip, n_vips), .max = 64, .required = true, .accept = accept_vip,
     .form = "ADDRESS:PORT",
     .meaning = "Virtual addresses with UDP port: \"203.0.113.10:443\", \"[2001:db8::10]:443\". Packets to them are "
                "taken from every port, and do not reach the kernel."},
    {"delivery", SCHEMA_CHOICE, FIELD(conf_quic, delivery), .choices = deliveries, .def = "l2",
     .meaning = "l2: to the MAC address of the server, or of the router towards it, everything else as it is; servers "
                "have the virtual address, too, and answer clients directly. ipip: in IP packets to the server's "
                "address (RFC 2003, RFC 2473). gue: the same in UDP (GUE variant 1)."},
    {"gue-port", SCHEMA_COUNT, FIELD(conf_quic, gue_port), .min = 1, .max = 65535, .def = "6080",
     .meaning = "UDP port of servers for delivery \"gue\"."},
    {"require-fixed-bit", SCHEMA_BOOL, FIELD(conf_quic, require_fixed_bit), .def = "false",
     .meaning = "Drop packets whose fixed bit (0x40) is 0. RFC 9287 lets clients and servers agree to send such."},
    {"drop-unroutable", SCHEMA_BOOL, FIELD(conf_quic, drop_unroutable), .def = "false",
     .meaning = "Drop short headers and Handshake packets whose connection ID names no server, instead of sending them "
                "where the 4-tuple leads. Only where all servers issue connection IDs that can be routed."},
    {"drop-small-initials", SCHEMA_BOOL, FIELD(conf_quic, drop_small_initials), .def = "true",
     .meaning = "Drop Initial packets in datagrams of less than 1200 octets, which servers must not answer."},
    {"version-negotiation", SCHEMA_BOOL, FIELD(conf_quic, version_negotiation), .def = "false",
     .meaning = "Answer unknown versions in datagrams of 1200 octets and more with a Version Negotiation packet."},
    {"versions", SCHEMA_TEXTS, ELEMENTS(conf_quic, version_text, n_versions), .max = 10, .accept = accept_version,
     .form = "0xHEX", .def = "0x00000001, 0x6b3343cf",
     .meaning = "Versions that the servers have, as Version Negotiation offers them."},
    {"edge-rate", SCHEMA_COUNT, FIELD(conf_quic, edge_rate), .min = 1, .max = 1000000, .def = "100", .zero = "no limit",
     .meaning =
         "Version Negotiation and Retry packets a second towards one source: an IPv4 address, or an IPv6 /64. Each "
         "worker counts for itself."},
    {"initial-rate", SCHEMA_COUNT, FIELD(conf_quic, initial_rate), .min = 1, .max = 1000000, .def = "0",
     .zero = "no limit",
     .meaning = "Initial packets a second from one source; more are dropped. Each worker counts for itself."},
    {"flow-table", SCHEMA_COUNT, FIELD(conf_quic, flow_table), .min = 64, .max = 1 << 22, .def = "0",
     .zero = "there is none",
     .meaning = "Flows that are remembered, of servers whose connection IDs cannot be routed. A connection is about "
                "five: by its addresses and its connection IDs. A change needs a restart."},
    {"flow-idle-timeout", SCHEMA_TIME_MS, FIELD(conf_quic, flow_idle_ms), .min = 1000, .max = 3600000, .def = "60s",
     .meaning = "A flow without a packet for this long is forgotten. A change needs a restart."},
    {"flow-keep-time", SCHEMA_TIME_MS, FIELD(conf_quic, flow_keep_ms), .min = 100, .max = 3600000, .def = "0",
     .zero = "as flow-idle-timeout",
     .meaning =
         "When the table is full, a flow with a packet within this time does not give way to a new one. With less "
         "than flow-idle-timeout a flood of packets with false addresses pushes flows out that are idle for "
         "longer. A change needs a restart."},
    {"retry", SCHEMA_CHOICE, FIELD(conf_quic, retry), .choices = retries, .def = "off",
     .meaning = "on: answer Initial packets that have no valid token with a Retry packet; transition: the same, but "
                "for a moment after it is switched on let pass what clients began before. Needs retry-keys, which "
                "servers must have, too (draft-ietf-quic-retry-offload)."},
    {"retry-lifetime", SCHEMA_TIME_MS, FIELD(conf_quic, retry_lifetime_ms), .min = 1000, .max = 600000, .def = "10s",
     .meaning = "How long a token is valid."},
    {"retry-keys", SCHEMA_TEXT, FIELD(conf_quic, retry_keys), .max = 4096, .accept = accept_path, .form = "FILE",
     .def_note = "none",
     .meaning = "File with 1 to 4 lines \"SEQUENCE KEY IV\": 0 to 127, 16 octets and 12 octets in hexadecimal digits. "
                "The first makes new tokens. Only its owner may read the file."},
    {"retry-config", SCHEMA_COUNT, FIELD(conf_quic, retry_config), .min = 0, .max = 6, .def = "0",
     .meaning = "ID of the QUIC-LB configuration that connection IDs in Retry packets follow."},
    {"hash-key", SCHEMA_TEXT, FIELD(conf_quic, hash_key), .max = 4096, .accept = accept_hash_key, .form = "HEX|FILE",
     .def_note = "made at random at each start",
     .meaning = "16 octets in hexadecimal digits, or a file with them, that choose servers for 4-tuples: the same on "
                "all forwarders that have to choose alike."},
    {"probe-interval", SCHEMA_TIME_MS, FIELD(conf_quic, probe_interval_ms), .min = 100, .max = 3600000, .def = "0",
     .zero = "no probes",
     .meaning = "How often servers are sent a packet of a version that none has, to their own address and the port of "
                "the first vip, which they answer with Version Negotiation. Servers that do not get no new "
                "connections."},
    {"probe-timeout", SCHEMA_TIME_MS, FIELD(conf_quic, probe_timeout_ms), .min = 10, .max = 60000, .def = "1s",
     .meaning = "How long the answer is waited for."},
    {"probe-failures", SCHEMA_COUNT, FIELD(conf_quic, probe_failures), .min = 1, .max = 100, .def = "3",
     .meaning = "Probes in a row without an answer that make a server unhealthy; one answer makes it healthy."},
};

const struct schema_key schema_quic_config_keys[5] = {
    {"service", SCHEMA_TEXT, FIELD(conf_quic_config, service_name), .max = 64, .required = true,
     .accept = accept_reference, .form = "SERVICE", .meaning = "The service that it belongs to."},
    {"id", SCHEMA_COUNT, FIELD(conf_quic_config, id), .min = 0, .max = 6, .required = true, .form = "0",
     .meaning = "Config ID: the first three bits of connection IDs that are made with it."},
    {"server-id-length", SCHEMA_COUNT, FIELD(conf_quic_config, server_id_len), .min = 1, .max = 15, .required = true,
     .form = "8", .meaning = "Octets of server IDs."},
    {"nonce-length", SCHEMA_COUNT, FIELD(conf_quic_config, nonce_len), .min = 4, .max = 18, .required = true,
     .form = "8",
     .meaning = "Octets of nonces; with the server ID at most 19. 16 together are encrypted in a single pass."},
    {"key-file", SCHEMA_TEXT, FIELD(conf_quic_config, key_file), .max = 4096, .accept = accept_path, .form = "FILE",
     .def_note = "none: connection IDs are not encrypted",
     .meaning = "File with the key: 16 octets in hexadecimal digits. Only its owner may read the file."},
};

const struct schema_key schema_quic_scheme_keys[5] = {
    {"service", SCHEMA_TEXT, FIELD(conf_quic_scheme, service_name), .max = 64, .required = true,
     .accept = accept_reference, .form = "SERVICE", .meaning = "The service that it belongs to."},
    {"mask", SCHEMA_COUNT, FIELD(conf_quic_scheme, mask), .min = 0, .max = 255, .def = "0",
     .meaning = "Bits of the first octet that tell connection IDs of this layout, as \"0xe0\": (first octet & mask) == "
                "value."},
    {"value", SCHEMA_COUNT, FIELD(conf_quic_scheme, value), .min = 0, .max = 255, .def = "0",
     .meaning = "What these bits are; bits outside of mask are 0."},
    {"offset-bits", SCHEMA_COUNT, FIELD(conf_quic_scheme, offset_bits), .min = 0, .max = 159, .def = "8",
     .meaning = "Where the server ID begins, from the first bit of the connection ID."},
    {"bits", SCHEMA_COUNT, FIELD(conf_quic_scheme, bits), .min = 1, .max = 64, .required = true, .form = "64",
     .meaning = "Bits of the server ID. In \"id\" of servers it is whole octets, with zeros before it."},
};

const struct schema_key schema_quic_server_keys[8] = {
    {"service", SCHEMA_TEXT, FIELD(conf_quic_server, service_name), .max = 64, .required = true,
     .accept = accept_reference, .form = "SERVICE", .meaning = "The service that it belongs to."},
    {"id", SCHEMA_TEXTS, ELEMENTS(conf_quic_server, id, n_ids), .max = 30, .accept = accept_server_id, .form = "HEX",
     .def_note = "none; found by the 4-tuple only",
     .meaning = "Its server IDs in hexadecimal digits: one for each length that configurations and layouts have."},
    {"address", SCHEMA_TEXT, FIELD(conf_quic_server, address), .max = 45, .required = true,
     .accept = accept_server_address, .form = "ADDRESS", .meaning = "Its own address, IPv4 or IPv6."},
    {"weight", SCHEMA_COUNT, FIELD(conf_quic_server, weight), .min = 1, .max = 1000, .def = "1",
     .meaning = "Share of new connections, relative to those of the other servers."},
    {"state", SCHEMA_CHOICE, FIELD(conf_quic_server, state), .choices = states, .def = "up",
     .meaning = "drain: keeps the connections that its connection IDs name, and gets no new ones; down: gets nothing."},
    {"port", SCHEMA_TEXT, FIELD(conf_quic_server, port_name), .max = 64, .accept = accept_reference, .form = "PORT",
     .def_note = "found by the routes of the kernel", .meaning = "The port that it is reached by."},
    {"vlan", SCHEMA_COUNT, FIELD(conf_quic_server, vlan), .min = 1, .max = 4094, .def = "0", .zero = "untagged",
     .meaning = "VLAN on that port. Without port it is found by the routes of the kernel, too; to find the MAC address "
                "the kernel needs a VLAN interface upon the port."},
    {"mac", SCHEMA_TEXT, FIELD(conf_quic_server, mac_text), .max = 17, .accept = accept_server_mac, .form = "MAC",
     .def_note = "found by ARP or neighbour discovery of the kernel",
     .meaning = "MAC address of the server, or of the router towards it. Ports without netdev need it."},
};
