-- SPDX-License-Identifier: Apache-2.0
-- The highest rate with a loss of at most `loss` (RFC 2544, section 26.1): binary search, every trial of `duration`. A
-- trial at which the device does not take what is offered fails as well: rings between processes push back where a link
-- would lose.
-- Settings: traffic (interests; exchange or quic), loss (0; 0.001 is one in a thousand), min_rate (1%), max_rate (100%),
-- resolution (1%), confirm (1 more trial that what is found has to pass), accuracy (0.03: sent may be that much below
-- offered), duration (5 s), delay (10 ms); and README.md.
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
local P = dofile(here .. "/common.lua")

return P.run("rfc2544", function()
    local traffic = P.traffic(P.setting("traffic", "interests"))
    P.prepare(traffic)
    local from = traffic.from[1]
    local seconds, delay = P.number("duration", 5, 0.1, 86400), P.number("delay", 10, 0, 10000)
    local loss, accuracy = P.number("loss", 0, 0, 1), P.number("accuracy", 0.03, 0, 1)
    local low, high = P.pps(P.setting("min_rate", "1%"), from), P.pps(P.setting("max_rate", "100%"), from)
    local resolution = P.pps(P.setting("resolution", "1%"), from)
    local trials, passed = P.list(), {}
    local found = P.search(low, high, resolution, P.number("confirm", 1, 0, 100), function(pps)
        local trial = P.trial(traffic, pps, seconds, delay)
        trial.pass = trial.complete and trial.loss <= loss and trial.sent_pps >= pps * (1 - accuracy)
        trials[#trials + 1] = trial
        if trial.pass then passed[pps] = trial end
        return trial.pass
    end)
    local best = found ~= nil and passed[found] or nil
    return {
        traffic = traffic.kind, line_rate_pps = P.line_rate(from), trials = trials,
        result = {
            found = found ~= nil, rate_pps = found or 0, percent = found and 100 * found / P.line_rate(from) or 0,
            received_pps = best and best.received_pps or 0, loss = best and best.loss or nil,
            resolution_pps = resolution,
        },
    }
end)
