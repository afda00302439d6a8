-- One call: what it brings, what it is answered.

local FIELD_COUNT, NUMBER_COUNT = #META_FIELDS, #META_NUMBERS
local number = encoding.number

-- The place of each field of `meta`.
local META_PLACES = {}
for at = 1, FIELD_COUNT do META_PLACES[META_FIELDS[at]] = at end

-- What a call goes on with that the one before it has left, by the key of the partition's `meta`: the `texts` of `meta`,
-- the `values` that they stand for, `meta` as a call sees it, `sizes` and `operations`. There are not more of them than this.
local LEFT_MAX = 256
local left, left_count = {}, 0

-- That of the partition of the call.
local mine

-- The texts that `meta` had before the call, and the values that they stood for.
local meta_before, values_before

-- The command that writes what the call changes of `meta`, and how many words it has.
local meta_write, meta_length

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

-- Whether `meta` is as the last call has left it, by the fields that others change: an event raises the sequence, another
-- run of a server the epoch, a decision without an event the stamp. No two histories have an epoch and a sequence in common.
local function is_as_left(key, texts)
  local found = redis.call("HMGET", key, "epoch", "sequence", "now", "sizes", "lost", "damaged")
  local places = META_PLACES
  return found[1] == texts[places.epoch] and found[2] == texts[places.sequence] and found[3] == texts[places.now]
    and found[4] == texts[places.sizes] and found[5] == texts[places.lost] and found[6] == texts[places.damaged]
    and redis.call("HLEN", key) == FIELD_COUNT
end

-- Whether none of the fields is missing.
local function has_all(texts)
  for at = 1, FIELD_COUNT do
    if not texts[at] then return false end
  end
  return true
end

local function load_meta()
  local key = records.key("meta")
  mine = not call.is_reading and left[key] or nil
  -- A call that ends early leaves nothing.
  if mine then left[key] = false end
  meta_write, meta_length = nil, 2
  if mine and is_as_left(key, mine.texts) then
    meta_before, values_before, call.meta = mine.texts, mine.values, mine.meta
    operations.resume(mine.operations)
  else
    meta_before = mended_meta()
    call.meta, values_before = take_apart(meta_before)
    mine = {
      texts = meta_before, values = values_before, meta = call.meta, is_whole = has_all(meta_before), sizes = {}, operations = {},
    }
  end
  records.note_type("meta")
  local meta = call.meta
  sizes.load(meta.deployment and (meta.sizes or ""), meta.sequence, mine.sizes)
end

-- Keeps for the next call what this one has left.
local function keep_meta()
  local meta, texts, key = call.meta, meta_before, records.key("meta")
  for place = 3, meta_length, 2 do
    local name, at = meta_write[place], META_PLACES[meta_write[place]]
    texts[at], values_before[at] = meta_write[place + 1], meta[name]
  end
  meta.sizes = texts[META_PLACES.sizes]
  sizes.leave(mine.sizes)
  operations.leave(mine.operations)
  mine.is_whole = mine.is_whole or has_all(texts)
  if not mine.is_whole then return end
  if left[key] == nil then left_count = left_count + 1 end
  if left_count > LEFT_MAX then left, left_count = {}, 1 end
  left[key] = mine
end

-- The head of a message, which is packed by itself because it mostly is that of the message before: the run of the
-- server, and the deployment.
local head_before, primary, deployment

-- The epoch of a new leadership: the next count, and 32 bits that no other leadership has which goes on from the same
-- place, such as one that goes on from an old dump. They come from the run of the server and the time.
local function next_epoch()
  local time = redis.call("TIME")
  local digits = redis.sha1hex(primary .. " " .. time[1] .. " " .. time[2] .. " " .. call.meta.sequence)
  local salt = tonumber(string.sub(digits, 1, 8), 16)
  local count = math.floor(call.meta.epoch / constants.EPOCH_COUNT_UNIT) + 1
  if count >= constants.EPOCH_COUNTS then return call.meta.epoch + 1 end
  return count * constants.EPOCH_COUNT_UNIT + salt
end

-- Another run of a server may lack what the one before it had answered: it was restarted, or a replica was
-- promoted. Sequences that are given once more are told apart by the epoch.
local function note_primary()
  if call.is_reading or not primary or (primary == call.meta.primary and not call.is_behind) then return end
  call.epoch_begun = { before = call.meta.epoch, first = call.meta.sequence + 1 }
  call.meta.epoch = next_epoch()
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

-- The commands that take back what was noted of an epoch: `last` is the one before, if there is one.
local function unnoted(write, _, last)
  local key, first, back = write[2], write[3], nil
  local last_first = last.first and number(last.first)
  if last_first ~= first then back = { "HDEL", key, first } end
  local put = last.first and { "HSET", key, last_first, last.epoch }
  return { back or put, back and put }
end

local NOTING = { back = unnoted }
local FORGETTING = { back = function(write, _, epoch) return { { "HSET", write[2], write[3], epoch } } end }

