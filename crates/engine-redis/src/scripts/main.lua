-- One call: what it brings, what it is answered.

local FIELD_COUNT, NUMBER_COUNT = #META_FIELDS, #META_NUMBERS
local number = encoding.number

-- The place of each field of `meta`.
local META_PLACES = {}
for at = 1, FIELD_COUNT do META_PLACES[META_FIELDS[at]] = at end

-- The texts that `meta` had before the call, and the values that they stood for.
local meta_before, values_before = {}, {}

-- The command that writes what the call changes of `meta`.
local meta_write

local function read_meta()
  return redis.call("HMGET", records.key("meta"), unpack(META_FIELDS))
end

-- What `meta` says, once nothing is left of a call that failed halfway.
local function mended_meta()
  local texts = read_meta()
  local damage = texts[FIELD_COUNT]
  if not damage or damage == "" then return texts end
  flush.mend(damage)
  return read_meta()
end

-- What the last call has left of a partition, by the key of its `meta`: the texts, the values that they stand for, and
-- `meta` as a call sees it. It is taken where the texts are still the same; there are not more of them than this.
local LEFT_MAX = 256
local left, left_count = {}, 0

-- Takes the texts of `meta` apart.
local function take_apart(texts)
  local meta, values = {}, {}
  for at = 1, FIELD_COUNT do
    local name, text = META_FIELDS[at], texts[at]
    if not text then
      wholeness.miss(name)
    elseif text ~= "" then
      -- What was unfinished and is no more stands there as an empty text.
      meta[name] = text
    end
  end
  for at = 1, NUMBER_COUNT do
    local name = META_NUMBERS[at]
    meta[name] = meta[name] and meta[name] + 0 or 0
    values[at] = meta[name]
  end
  if meta.epoch == 0 then meta.epoch = 1 end
  if meta.unfinished == "" then meta.unfinished = nil end
  if meta.unfinished then
    local at, operation, sequence_first, progress, begun = unpack(encoding.from_json(meta.unfinished))
    local mark = operation and { key = operation[1], id = operation[2], fingerprint = operation[3] }
    meta.unfinished = {
      at = at, operation = mark or nil, sequence_first = sequence_first, progress = progress, begun = begun,
    }
  end
  if meta.moved then
    local sequence, to = string.match(meta.moved, "^(%d+) (%d+)$")
    meta.moved = { sequence = tonumber(sequence), to = tonumber(to) }
  end
  for at = NUMBER_COUNT + 1, FIELD_COUNT do values[at] = meta[META_FIELDS[at]] end
  return meta, values
end

-- Whether the texts are those that a call has left, none of them missing.
local function is_left(texts, before)
  for at = 1, FIELD_COUNT do
    if texts[at] ~= before[at] or not texts[at] then return false end
  end
  return true
end

local function load_meta()
  local key, texts = records.key("meta"), mended_meta()
  records.note_type("meta")
  local kept = not call.is_reading and left[key]
  -- A call that ends early leaves nothing.
  if kept then left[key] = false end
  meta_before, meta_write = texts, nil
  if kept and is_left(texts, kept.texts) then
    call.meta, values_before = kept.meta, kept.values
    operations.resume(kept.ordinals)
  else
    call.meta, values_before = take_apart(texts)
  end
  local meta = call.meta
  sizes.load(meta.deployment and (meta.sizes or ""), meta.sequence)
end

-- Keeps for the next call what this one has left.
local function keep_meta()
  local meta, texts, key = call.meta, meta_before, records.key("meta")
  for place = 3, meta_write and #meta_write or 0, 2 do texts[META_PLACES[meta_write[place]]] = meta_write[place + 1] end
  meta.sizes = texts[META_PLACES.sizes]
  for at = 1, FIELD_COUNT do values_before[at] = meta[META_FIELDS[at]] end
  if left[key] == nil then left_count = left_count + 1 end
  if left_count > LEFT_MAX then left, left_count = {}, 1 end
  left[key] = { texts = texts, meta = meta, values = values_before, ordinals = operations.left() }
