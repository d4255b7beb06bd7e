-- SPDX-License-Identifier: Apache-2.0
-- Interests with different names, from port_a; how many are forwarded out of port_b. Nobody answers: their
-- InterestLifetime in the pcap has to be short, or the PIT fills.
-- Start Pktgen with -s 0:FILE of "mkpcap interest -f pcap-us".
-- Settings: rate (10%), duration (5 s), trials (1); and README.md.
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
local P = dofile(here .. "/common.lua")

return P.run("ndn-interests", function()
    local traffic = P.traffic("interests")
    P.prepare(traffic)
    local pps = P.pps(P.setting("rate", "10%"), traffic.from[1])
    local seconds, delay = P.number("duration", 5, 0.1, 86400), P.number("delay", 10, 0, 10000)
    local trials = P.list()
    for _ = 1, P.number("trials", 1, 1, 1000) do trials[#trials + 1] = P.trial(traffic, pps, seconds, delay) end
    return { traffic = traffic.kind, line_rate_pps = P.line_rate(traffic.from[1]), trials = trials }
end)
