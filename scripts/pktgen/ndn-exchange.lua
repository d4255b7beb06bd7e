-- SPDX-License-Identifier: Apache-2.0
-- Interests from port_a, and from port_b the Data that answer them, in the same order and delay ms later; how many
-- Data come back at port_a.
-- Start Pktgen with -s 0:FILE of "mkpcap interest -f pcap-us", and -s 1:FILE of "mkpcap data -f pcap-us".
-- Settings: rate (10%), duration (5 s), trials (1), delay (10 ms); and README.md.
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
local P = dofile(here .. "/common.lua")

return P.run("ndn-exchange", function() return P.trials("exchange") end)