end

-- The epoch of a new leadership: the next count, and 32 bits that no other leadership has which goes on from the same
-- place, such as one that goes on from an old dump. They come from the run of the server and the time.
local function next_epoch(primary)
  local time = redis.call("TIME")
  local digits = redis.sha1hex(primary .. " " .. time[1] .. " " .. time[2] .. " " .. call.meta.sequence)
  local salt = tonumber(string.sub(digits, 1, 8), 16)
  local count = math.floor(call.meta.epoch / constants.EPOCH_COUNT_UNIT) + 1
  if count >= constants.EPOCH_COUNTS then return call.meta.epoch + 1 end
  return count * constants.EPOCH_COUNT_UNIT + salt
end

-- Another run of a server may lack what the one before it had answered: it was restarted, or a replica was
-- promoted. Sequences that are given once more are told apart by the epoch.
local function note_primary(primary)
  if call.is_reading or not primary or (primary == call.meta.primary and not call.is_behind) then return end
  call.epoch_begun = { before = call.meta.epoch, first = call.meta.sequence + 1 }
  call.meta.epoch = next_epoch(primary)
  call.meta.primary = primary
end

-- The first sequences in `histories`, and the epochs by their first sequence.
local function read_histories()
  records.note_type("histories")
  local words, firsts, epochs = redis.call("HGETALL", records.key("histories")), {}, {}
  for at = 1, #words, 2 do
    firsts[#firsts + 1] = tonumber(words[at])
    epochs[firsts[#firsts]] = words[at + 1]
  end
  table.sort(firsts)
  return firsts, epochs
end

-- Plans to note where the epoch begins that the call has begun. One that has no event is written over. Where the epoch
-- before was not noted, because a release that notes none began it, it is not known which epoch the last events are of.
function main.plan_histories(plan, add_step)
  local begun = call.epoch_begun
  if not begun then return end
  local firsts, epochs = read_histories()
  local key, last = records.key("histories"), firsts[#firsts]
  local write = { "HSET", key, number(begun.first), number(call.meta.epoch) }
  if last and last < begun.first and tonumber(epochs[last]) ~= begun.before then
    write[#write + 1], write[#write + 2] = number(last), "0"
  end
  add_step(plan, "histories", write, function()
    local back = { { "HDEL", key, number(begun.first) } }
    if last == begun.first then back = {} end
    if last then back[#back + 1] = { "HSET", key, number(last), epochs[last] } end
    return back
  end)
  if #firsts < constants.HISTORIES_MAX or last == begun.first then return end
  local oldest = number(firsts[1])
  add_step(plan, "histories", { "HDEL", key, oldest }, function()
    return { { "HSET", key, oldest, epochs[firsts[1]] } }
  end)
end

local function unfinished_text()
  local unfinished = call.meta.unfinished
  if not unfinished then return nil end
  local mark = unfinished.operation
  local operation = mark and { mark.key, mark.id, mark.fingerprint } or false
  return encoding.json({
    unfinished.at, operation, unfinished.sequence_first, unfinished.progress, unfinished.begun or false,
  })
end

-- The fields of `meta` that are kept as they are.
local TEXTS = { primary = true, deployment = true, format = true, lost = true }

local function meta_text(name)
  if name == "unfinished" then return unfinished_text() or "" end
  if name == "damaged" then return "" end
  if TEXTS[name] then return call.meta[name] or "" end
  if name == "moved" then
    local moved = call.meta.moved
    return moved and number(moved.sequence) .. " " .. number(moved.to) or ""
  end
  return number(call.meta[name])
end

-- The commands that give the fields of a HSET the texts that they had before.
local function put_back(write)
  local back, absent = { "HSET", write[2] }, { "HDEL", write[2] }
  for at, name in ipairs(META_FIELDS) do
    for place = 3, #write, 2 do
      if write[place] == name and meta_before[at] then
        back[#back + 1], back[#back + 2] = name, meta_before[at]
      elseif write[place] == name then
        absent[#absent + 1] = name
      end
    end
  end
  local put, take_out = #back > 2 and back or nil, #absent > 2 and absent or nil
  return { put or take_out, put and take_out }
end

-- Plans what the call changes of `meta`. The sizes are those that the writes before it leave.
function main.plan_meta(plan, add_step)
  if call.is_reading then return end
  local meta, changed = call.meta, #plan > 0
  local write, words = { "HSET", records.key("meta") }, 2
  meta_write = write
  for at = 1, FIELD_COUNT do
    local name, before = META_FIELDS[at], meta_before[at]
    if not before or meta[name] ~= values_before[at] then
      local text = name ~= "sizes" and meta_text(name)
      if text and text ~= before then
        write[words + 1] = name
        write[words + 2] = text
        words = words + 2
      end
    end
  end
  if not changed and #write == 2 then return end
  local function complete()
    local text = sizes.text()
    if text then
      write[#write + 1] = "sizes"
      write[#write + 1] = text
    end
    return #write > 2
  end
  add_step(plan, "meta", write, function() return put_back(write) end, complete)
end

local function read_settings(values)
  for at, name in ipairs(SETTING_NAMES) do settings[name] = values[at] end
end

-- The server's clock. The caller says how far it believes it: what is stamped, ended or forgotten by a clock that is
-- ahead cannot be taken back. It is judged here, in the call itself, so that no failover can come between.
local function server_clock(bound)
  local time = redis.call("TIME")
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  if not bound or now <= bound then return now end
  if call.is_reading then return bound end
  error("CLOCK the server's clock is at " .. number(now) .. ", believed up to " .. number(bound), 0)
end

-- Whether a message is JSON, which is easier to type when one steps through the library.
local function is_typed(message)
  return IS_TEST and string.sub(message, 1, 1) == "["
end

local function reply_of(what_is_owed, answers, look)
  return { call.meta.epoch, call.meta.sequence, what_is_owed, answers, look }
end

local function serve(keys, message)
  local values = is_typed(message) and encoding.from_json(message) or cmsgpack.unpack(message)
  local version, setting_values, primary, clock, asked, deployment, seen = unpack(values)
  if version ~= constants.MESSAGE_VERSION then error("VERSION " .. number(version), 0) end
  records.clear(keys)
  operations.clear()
  log.clear()
  wholeness.clear()
  call.epoch_begun = false
  read_settings(setting_values)
  call.clock = IS_TEST and clock or server_clock(clock)
  load_meta()
  if asked[1] == request_kinds.BEGIN then
    wholeness.begin_partition(deployment, asked[2] == 1, asked[3] == 1)
    return reply_of(owed.NOTHING, {})
  end
  wholeness.check(deployment, seen, primary)
  if asked[1] == request_kinds.CHECK then
    return reply_of(wholeness.look(primary) and owed.EARLIER_OPERATION or owed.NOTHING, {})
  end
  wholeness.check_note(primary)
  note_primary(primary)
  if asked[1] == request_kinds.CHANGES then
    sizes.check_all()
    return reply_of(owed.NOTHING, corrections.since(asked[2], asked[3]))
  end
  local receipts, what_is_owed, look = machine.serve(asked)
  flush.write_all()
  if not call.is_reading then keep_meta() end
  return reply_of(what_is_owed, receipts, look)
end

-- Serves a message; what goes wrong is an error reply that begins with SCARCE, and nothing was changed then,
-- unless it says DAMAGED or UNMENDED.
function main.serve(keys, arguments)
  call.is_reading = arguments[2] == request_kinds.READ
  local done, reply = pcall(serve, keys, arguments[1])
  if done then return reply end
  local text = wholeness.explained(flush.reason_of(reply))
  -- Which command it was is said where it was a write.
  if string.find(text, "^ERR The user executing the script") then text = "NOPERM " .. text end
  return redis.error_reply("SCARCE " .. text)
end
