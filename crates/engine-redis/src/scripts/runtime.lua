-- The state as a call sees it: rows of hashes and members of ordered sets, read once, changed here, and
-- written at the end. What `core/src/store` is to the machine in memory, this is to the one in Redis.
--
-- Numbers are doubles, exact up to 2^53 - 1; they become text by %d only, which takes integers of 64 bits. Texts
-- are compared as bytes, by `S.precedes`: the operator < of Lua goes by the server's locale. Nothing is nil here, and
-- false in lists and messages. Truth values are 1 and 0.

local format, byte, match, concat = string.format, string.byte, string.match, table.concat
local call = redis.call

-- How many rows one command reads; `unpack` takes less than 8 000 values.
local FIELDS_PER_READING = 2000

-- How many texts of numbers are kept: a call needs most of its numbers more than once.
local NUMBERS_KEPT = 1024

-- The fields of each hash's records in order. A text is what stands alone; :n is a number, :v any list.
-- A record's text has no | but in its last field.
S.record_fields = {
  accounts = { "asset", "balance:n", "held:n", "overdraft:n", "status" },
  holds = { "amount:n", "status", "deadline:n", "ended_at:n" },
  stock = {
    "total:n", "available:n", "reserved:n", "sold:n", "returned:n", "serial:n", "per_owner_max:n",
    "starts_at:n", "ends_at:n", "closed:n",
    "audit_horizon:n", "audit_through:n", "audit_counted:n", "audit_expected:n",
  },
  reservations = { "owner", "quantity:n", "status", "deadline:n", "first_serial:n", "ended_at:n" },
  owners = { "used:n" },
  receipts_of = { "count:n", "returned:n", "owner", "at:n", "operation" },
  campaigns = {
    "asset", "count:n", "total:n", "method", "min:n", "max:n", "starts_at:n", "ends_at:n", "seed", "commitment",
    "laid_count:n", "claimed_count:n", "claimed_amount:n", "closed_at:n",
  },
  packets = { "amount:n" },
  claims = { "packet:n", "at:n" },
  claimants = { "user" },
  listed = { "amounts" },
  coupons = { "starts_at:n", "ends_at:n", "claim_ttl_ms:n", "paused:n", "serial:n", "limits:v" },
  counts = { "used:n", "ends_at:n" },
  coupon_claims = { "at:n", "deadline:n", "status", "ended_at:n", "windows:v", "subject:v" },
  markets = {
    "tick:n", "lot:n", "min_quantity:n", "max_quantity:n", "halted:n", "trades:n", "priority:n",
    "orders:n", "bids_total:n", "asks_total:n",
  },
  orders = {
    "owner", "side", "price:n", "remaining:n", "filled:n", "tif", "stp", "status", "reason", "ended_at:n",
    "priority:n",
  },
  level_totals = { "quantity:n", "orders:n" },
  own_levels = { "quantity:n" },
  steps = { "fills" },
  tape = { "trade:n", "price:n", "quantity:n", "taker_side", "at:n" },
  operations = { "fingerprint", "at:n", "sequence_last:n", "events:n", "epoch:n", "code:n", "facts" },
}

-- The number that each place has, and its text.
local kept_numbers, kept_texts = {}, {}

function S.number(number)
  local place = number % NUMBERS_KEPT + 1
  if kept_numbers[place] == number then return kept_texts[place] end
  local text = format("%d", number)
  kept_numbers[place], kept_texts[place] = number, text
  return text
end

local number_text = S.number

local kept_digit_numbers, kept_digits = {}, {}

-- A number as 16 digits, whose order as bytes is that of the numbers.
function S.digits(number)
  local place = number % NUMBERS_KEPT + 1
  if kept_digit_numbers[place] == number then return kept_digits[place] end
  local text = format("%016d", number)
  kept_digit_numbers[place], kept_digits[place] = number, text
  return text
end

local function escaped(character)
  return format("\\u%04x", byte(character))
end

-- Adds to the pieces of a text a value as JSON: nothing, a number, a text, a list of them, or what is JSON already:
-- the `parts` of a list. Gives how many pieces there are then.
local function encode_into(pieces, count, value)
  local kind = type(value)
  if kind == "number" then
    pieces[count + 1] = number_text(value)
    return count + 1
  elseif kind == "string" then
    pieces[count + 1] = '"' .. string.gsub(value, '[%c"\\]', escaped) .. '"'
    return count + 1
  elseif not value then
    pieces[count + 1] = "null"
    return count + 1
  end
  local parts = value.parts
  pieces[count + 1] = "["
  count = count + 1
  for at = 1, #(parts or value) do
    if at > 1 then
      count = count + 1
      pieces[count] = ","
    end
    if parts then
      count = count + 1
      pieces[count] = parts[at]
    else
      count = encode_into(pieces, count, value[at])
    end
  end
  pieces[count + 1] = "]"
  return count + 1
end

-- A value as JSON, behind a text. It is one text at last, for Lua reads all bytes of each that it makes.
function S.encode_behind(text, value)
  local pieces = { text }
  return concat(pieces, "", 1, encode_into(pieces, 1, value))
end

local function encode(value)
  local pieces = {}
  return concat(pieces, "", 1, encode_into(pieces, 0, value))
end

S.encode = encode

local function without_null(value)
  if value == cjson.null then return false end
  if type(value) == "table" then
    for at = 1, #value do value[at] = without_null(value[at]) end
  end
  return value
end

function S.decode(text)
  return without_null(cjson.decode(text))
end

-- Records and their texts ---------------------------------------------------------------------------------

-- How a field's text becomes a value, and its value a text; there is neither for what is nothing.
local READERS = { n = "%s + 0", v = "decode(%s)", [""] = "%s" }
local WRITERS = { n = "number(%s)", v = "encode(%s)", [""] = "%s" }

