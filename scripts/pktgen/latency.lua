-- SPDX-License-Identifier: Apache-2.0
-- How long QUIC datagrams take from port_a through the forwarder to port_b, while the datagrams of a pcap are sent at
-- `rate`. Pktgen times packets of its own, one every `interval`: UDP to port 1028, with a timestamp behind the first six
-- octets of payload. These octets are a short header and the first part of a plaintext connection ID, so the forwarder
-- sends them by connection ID as it does the others. Pktgen keeps least, mean and most, and reads the clock where it puts
-- packets into the transmit queue and takes them from the receive queue, so its own delay is part of it.
-- It cannot time Interest to Data, nor an Interest: the forwarder puts its header before what it sends, which moves the
-- timestamp to where Pktgen does not look for it. test/load/pitlane-load measures that, and percentiles.
-- Settings: rate (10%), duration (5 s), vip (203.0.113.10; the service needs its UDP port 1028 too), client (198.51.100.2),
-- mac_a (of the forwarder's port: 02:00:00:00:00:01), cid (07010101: the first octets of connection IDs of the
-- configuration 0, plaintext, with server IDs of 3 octets and a nonce of 4; none may be zero), interval (1000 us); and
-- README.md.
-- Start Pktgen with -s 0:FILE of "mkpcap quic -f pcap-us".
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
local P = dofile(here .. "/common.lua")

-- What Pktgen fills packets with: 15 octets and a zero, again and again from the first octet of the frame, of which UDP
-- payload has the last six before the timestamp.
local function pattern(cid)
    if not cid:match("^%x%x%x%x%x%x%x%x$") then error("cid has to be four octets in hexadecimal digits", 0) end
    local octets = cid:gsub("%x%x", function(digits)
        if digits == "00" then error("no octet of cid may be zero: Pktgen takes it for the end of its pattern", 0) end
        return string.char(tonumber(digits, 16))
    end)
    return ("x"):rep(10) .. string.char(0x41) .. octets
end

return P.run("latency", function()
    local traffic = P.traffic("quic")
    local a, b = P.ports()
    P.prepare(traffic)
    local pps = P.pps(P.setting("rate", "10%"), a)
    local seconds = P.number("duration", 5, 0.1, 86400)
    local text = tostring(a)
    pktgen.set_mac(text, "dst", P.setting("mac_a", "02:00:00:00:00:01"))
    pktgen.set_ipaddr(text, "dst", P.setting("vip", "203.0.113.10"))
    pktgen.set_ipaddr(text, "src", P.setting("client", "198.51.100.2") .. "/24")
    pktgen.userPattern(text, pattern(P.setting("cid", "07010101")))
    pktgen.latency(text, "rate", math.floor(P.number("interval", 1000, 10, 1000000)))
    pktgen.clr()
    pktgen.latency(text, "on")
    pktgen.latency(tostring(b), "on")
    local trial = P.trial(traffic, pps, seconds, 0)
    local latency = pktgen.pktStats(tostring(b))[b].latency
    pktgen.latency(text, "off")
    pktgen.latency(tostring(b), "off")
    return {
        traffic = "quic", line_rate_pps = P.line_rate(a), trials = P.list({ trial }),
        latency_us = { packets = latency.num_pkts, least = latency.min_us, mean = latency.avg_us, most = latency.max_us,
            skipped = latency.num_skipped },
    }
end)
