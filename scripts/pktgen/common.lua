-- SPDX-License-Identifier: Apache-2.0
-- What the scripts for Pktgen-DPDK share: settings, counters, trials, results.
--
-- A trial sends a fixed number of packets and counts what comes back, so that loss is exact; packets are those of the
-- pcap files that Pktgen was started with, in their order. Tried with Pktgen 23.06.1 (the release for DPDK 22.11); calls
-- that later releases changed are made both ways.

local P = {}

-- Settings -----------------------------------------------------------------------------------------------------------
-- From the global table pitlane_settings, which a script of the user's own may fill before it runs one of ours, else
-- from the environment: "rate" is PITLANE_RATE.

P.used = {}

function P.setting(name, default)
    local value
    if type(pitlane_settings) == "table" then value = pitlane_settings[name] end
    if value == nil then value = os.getenv("PITLANE_" .. name:upper()) end
    if value == nil or value == "" then value = default end
    P.used[name] = value
    return value
end

function P.number(name, default, least, most)
    local text = P.setting(name, default)
    local value = tonumber(text)
    if value == nil or value < least or value > most then
        error(string.format("setting %s is %s, and has to be a number from %s to %s", name, tostring(text), least, most), 0)
    end
    P.used[name] = value
    return value
end

-- JSON ---------------------------------------------------------------------------------------------------------------

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }

local function json_string(text)
    return '"' .. text:gsub('[%c"\\]', function(c) return escapes[c] or string.format("\\u%04x", c:byte()) end) .. '"'
end

local function json_number(n)
    if n ~= n or n == math.huge or n == -math.huge then return "null" end
    if n == math.floor(n) and math.abs(n) < 2 ^ 53 then return string.format("%.0f", n) end
    return string.format("%.9g", n)
end

-- A table with [1], or marked by P.list(), is an array; keys of objects are sorted, so that results can be compared.
local list_mark = {}
function P.list(t) return setmetatable(t or {}, list_mark) end

