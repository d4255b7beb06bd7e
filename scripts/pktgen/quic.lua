-- SPDX-License-Identifier: Apache-2.0
-- QUIC datagrams from port_a: short headers, Initials and Handshakes whose connection IDs name a server; how many are
-- forwarded out of port_b.
-- Start Pktgen with -s 0:FILE of "mkpcap quic -f pcap-us".
-- Settings: rate (10%), duration (5 s), trials (1); and README.md.
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
local P = dofile(here .. "/common.lua")

return P.run("quic", function() return P.trials("quic") end)
