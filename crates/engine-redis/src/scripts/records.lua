-- The state as a call sees it: rows of hashes and members of ordered sets, read once, changed here, and
-- written at the end. What `core/src/store` is to the machine in memory, this is to the one in Redis.
--
-- Nothing is nil here, and false in lists and messages. Truth values are 1 and 0. Which fields a record has is
-- declared once, in `records.rs`: the library gets them as `RECORD_FIELDS`, the image of the keys reads by them.

local format, match, concat = string.format, string.match, table.concat
local redis_call = redis.call
local number, json = encoding.number, encoding.json

-- How many rows one command reads; `unpack` takes less than 8 000 values.
local FIELDS_PER_READING = 2000

-- Records and their texts ---------------------------------------------------------------------------------

-- How a field's text becomes a value, and its value a text; there is neither for what is nothing.
local READERS = { n = "%s + 0", v = "decode(%s)", [""] = "%s" }
local WRITERS = { n = "number(%s)", v = "encode(%s)", [""] = "%s" }

-- What rows that were written before a record was given further fields lack at their end.
local ADDED = { stock = "|||" }

-- Ends the call where a record cannot be what the engine wrote: nothing is decided by it.
function records.damaged(kind, what)
  error("the record of a '" .. kind .. "' is damaged: " .. what, 0)
end