function P.json(value, indent)
    indent = indent or ""
    local kind = type(value)
    if kind == "number" then return json_number(value) end
    if kind == "string" then return json_string(value) end
    if kind ~= "table" then return kind == "boolean" and tostring(value) or "null" end
    local inner, items = indent .. "  ", {}
    if value[1] ~= nil or getmetatable(value) == list_mark then
        for _, item in ipairs(value) do items[#items + 1] = inner .. P.json(item, inner) end
        if #items == 0 then return "[]" end
        return "[\n" .. table.concat(items, ",\n") .. "\n" .. indent .. "]"
    end
    local keys = {}
    for key in pairs(value) do keys[#keys + 1] = tostring(key) end
    table.sort(keys)
    for _, key in ipairs(keys) do
        local item = value[key]
        if item == nil then item = value[tonumber(key)] end
        items[#items + 1] = inner .. json_string(key) .. ": " .. P.json(item, inner)
    end
    if #items == 0 then return "{}" end
    return "{\n" .. table.concat(items, ",\n") .. "\n" .. indent .. "}"
end

-- Pktgen -------------------------------------------------------------------------------------------------------------

-- Seconds, to a hundredth: Lua's own clocks tell whole seconds, or the CPU time of all threads of Pktgen.
function P.clock()
    local file = io.open("/proc/uptime")
    if file == nil then return os.time() end
    local seconds = file:read("n")
    file:close()
    return seconds
end

-- Counters of a port. Pktgen reads them from the device once a second: see P.settle().
function P.stats(port)
    local ok, all = pcall(pktgen.portStats, tostring(port), "port")
    if not ok then ok, all = pcall(pktgen.portStats, tostring(port)) end
    if not ok then error(all, 0) end
    local s = all[port] or all[tostring(port)]
    if s == nil then error("Pktgen knows no port " .. port, 0) end
    s = s.curr or s
    return {
        received = s.ipackets, sent = s.opackets, received_octets = s.ibytes, sent_octets = s.obytes,
        errors = (s.ierrors or 0) + (s.oerrors or 0), missed = (s.imissed or 0) + (s.rx_nombuf or 0),
    }
end

function P.is_sending(port) return pktgen.isSending(tostring(port))[port] == "y" end

-- Wait until no counter of these ports has changed for longer than the second in which Pktgen reads them. Returns the
-- counters by port, and whether they came to rest.
function P.settle(ports)
    local last
    for _ = 1, 12 do
        local now, same = {}, last ~= nil
        for _, port in ipairs(ports) do
            now[port] = P.stats(port)
            if last ~= nil and (now[port].received ~= last[port].received or now[port].sent ~= last[port].sent) then
                same = false
            end
        end
        if same then return now, true end
        last = now
        pktgen.delay(1200)
    end
    return last, false
end

local function find(t, key)
    if t[key] ~= nil then return t[key] end
    for _, value in pairs(t) do
        if type(value) == "table" then
            local found = find(value, key)
            if found ~= nil then return found end
        end
    end
end

-- Packets a second that a port sends at a rate of 100 %: Pktgen works them out from link speed and packet size.
local line_rates = {}
function P.line_rate(port)
    if line_rates[port] ~= nil then return line_rates[port] end
    pktgen.set(tostring(port), "rate", 100)
    local ok, info = pcall(pktgen.portInfo, tostring(port))
    local pps = ok and find(info, "tx_pps")
    if not pps or pps == 0 then
        local speed = tonumber(tostring(pktgen.linkState(tostring(port))[port]):match("(%d+)"))
        local size = P.number("frame_size", 0, 0, 9600)
        if speed == nil then error("port " .. port .. " has no link", 0) end
        if size == 0 then error("this Pktgen tells no packet rate: set frame_size to the octets of a packet", 0) end
        pps = speed * 1e6 / ((size + 24) * 8) -- preamble, FCS and gap between frames
    end
    line_rates[port] = pps
    return pps
end

function P.wait_for_link(ports)
    local deadline = P.clock() + P.number("link_timeout", 30, 0, 3600)
    for _, port in ipairs(ports) do
        while not tostring(pktgen.linkState(tostring(port))[port]):lower():find("up") do
            if P.clock() > deadline then error("port " .. port .. " has no link", 0) end
            pktgen.delay(100)
        end
    end
end

-- "250000": packets a second; "10%": of what the link takes.
function P.pps(text, port)
    local percent = tostring(text):match("^%s*([%d.]+)%%%s*$")
    local pps = tonumber(percent or text)
    if pps == nil or pps <= 0 then error("a rate is packets a second, or a percentage: " .. tostring(text), 0) end
    if percent ~= nil then pps = pps / 100 * P.line_rate(port) end
    return math.min(pps, P.line_rate(port))
end

local function set_rate(port, pps)
    -- As text: Pktgen reads it with strtod(), and Lua's own conversion may choose an exponent.
    pktgen.set(tostring(port), "rate", string.format("%.6f", math.min(100, 100 * pps / P.line_rate(port))))
end

-- Traffic ------------------------------------------------------------------------------------------------------------

-- The ports: consumer or QUIC client, and producer or servers.
function P.ports()
    return math.floor(P.number("port_a", 0, 0, 63)), math.floor(P.number("port_b", 1, 0, 63))
end

function P.traffic(kind)
    local a, b = P.ports()
    if kind == "interests" or kind == "quic" then
        return { kind = kind, from = { a }, ports = { a, b }, count = function(tx, rx)
            return { sent = tx[a], received = rx[b], returned = rx[a] }
        end }
    elseif kind == "exchange" then
        return { kind = kind, from = { a, b }, ports = { a, b }, count = function(tx, rx)
            return { sent = tx[a], received = rx[a], interests_forwarded = rx[b], data_sent = tx[b] }
        end }
    end
    error("traffic is interests, exchange or quic, not " .. tostring(kind), 0)
end

-- Get ready to send what the pcap files of a kind of traffic have.
function P.prepare(traffic)
    P.wait_for_link(traffic.ports)
    local burst = math.floor(P.number("burst", 32, 1, 128))
    for _, port in ipairs(traffic.from) do
        pktgen.pcap(tostring(port), "on")
        pktgen.set(tostring(port), "txburst", burst)
    end
    for _, port in ipairs(traffic.from) do P.line_rate(port) end
end

-- Send `count` packets from a port at `pps` and wait for the end of it.
local function send_more(port, count, pps)
    set_rate(port, pps)
    pktgen.set(tostring(port), "count", count)
    pktgen.start(tostring(port))
    local deadline = P.clock() + 5 + 3 * count / pps
    while P.is_sending(port) and P.clock() < deadline do pktgen.delay(10) end
    pktgen.stop(tostring(port))
end

-- One trial: packets for `seconds` at `pps` from the first port, and as many from the second one after `delay` ms.
function P.trial(traffic, pps, seconds, delay)
    local before = P.settle(traffic.ports)
    local count = math.max(1, math.min(math.floor(pps * seconds + 0.5), 4294967295))
    for _, port in ipairs(traffic.from) do
        set_rate(port, pps)
        pktgen.set(tostring(port), "count", count)
    end
    local start, ended = nil, {}
    for _, port in ipairs(traffic.from) do
        if start ~= nil then pktgen.delay(math.floor(delay)) end
        pktgen.start(tostring(port))
        start = start or P.clock()
    end
    -- Devices that take less than is offered make it longer.
    local deadline, complete = start + P.number("patience", 5, 0, 86400) + 4 * seconds, true
    while true do
        local sending = false
        for _, port in ipairs(traffic.from) do
            if P.is_sending(port) then
                sending = true
            elseif ended[port] == nil then
                ended[port] = P.clock()
            end
        end
        if not sending then break end
        if P.clock() > deadline then
            complete = false
            break
        end
        pktgen.delay(10)
    end
    for _, port in ipairs(traffic.from) do
        pktgen.stop(tostring(port))
        ended[port] = ended[port] or P.clock()
    end
    local after, quiet = P.settle(traffic.ports)
    local tx, rx, missed, errors = {}, {}, 0, 0
    for _, port in ipairs(traffic.ports) do
        tx[port] = after[port].sent - before[port].sent
        rx[port] = after[port].received - before[port].received
        missed = missed + after[port].missed - before[port].missed
        errors = errors + after[port].errors - before[port].errors
    end
    local result = traffic.count(tx, rx)
    local took = math.max(ended[traffic.from[1]] - start, 0.01)
    result.offered_pps = pps
    result.seconds = took
    result.sent_pps = result.sent / took
    result.received_pps = result.received / took
    result.lost = result.sent - result.received
    result.loss = result.sent > 0 and math.max(0, result.lost) / result.sent or 1
    result.complete = complete and quiet
    result.generator_missed = missed
    result.generator_errors = errors
    -- Both pcaps stay in step, so that Data of the next trial answers its Interests.
    if #traffic.from == 2 and not complete then
        local a, b = traffic.from[1], traffic.from[2]
        local behind = tx[a] < tx[b] and a or b
        local missing = math.abs(tx[a] - tx[b])
        if missing > 0 then send_more(behind, missing, pps) end
    end
    return result
end

-- Search for the highest rate that passes (RFC 2544, section 26.1): `try(rate)` says whether it does. The highest rate is
-- tried first, then the interval is halved down to `resolution`; what is found has to pass `confirm` times more, else the
-- search goes on below it. Returns the rate, or nil when not even `low` passes.
function P.search(low, high, resolution, confirm, try)
    local function confirmed(rate)
        for _ = 1, confirm do
            if not try(rate) then return false end
        end
        return true
    end
    if try(high) and confirmed(high) then return high end
    local bad = high
    while bad > low do
        local good
        while bad - (good or low) > resolution do
            local middle = ((good or low) + bad) / 2
            if try(middle) then good = middle else bad = middle end
        end
        if good == nil then
            if not try(low) then return nil end
            good = low
        end
        if confirmed(good) then return good end
        bad = good
    end
    return nil
end

-- Results ------------------------------------------------------------------------------------------------------------

local function write(result)
    local path = P.setting("output", "pktgen-result.json")
    local file, why = io.open(path, "w")
    if file == nil then
        print("cannot write the result: " .. tostring(why))
        return
    end
    file:write(P.json(result), "\n")
    file:close()
end

-- Run a script: what `body` returns becomes the result, a failure becomes {"error": ...}, and Pktgen ends.
function P.run(name, body)
    local result = { script = name }
    local ok, why = xpcall(function()
        pktgen.screen("off")
        for key, value in pairs(body()) do result[key] = value end
    end, function(message)
        -- Faults of settings and of the set-up have no place in a script; others tell where.
        message = tostring(message)
        return message:find("%.lua:%d+:") and debug.traceback(message, 2) or message
    end)
    if not ok then result.error = why end
    result.pktgen = type(pktgen.info) == "table" and pktgen.info.Pktgen_Version or nil
    P.used.output = nil
    result.settings = P.used
    write(result)
    if P.setting("quit", "yes") == "yes" then pktgen.quit() end
    return result
end

-- Trials of one kind of traffic at a constant rate: what the scripts without a search come to.
function P.trials(kind)
    local traffic = P.traffic(kind)
    P.prepare(traffic)
    local pps = P.pps(P.setting("rate", "10%"), traffic.from[1])
    local seconds, delay = P.number("duration", 5, 0.1, 86400), P.number("delay", 10, 0, 10000)
    local trials = P.list()
    for _ = 1, P.number("trials", 1, 1, 1000) do trials[#trials + 1] = P.trial(traffic, pps, seconds, delay) end
    return { traffic = traffic.kind, line_rate_pps = P.line_rate(traffic.from[1]), trials = trials }
end

return P
