-- One call: what it brings, what it is answered.

-- What stands in `meta`; a sentinel says that the partition is there.
local NUMBERS = { "epoch", "sequence", "at", "now", "forgotten_at" }
local META = { "epoch", "sequence", "at", "now", "forgotten_at", "unfinished", "primary" }

local VERSION = 1

local function load_meta()
  local texts = redis.call("HMGET", S.key("meta"), unpack(META))
  S.note_type("meta")
  local meta = {}
  S.meta_before = {}
  for at, name in ipairs(META) do
    S.meta_before[name] = texts[at] or nil
    -- What was unfinished and is no more stands there as an empty text.
    if texts[at] ~= "" then meta[name] = texts[at] or nil end
  end
  for _, name in ipairs(NUMBERS) do
    meta[name] = tonumber(meta[name] or "0")
  end
  if meta.epoch == 0 then meta.epoch = 1 end
  if meta.unfinished == "" then meta.unfinished = nil end
  if meta.unfinished then
    local at, operation, sequence_first, progress = unpack(S.decode(meta.unfinished))
    local mark = operation and { key = operation[1], id = operation[2], fingerprint = operation[3] }
    meta.unfinished = { at = at, operation = mark or nil, sequence_first = sequence_first, progress = progress }
  end
  S.meta = meta
end

-- Another run of a server may lack what the one before it had answered: it was restarted, or a replica was
-- promoted. Sequences that are given once more are told apart by the epoch.
local function note_primary(primary)
  if S.is_reading or not primary or primary == S.meta.primary then return end
  if S.meta.primary then S.meta.epoch = S.meta.epoch + 1 end
  S.meta.primary = primary
end

local function unfinished_text()
  local unfinished = S.meta.unfinished
  if not unfinished then return nil end
  local mark = unfinished.operation
  local operation = mark and { mark.key, mark.id, mark.fingerprint } or false
  return S.encode({ unfinished.at, operation, unfinished.sequence_first, unfinished.progress })
end

local function meta_text(name)
  if name == "unfinished" then return unfinished_text() or "" end
  if name == "primary" then return S.meta.primary or "" end
  return S.number(S.meta[name] or 0)
end

function S.plan_meta(plan, add_step)
  if S.is_reading then return end
  local write, back, absent = { "HSET", S.key("meta") }, { "HSET", S.key("meta") }, { "HDEL", S.key("meta") }
  local changed = false
  for _, name in ipairs(META) do
    local text = meta_text(name)
    local before = S.meta_before[name]
    if text ~= (before or "") then
      changed = true
      write[#write + 1], write[#write + 2] = name, text
      if before then
        back[#back + 1], back[#back + 2] = name, before
      else
        absent[#absent + 1] = name
      end
    end
  end
  if not changed then return end
  local put, take_out = #back > 2 and back or nil, #absent > 2 and absent or nil
  add_step(plan, "meta", write, function() return { put or take_out, put and take_out } end)
end

local function settings_of(values)
  local settings = {}
  for at, name in ipairs(S.setting_names) do settings[name] = values[at] end
  return settings
end

local function server_clock()
  local time = redis.call("TIME")
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Whether a message is JSON, which is easier to type when one steps through the library.
local function is_typed(message)
  return S.is_test and string.sub(message, 1, 1) == "["
end

local function serve(keys, message)
  local values = is_typed(message) and S.decode(message) or cmsgpack.unpack(message)
  local version, settings, primary, clock, requests = unpack(values)
  if version ~= VERSION then error("VERSION " .. S.number(version), 0) end
  S.clear(keys)
  S.clear_operations()
  S.clear_log()
  S.settings = settings_of(settings)
  S.clock = S.is_test and clock or server_clock()
  load_meta()
  note_primary(primary)
  local receipts, owed = S.serve(requests)
  S.flush()
  return { S.meta.epoch, S.meta.sequence, owed, receipts }
end

-- Serves a message; what goes wrong is an error reply that begins with SCARCE, and nothing was changed then,
-- unless it says DAMAGED.
function S.main(keys, arguments)
  S.is_reading = arguments[2] == "read"
  local done, reply = pcall(serve, keys, arguments[1])
  if done then return reply end
  return redis.error_reply("SCARCE " .. S.reason(reply))
end
