-- SPDX-License-Identifier: Apache-2.0
-- Interests with different names, from port_a; how many are forwarded out of port_b. Nobody answers: their
-- InterestLifetime in the pcap has to be short, or the PIT fills.
-- Start Pktgen with -s 0:FILE of "mkpcap interest -f pcap-us".
-- Settings: rate (10%), duration (5 s), trials (1); and README.md.
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
local P = dofile(here .. "/common.lua")

return P.run("ndn-interests", function() return P.trials("interests") end)
