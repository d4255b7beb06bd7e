-- SPDX-License-Identifier: Apache-2.0
-- A model of Pktgen-DPDK and of a forwarder behind it, on a clock of its own, for the test of the Lua scripts: the calls
-- that the scripts make, with the habits of the program that they have to cope with (counters that are read once a
-- second, arguments that changed between releases).
local M = {}

-- options: line_pps; capacity (packets a second that the forwarder takes, the others are lost); accept (packets a second
-- that the device takes, the generator waits for it); arity (2, or 1 with counters in "curr"); no_info (portInfo fails);
-- stall (function(port, started): true keeps a port from sending); link_after (seconds).
function M.install(options)
    local m = { now = 1000, quits = 0, calls = {}, pending = 0, unsolicited = 0, options = options, count_of_starts = 0 }
    local port = {}
    for i = 0, 1 do
        port[i] = { rate = 100, count = 0, left = 0, sending = false, sent = 0, received = 0, rest = 0, latency = false,
            shown = { sent = 0, received = 0 } }
    end
    m.port = port
    local line = options.line_pps or 1000000

    local function whole(p, amount)
        p.rest = p.rest + amount
        local n = math.floor(p.rest)
        p.rest = p.rest - n
        return n
    end

    local function step(dt)
        for i = 0, 1 do
            local p = port[i]
            if p.sending and not (options.stall and options.stall(i, m.count_of_starts)) then
                local pps = math.min(line * p.rate / 100, options.accept or math.huge)
                local n = math.min(p.left, whole(p, pps * dt))
                p.left, p.sent = p.left - n, p.sent + n
                if p.left == 0 then p.sending = false end
                local taken = n
                if options.capacity and pps > options.capacity then taken = math.floor(n * options.capacity / pps) end
                if i == 0 then
                    port[1].received = port[1].received + taken
                    m.pending = m.pending + taken
                else
                    local matched = math.min(taken, m.pending)
                    m.unsolicited = m.unsolicited + taken - matched
                    m.pending = m.pending - matched
                    port[0].received = port[0].received + matched
                end
            end
        end
        local before = math.floor(m.now)
        m.now = m.now + dt
        if math.floor(m.now) ~= before then
            for i = 0, 1 do port[i].shown = { sent = port[i].sent, received = port[i].received } end
        end
    end

    local function each(text, what)
        assert(type(text) == "string", "portlists are text")
        local result = {}
        for number in text:gmatch("%d+") do
            number = math.tointeger(tonumber(number))
            if port[number] == nil then error("invalid portlist") end
            result[number] = what(port[number], number)
        end
        return result
    end

    local open = io.open
    io.open = function(path, ...)
        if path ~= "/proc/uptime" then return open(path, ...) end
        return { read = function() return math.floor(m.now * 100) / 100 end, close = function() end }
    end

    local function counters(p)
        return { ipackets = p.shown.received, opackets = p.shown.sent, ibytes = 0, obytes = 0, ierrors = 0, oerrors = 0,
            imissed = 0, rx_nombuf = 0 }
    end

    local set = { rate = true, count = true, txburst = true }
    pktgen = {
        info = { Pktgen_Version = "model" },
        screen = function(state) assert(state == "off") end,
        quit = function() m.quits = m.quits + 1 end,
        delay = function(ms)
            assert(math.type(ms) == "integer", "delay takes whole milliseconds")
            for _ = 1, math.max(1, ms // 10) do step(math.min(ms, 10) / 1000) end
        end,
        pcap = function(text, state) each(text, function(p) p.pcap = state == "on" end) end,
        clr = function() end,
        set = function(text, what, value)
            if not set[what] then error("set does not support " .. what) end
            each(text, function(p)
                p[what] = assert(tonumber(value))
                if what == "count" then assert(p.count == math.floor(p.count) and p.count < 2 ^ 32) end
            end)
        end,
        start = function(text)
            m.count_of_starts = m.count_of_starts + 1
            each(text, function(p, i)
                assert(p.pcap, "packets of the pcap are to be sent")
                p.left, p.sending, p.rest = p.count, true, 0
                m.calls[#m.calls + 1] = { what = "start", port = i, at = m.now, count = p.count, rate = p.rate }
            end)
        end,
        stop = function(text) each(text, function(p) p.sending = false end) end,
        isSending = function(text) return each(text, function(p) return p.sending and "y" or "n" end) end,
        linkState = function(text)
            return each(text, function()
                return m.now - 1000 >= (options.link_after or 0) and "<UP-10000-FD>" or "<--Down-->"
            end)
        end,
        portInfo = function(text)
            if options.no_info then error("no such call") end
            return each(text, function() return { info = { tx_debug = { tx_pps = line } } } end)
        end,
        portStats = function(...)
            if select("#", ...) ~= (options.arity or 2) then error("portStats, wrong number of arguments") end
            return each((...), function(p)
                if options.arity == 1 then return { curr = counters(p) } end
                return counters(p)
            end)
        end,
        latency = function(text, what, value)
            each(text, function(p) if value == nil then p.latency = what == "on" else p.interval = value end end)
        end,
        set_mac = function(text, what, mac) each(text, function(p) p[what .. "_mac"] = mac end) end,
        set_ipaddr = function(text, what, ip) each(text, function(p) p[what .. "_ip"] = ip end) end,
        userPattern = function(text, pattern) each(text, function(p) p.pattern = pattern end) end,
        pktStats = function(text)
            return each(text, function(p)
                assert(p.latency, "latency is on where packets are received")
                return { latency = { num_pkts = 50, num_skipped = 0, min_us = 2.5, avg_us = 4.25, max_us = 17.0 } }
            end)
        end,
    }
    m.uninstall = function() io.open = open end
    return m
end

return M