-- Plans to note where the epoch begins that the call has begun. One that has no event is written over. Where the epoch
-- before was not noted, because a release that notes none began it, it is not known which epoch the last events are of.
function main.plan_histories(add_step)
  local begun = call.epoch_begun
  if not begun then return end
  local firsts, epochs = read_histories()
  local key, last = records.key("histories"), firsts[#firsts]
  local write = { "HSET", key, number(begun.first), number(call.meta.epoch) }
  if last and last < begun.first and tonumber(epochs[last]) ~= begun.before then
    write[#write + 1], write[#write + 2] = number(last), "0"
  end
  add_step("histories", write, #write, NOTING, { first = last, epoch = epochs[last] })
  if #firsts < constants.HISTORIES_MAX or last == begun.first then return end
  local oldest = firsts[1]
  add_step("histories", { "HDEL", key, number(oldest) }, 3, FORGETTING, epochs[oldest])
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
local function put_back(write, length)
  local back, absent = { "HSET", write[2] }, { "HDEL", write[2] }
  for place = 3, length, 2 do
    local name = write[place]
    local before = meta_before[META_PLACES[name]]
    if before then
      back[#back + 1], back[#back + 2] = name, before
    else
      absent[#absent + 1] = name
    end
  end
  local put, take_out = #back > 2 and back or nil, #absent > 2 and absent or nil
  return { put or take_out, put and take_out }
end

-- Adds the sizes, which are those that the writes before leave.
local function add_sizes(write, length)
  local text = sizes.text()
  if text then
    write[length + 1] = "sizes"
    write[length + 2] = text
    length = length + 2
  end
  meta_length = length
  return length
end

local KEEPING = { back = put_back, complete = add_sizes }

-- How many of the fields a call may have changed: mostly none but the numbers, which come first.
local function changing_count(meta)
  local values, places = values_before, META_PLACES
  local is_same = mine.is_whole and meta.unfinished == values[places.unfinished] and meta.primary == values[places.primary]
    and meta.moved == values[places.moved] and meta.lost == values[places.lost] and meta.format == values[places.format]
    and meta.deployment == values[places.deployment]
  return is_same and NUMBER_COUNT or FIELD_COUNT
end

-- Plans what the call changes of `meta`; `is_changed` says whether it changes anything else.
function main.plan_meta(add_step, is_changed)
  if call.is_reading then return end
  local meta, write, words = call.meta, { "HSET", records.key("meta") }, 2
  for at = 1, changing_count(meta) do
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
  if not is_changed and words == 2 then return end
  meta_write, meta_length = write, words
  add_step("meta", write, words, KEEPING)
end

-- Takes the head of a message apart, where it is another one: version, settings, run of the server and deployment.
local function read_head(head)
  if head == head_before then return end
  head_before = nil
  local version, setting_values, its_primary, its_deployment = unpack(type(head) == "table" and head or cmsgpack.unpack(head))
  if version ~= constants.MESSAGE_VERSION then error("VERSION " .. number(version), 0) end
  for at, name in ipairs(SETTING_NAMES) do settings[name] = setting_values[at] end
  head_before, primary, deployment = head, its_primary, its_deployment
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

local function clear(keys)
  records.clear(keys)
  operations.clear()
  log.clear()
  wholeness.clear()
  call.epoch_begun, call.has_unprepared = false, false
end

local function serve(keys, message)
  local values = is_typed(message) and encoding.from_json(message) or cmsgpack.unpack(message)
  local clock, asked = values[2], values[3]
  read_head(values[1])
  clear(keys)
  call.clock = IS_TEST and clock or server_clock(clock)
  load_meta()
  local kind = asked[1]
  if kind == request_kinds.BEGIN then
    wholeness.begin_partition(deployment, asked[2] == 1, asked[3] == 1)
    return reply_of(owed.NOTHING, {})
  end
  wholeness.check(deployment, primary, values[4], values[5], values[6])
  if kind == request_kinds.CHECK then
    return reply_of(wholeness.look(primary) and owed.EARLIER_OPERATION or owed.NOTHING, {})
  end
  wholeness.check_note(primary)
  note_primary()
  if kind == request_kinds.CHANGES then
    sizes.check_all()
    return reply_of(owed.NOTHING, corrections.since(asked[2], asked[3]))
  end
  local receipts, what_is_owed, look = machine.serve(asked, values[7])
  flush.write_all()
  if not call.is_reading then keep_meta() end
  return reply_of(what_is_owed, receipts, look)
end

-- The keys of partitions by that of their `meta`; there are not more of them than this.
local keys_behind, keys_behind_count = {}, 0

-- The keys of a partition of which only the first was declared, as on a server whose keys do not move.
local function all_keys(first)
  local keys = keys_behind[first]
  if keys then return keys end
  keys = {}
  local front = string.sub(first, 1, -#"meta" - 1)
  for name, place in pairs(KEY_PLACES) do keys[place] = front .. name end
  if keys_behind_count >= LEFT_MAX then keys_behind, keys_behind_count = {}, 0 end
  keys_behind[first], keys_behind_count = keys, keys_behind_count + 1
  return keys
end

-- Serves a message; what goes wrong is an error reply that begins with SCARCE, and nothing was changed then,
-- unless it says DAMAGED or UNMENDED.
function main.serve(keys, arguments)
  call.is_reading = arguments[2] == request_kinds.READ
  if not keys[2] then keys = all_keys(keys[1]) end
  local done, reply = pcall(serve, keys, arguments[1])
  if done then return reply end
  local text = wholeness.explained(flush.reason_of(reply))
  -- Which command it was is said where it was a write.
  if string.find(text, "^ERR The user executing the script") then text = "NOPERM " .. text end
  return redis.error_reply("SCARCE " .. text)
end