-- The functions that take a record of a kind apart and join it, compiled of its fields: looking names and types
-- up would cost as much again.
local function compiled(kind, fields)
  local values, read, written = {}, {}, {}
  for at, field in ipairs(fields) do
    local name, type_of = match(field, "^([^:]+):?(.?)$")
    local value = "v" .. at
    values[at] = value
    read[at] = format('%s = %s ~= "" and %s or nil', name, value, format(READERS[type_of], value))
    written[at] = format('(r.%s and %s or "")', name, format(WRITERS[type_of], "r." .. name))
  end
  local pattern = "^" .. string.rep("([^|]*)|", #fields - 1) .. "(.*)$"
  local source = format(
    [[local match, number, encode, decode, damaged = ...
    local function unpack(text)
      local %s = match(text, "%s")
      if not v1 then damaged(text) end
      return { %s }
    end
    local function pack(r) return %s end
    return pack, unpack]],
    concat(values, ", "), pattern, concat(read, ", "), concat(written, ' .. "|" .. ')
  )
  local function damaged(text) error("the record of a '" .. kind .. "' is damaged: " .. text) end
  return loadstring(source)(match, number_text, encode, S.decode, damaged)
end

-- By kind of record; compiled when first asked for.
local packers, unpackers = {}, {}

-- Rows ----------------------------------------------------------------------------------------------------

local key_places = {}
for place, name in ipairs(S.key_names) do key_places[name] = place end

-- What the call has of each hash it asked for: `texts` as Redis has them, `rows` taken apart, false where there
-- is none; `dirty` are the ids of rows that were changed, with the new text where it is known already.
local hashes, keys, typed, notes = {}, {}, {}, nil

local function hash_of(kind)
  if not packers[kind] then packers[kind], unpackers[kind] = compiled(kind, S.record_fields[kind]) end
  local hash = {
    kind = kind, key = keys[key_places[kind]], pack = packers[kind], unpack = unpackers[kind],
    rows = {}, texts = {}, dirty = {},
  }
  hashes[kind] = hash
  return hash
end

-- Forgets what a call before this one has read, and where its keys were.
function S.clear(keys_of_call)
  keys, hashes, typed, notes = keys_of_call, {}, {}, nil
  S.sets, S.notes = {}, nil
end

-- The key of a name.
function S.key(name)
  return keys[key_places[name]]
end

-- Notes that a command for one type has read the key: it is of that type, or the call would have ended there.
function S.note_type(name)
  typed[name] = true
end

function S.is_typed(name)
  return typed[name]
end

-- Goes through the hashes that the call has asked for.
function S.each_hash(visit)
  for _, hash in pairs(hashes) do visit(hash) end
end

-- The row that an id has before the call, or was given by it as a text.
local function load(hash, id)
  local text = hash.dirty[id]
  if type(text) ~= "string" then
    text = hash.texts[id]
    if text == nil then
      text = call("HGET", hash.key, id)
      hash.texts[id], typed[hash.kind] = text, true
    end
  end
  local row = text and hash.unpack(text)
  hash.rows[id] = row
  return row
end

-- The record of an id, or nil. Only `S.change` gives one that may be changed.
function S.get(kind, id)
  local hash = hashes[kind] or hash_of(kind)
  local row = hash.rows[id]
  if row == nil then row = load(hash, id) end
  return row or nil
end

-- The text of an id's record, or nil.
function S.text_of(kind, id)
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

-- Reads what a call will surely ask for, in as few commands as may be.
function S.prefetch(kind, ids)
  if #ids == 0 then return end
  local hash = hashes[kind] or hash_of(kind)
  local texts = hash.texts
  typed[kind] = true
  for first = 1, #ids, FIELDS_PER_READING do
    local last = math.min(first + FIELDS_PER_READING - 1, #ids)
    local found = call("HMGET", hash.key, unpack(ids, first, last))
    for at = first, last do texts[ids[at]] = found[at - first + 1] end
  end
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
  hash.rows[id], hash.dirty[id] = record, true
end

-- Puts a record in, in place of the one that the id had. What that was is read at the end, where nothing asked.
S.put = set

-- Puts in the record of an id that surely has none, without looking.
function S.add(kind, id, record)
  local hash = hashes[kind] or hash_of(kind)
  if hash.texts[id] == nil then hash.texts[id] = false end
  set(kind, id, record)
end

-- Puts a record in by its text. What an id had was read before, and it is not taken back.
function S.put_text(kind, id, text)
  local hash = hashes[kind] or hash_of(kind)
  hash.dirty[id] = text
  if hash.rows[id] ~= nil then hash.rows[id] = nil end
end

-- The record of an id, to be changed; nil where there is none. Lists within it are replaced, not changed.
function S.change(kind, id)
  local hash = hashes[kind] or hash_of(kind)
  local row = hash.rows[id]
  if row == nil then row = load(hash, id) end
  if not row then return nil end
  if notes then note(hash, id) end
  hash.dirty[id] = true
  return row
end

-- Takes the record of an id out.
function S.remove(kind, id)
  set(kind, id, false)
end

-- Starts to note changes of rows and sets.
function S.note_changes()
  notes = {}
  S.notes = notes
end

-- Keeps what was changed and notes no more.
function S.keep_changes()
  notes, S.notes = nil, nil
end

-- Takes back what was changed since `S.note_changes`, last change first.
function S.take_back()
  local taken_back = notes
  S.keep_changes()
  for at = #taken_back, 1, -1 do
    local before = taken_back[at]
    local hash = before.hash
    if hash then
      hash.rows[before.id], hash.dirty[before.id] = before.row, before.dirty
    else
      S.mark_member(before.set, before.member, before.list, before.before)
    end
  end
end