-- The functions that take a record of a kind apart and join it, compiled of its fields: looking names and types
-- up would cost as much again.
local function compiled(kind, fields)
  local values, read, written = {}, {}, {}
  for at, field in ipairs(fields) do
    local name, type_of = match(field, "^([^:]+):?(.?)$")
    local value = "v" .. at
    values[at] = value
    read[at] = format('%s = %s ~= "" and %s or nil', name, value, format(READERS[type_of], value))
    written[at] = format('(record.%s and %s or "")', name, format(WRITERS[type_of], "record." .. name))
  end
  local pattern = "^" .. string.rep("([^|]*)|", #fields - 1) .. "(.*)$"
  local added, list = ADDED[kind], concat(values, ", ")
  local again = added and format('if not v1 then %s = match(text .. "%s", "%s") end', list, added, pattern) or ""
  local source = format(
    [[local match, number, encode, decode, damaged = ...
    local function unpack(text)
      local %s = match(text, "%s")
      %s
      if not v1 then damaged(text) end
      return { %s }
    end
    local function pack(record) return %s end
    return pack, unpack]],
    list, pattern, again, concat(read, ", "), concat(written, ' .. "|" .. ')
  )
  local function damaged(text) records.damaged(kind, text) end
  return loadstring(source)(match, number, json, encoding.from_json, damaged)
end

-- In the build for tests a record refuses fields that are not its own. `level` is what `book.lua` notes beside the
-- fields of an order.
local function guards_of_records()
  local guards = {}
  for kind, fields in pairs(RECORD_FIELDS) do
    local names = { level = kind == "orders" }
    for _, field in ipairs(fields) do names[match(field, "^[^:]+")] = true end
    local function check(name)
      if not names[name] then error("a record of '" .. kind .. "' has no '" .. tostring(name) .. "'", 3) end
    end
    guards[kind] = {
      __index = function(_, name) check(name) end,
      __newindex = function(record, name, value) check(name) rawset(record, name, value) end,
    }
  end
  return guards
end

local guards = IS_TEST and guards_of_records()

-- The record, which names its unknown fields where they are guarded.
local function guarded(kind, record)
  local guard = guards[kind]
  for name in pairs(record) do local _ = guard.__index(record, name) end
  return setmetatable(record, guard)
end

-- Rows ----------------------------------------------------------------------------------------------------

-- What the call has of each hash it asked for: `texts` as Redis has them, `rows` taken apart, false where there
-- is none; `dirty` are the ids of rows that were changed, with the new text where it is known already.
local hashes, keys, notes = {}, {}, nil

-- The same of the calls before, by kind of record: tables that are used again.
local kept_hashes = {}

-- The call under way, as a number; and by name of a key the last call that has read it by a command for its type.
local call_number, typed = 0, {}

-- Up to how many rows a table had that is emptied for the next call, and not made anew: it need not grow again then. To
-- empty one takes as long as it was full at its fullest, so one that was much fuller once is made anew as well.
local ROWS_EMPTIED_MAX, SPARE_MAX = 256, 8

-- Empties the tables of a hash, or gives it others.
local function empty(hash)
  local count = 0
  for id in pairs(hash.texts) do
    hash.texts[id], count = nil, count + 1
  end
  hash.fullest = count > hash.fullest and count or hash.fullest
  if count > ROWS_EMPTIED_MAX or count * SPARE_MAX < hash.fullest then hash.texts, hash.fullest = {}, 0 end
  if next(hash.rows) ~= nil then hash.rows = {} end
  if next(hash.dirty) ~= nil then hash.dirty = {} end
end

local function hash_of(kind)
  local hash, key = kept_hashes[kind], keys[KEY_PLACES[kind]]
  if hash then
    empty(hash)
    -- Words of a longer command may still stand behind its length.
    hash.key, hash.write[2], hash.write_length = key, key, 2
  else
    local pack, unpack = compiled(kind, RECORD_FIELDS[kind])
    hash = {
      kind = kind, key = key, pack = pack, unpack = unpack, rows = {}, texts = {}, dirty = {}, fullest = 0,
      -- The command that adds rows, and how many words it has.
      write = { "HSET", key }, write_length = 2,
    }
    kept_hashes[kind] = hash
  end
  hashes[kind] = hash
  return hash
end

-- Forgets what a call before this one has read, and where its keys were.
function records.clear(keys_of_call)
  keys, call_number, notes = keys_of_call, call_number + 1, nil
  for kind in pairs(hashes) do hashes[kind] = nil end
  if next(call.set_changes) ~= nil then call.set_changes = {} end
  call.notes = false
end

-- The key of a name.
function records.key(name)
  return keys[KEY_PLACES[name]]
end

-- The types of the keys that are neither tables of records nor ordered sets.
local OTHER_TYPES = { meta = "hash", operations_by = "list", histories = "hash", log = "stream" }

-- The type that the key of a name must have.
function records.type_of(name)
  return OTHER_TYPES[name] or rawget(RECORD_FIELDS, name) and "hash" or "zset"
end

-- Notes that a command for one type has read the key: it is of that type, or the call would have ended there. And that
-- it is whole, which is looked at now. Gives how many rows it has, where they were counted for that.
local function note_type(name)
  if typed[name] == call_number then return end
  typed[name] = call_number
  return sizes.check(name, keys[KEY_PLACES[name]])
end

records.note_type = note_type

-- Whether a command for one type has read the key.
function records.is_typed(name)
  return typed[name] == call_number
end

-- Goes through the hashes that the call has asked for.
function records.each_hash(visit)
  for _, hash in pairs(hashes) do visit(hash) end
end

-- The row that an id has before the call, or was given by it as a text.
local function load(hash, id)
  local text = hash.dirty[id]
  if type(text) ~= "string" then
    text = hash.texts[id]
    if text == nil then
      text = redis_call("HGET", hash.key, id)
      hash.texts[id] = text
      note_type(hash.kind)
    end
  end
  local row = text and hash.unpack(text)
  if guards and row then guarded(hash.kind, row) end
  hash.rows[id] = row
  return row
end

-- The record of an id, or nil. Only `records.change` gives one that may be changed.
function records.get(kind, id)
  local hash = hashes[kind] or hash_of(kind)
  local row = hash.rows[id]
  if row == nil then row = load(hash, id) end
  return row or nil
end

-- The text of an id's record, or nil.
function records.text_of(kind, id)
  local hash = hashes[kind] or hash_of(kind)
  local text = hash.dirty[id]
  if text == true then return hash.rows[id] and hash.pack(hash.rows[id]) or nil end
  text = text or hash.texts[id]
  if text == nil then
    load(hash, id)
    text = hash.texts[id]
  end
  return text or nil
end

-- Reads what a call will surely ask for, in as few commands as may be; of the ids only the first so many, where given.
function records.prefetch(kind, ids, ids_count)
  local count = ids_count or #ids
  if count == 0 then return end
  local hash = hashes[kind] or hash_of(kind)
  local texts, behind = hash.texts, 0
  while behind < count do
    local last = math.min(behind + FIELDS_PER_READING, count)
    local found = redis_call("HMGET", hash.key, unpack(ids, behind + 1, last))
    for at = 1, last - behind do texts[ids[behind + at]] = found[at] end
    behind = last
  end
  note_type(kind)
end

local function copy(record)
  if not record then return record end
  local same = {}
  for name, value in pairs(record) do same[name] = value end
  return same
end

local function note(hash, id)
  notes[#notes + 1] = { hash = hash, id = id, row = copy(hash.rows[id]), dirty = hash.dirty[id] }
end

local function set(kind, id, record)
  local hash = hashes[kind] or hash_of(kind)
  if notes then note(hash, id) end
  if guards and record then guarded(kind, record) end
  hash.rows[id], hash.dirty[id] = record, true
end

-- Puts a record in, in place of the one that the id had. What that was is read at the end, where nothing asked.
records.put = set

-- Puts in the record of an id that surely has none, without looking.
function records.add(kind, id, record)
  local hash = hashes[kind] or hash_of(kind)
  if hash.texts[id] == nil then hash.texts[id] = false end
  set(kind, id, record)
end

-- Puts a record in by its text. What an id had was read before, and it is not taken back.
function records.put_text(kind, id, text)
  local hash = hashes[kind] or hash_of(kind)
  hash.dirty[id] = text
  if hash.rows[id] ~= nil then hash.rows[id] = nil end
end

-- What a run that adds rows works on: the texts that Redis has, or will have, where false stands for none; the ids whose
-- rows the call has changed; and the command that adds rows, with how many words it has.
function records.added(kind)
  local hash = hashes[kind] or hash_of(kind)
  return hash.texts, hash.dirty, hash.write, hash.write_length
end

-- Takes the command back, with the words that it has now.
function records.note_added(kind, length)
  local hash = hashes[kind]
  local write, rows = hash.write, hash.rows
  if next(rows) ~= nil then
    for at = hash.write_length + 1, length, 2 do rows[write[at]] = nil end
  end
  hash.write_length = length
end

-- What a run that changes rows by their texts works on: the texts that Redis has, those that the call has given, and the rows
-- that were taken apart.
function records.texts(kind)
  local hash = hashes[kind] or hash_of(kind)
  return hash.texts, hash.dirty, hash.rows
end

-- The record of an id, to be changed; nil where there is none. Lists within it are replaced, not changed.
function records.change(kind, id)
  local hash = hashes[kind] or hash_of(kind)
  local row = hash.rows[id]
  if row == nil then row = load(hash, id) end
  if not row then return nil end
  if notes then note(hash, id) end
  hash.dirty[id] = true
  return row
end

-- Takes the record of an id out.
function records.remove(kind, id)
  set(kind, id, false)
end

-- Starts to note changes of rows and sets.
function records.note_changes()
  notes = {}
  call.notes = notes
end

-- Keeps what was changed and notes no more.
function records.keep_changes()
  notes, call.notes = nil, false
end

-- Takes back what was changed since `records.note_changes`, last change first.
function records.take_back()
  local taken_back = notes
  records.keep_changes()
  for at = #taken_back, 1, -1 do
    local before = taken_back[at]
    local hash = before.hash
    if hash then
      hash.rows[before.id], hash.dirty[before.id] = before.row, before.dirty
    else
      sets.mark(before.set, before.member, before.list, before.before)
    end
  end
end
