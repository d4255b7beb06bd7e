-- SPDX-License-Identifier: Apache-2.0
-- One trial at each of a list of rates: what is received, and lost, against what is offered.
-- Settings: traffic (interests; exchange or quic), rates (10% to 100%, separated by commas), duration (5 s), delay (10 ms);
-- and README.md.
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
local P = dofile(here .. "/common.lua")

return P.run("sweep", function()
    local traffic = P.traffic(P.setting("traffic", "interests"))
    P.prepare(traffic)
    local seconds, delay = P.number("duration", 5, 0.1, 86400), P.number("delay", 10, 0, 10000)
    local rates = {}
    for text in P.setting("rates", "10%,20%,30%,40%,50%,60%,70%,80%,90%,100%"):gmatch("[^,]+") do
        rates[#rates + 1] = P.pps(text, traffic.from[1])
    end
    local trials, best = P.list(), 0
    for _, pps in ipairs(rates) do
        local trial = P.trial(traffic, pps, seconds, delay)
        trials[#trials + 1] = trial
        best = math.max(best, trial.received_pps)
    end
    return { traffic = traffic.kind, line_rate_pps = P.line_rate(traffic.from[1]), trials = trials, highest_pps = best }
end)
