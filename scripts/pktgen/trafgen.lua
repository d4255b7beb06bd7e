-- SPDX-License-Identifier: Apache-2.0
-- Runs a script for Pktgen-DPDK without it: the calls that common.lua makes, done by trafgen (netsniff-ng) on two
-- interfaces of the kernel and by their counters. For plain Lua:
--     lua5.4 trafgen.lua SCRIPT.lua
-- Settings: netdev_a, netdev_b; make_a, make_b (commands that make packets: mkpcap with all options but -f, -n, --first
-- and -o); packets (4096: different ones that trafgen is given, as text; of each start they are others); line_pps (500000:
-- what 100 % is, about the most that trafgen sends); folder (for files while it runs).
-- Up to some ten thousand packets a second trafgen sleeps between packets, and they are spread evenly. Of faster rates it
-- sends those of a second in one burst and sleeps for the rest of it: rings of devices overflow then, long before the
-- forwarder is busy. At 100 % it sends as fast as it can. Rates are about what was asked for, and what was sent is measured.
local here = arg[0]:match("^(.*)/[^/]*$") or "."
local P = dofile(here .. "/common.lua")

local port = {}
for i, name in ipairs({ "a", "b" }) do
    port[i - 1] = { netdev = P.setting("netdev_" .. name), make = P.setting("make_" .. name), rate = 100, count = 0,
        first = 0 }
    if port[i - 1].netdev == nil then error("setting netdev_" .. name .. " names the interface of a port", 0) end
end
local line_pps = P.number("line_pps", 500000, 1, 1e9)
local most_packets = P.number("packets", 4096, 1, 1e6)
local folder = P.setting("folder", "/tmp")
P.used = {}

local function quote(text) return "'" .. tostring(text):gsub("'", "'\\''") .. "'" end

local function counter(netdev, name)
    local file = io.open("/sys/class/net/" .. netdev .. "/statistics/" .. name)
    if file == nil then error("no interface " .. netdev, 0) end
    local value = file:read("n")
    file:close()
    return value
end

-- Each call takes a port, or several as "0,1", as text.
local function each(text, what)
    local result = {}
    for number in tostring(text):gmatch("%d+") do
        number = math.tointeger(tonumber(number))
        if port[number] == nil then error("invalid portlist", 0) end
        result[number] = what(port[number], number)
    end
    return result
end

local function running(p)
    if p.done == nil then return false end
    local file = io.open(p.done)
    if file == nil then return true end
    file:close()
    return false
end

-- The next packets of a port: no name and nonce comes again, as long as numbers of packets last.
local function make_packets(p, number, path)
    if p.make == nil then error("setting make_" .. (number == 0 and "a" or "b") .. " is a command", 0) end
    local count = math.min(p.count, most_packets)
    if p.first + count > 2 ^ 32 then p.first = 0 end
    local command = string.format("%s -f trafgen -n %.0f --first %.0f -o %s", p.make, count, p.first, quote(path))
    if not os.execute(command) then error("this fails: " .. command, 0) end
    p.first = p.first + p.count
end

-- Microseconds that a packet takes beside the gap that is asked for: mostly those of waking up.
local overhead
local function packet_overhead(packets)
    if overhead == nil then
        local pipe = io.popen("trafgen -P 1 -n 500 -t 1us -i " .. quote(packets) .. " -o lo 2>&1")
        local seconds, us = pipe:read("a"):match("(%d+) sec, (%d+) usec on CPU")
        pipe:close()
        if seconds == nil then error("trafgen does not run", 0) end
        overhead = (seconds * 1e6 + us) / 500 - 1
    end
    return overhead
end

pktgen = { info = { Pktgen_Version = "trafgen" } }
function pktgen.screen() end
function pktgen.pcap() end
function pktgen.clr() end
function pktgen.quit() end
function pktgen.delay(ms) os.execute(string.format("sleep %.3f", ms / 1000)) end

function pktgen.set(text, what, value)
    each(text, function(p) p[what] = tonumber(value) end)
end

function pktgen.start(text)
    each(text, function(p, number)
        local path = string.format("%s/trafgen-%d", folder, number)
        os.remove(path .. ".done")
        make_packets(p, number, path .. ".cfg")
        local pps = math.max(1, line_pps * p.rate / 100)
        local gap_us = 1e6 / pps - packet_overhead(path .. ".cfg")
        local pace = p.rate >= 100 and "" or gap_us >= 1 and string.format("-t %.0fus", gap_us) or
            string.format("-b %.0fpps", pps)
        local command = string.format("trafgen -P 1 -n %.0f %s -i %s -o %s >%s.log 2>&1", p.count, pace, quote(path .. ".cfg"),
            quote(p.netdev), path)
        local before = counter(p.netdev, "tx_packets")
        -- Its process id, and a file once it has ended.
        local pipe = io.popen(string.format("exec 3>&1; (%s & echo $! >&3; exec 3>&-; wait $!; echo $? >%s.done) " ..
            "</dev/null >/dev/null 2>&1 &", command, path))
        p.pid, p.done = pipe:read("n"), path .. ".done"
        pipe:close()
        -- It reads its packets first.
        for _ = 1, 6000 do
            if not running(p) or counter(p.netdev, "tx_packets") ~= before then break end
            pktgen.delay(10)
        end
    end)
end

function pktgen.stop(text)
    each(text, function(p)
        if running(p) then os.execute("kill " .. math.tointeger(p.pid) .. " 2>/dev/null") end
        for _ = 1, 100 do
            if not running(p) then break end
            pktgen.delay(10)
        end
    end)
end

function pktgen.isSending(text)
    return each(text, function(p) return running(p) and "y" or "n" end)
end

function pktgen.linkState(text)
    return each(text, function(p)
        local file = io.open("/sys/class/net/" .. p.netdev .. "/carrier")
        local carrier = file ~= nil and file:read("n")
        if file ~= nil then file:close() end
        return carrier == 1 and "<UP>" or "<DOWN>"
    end)
end

function pktgen.portInfo(text)
    return each(text, function() return { tx_pps = line_pps } end)
end

function pktgen.portStats(text)
    return each(text, function(p)
        return {
            ipackets = counter(p.netdev, "rx_packets"), opackets = counter(p.netdev, "tx_packets"),
            ibytes = counter(p.netdev, "rx_bytes"), obytes = counter(p.netdev, "tx_bytes"),
            ierrors = counter(p.netdev, "rx_errors"), oerrors = counter(p.netdev, "tx_errors"),
            -- What nobody here listens for is counted as dropped: that is no loss.
            imissed = counter(p.netdev, "rx_missed_errors"), rx_nombuf = 0,
        }
    end)
end

local result = dofile(arg[1] or error("usage: lua5.4 trafgen.lua SCRIPT.lua", 0))
os.exit(result.error == nil and 0 or 1)
