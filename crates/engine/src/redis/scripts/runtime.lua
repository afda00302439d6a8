-- The state as a call sees it: rows of hashes and members of ordered sets, read once, changed here, and
-- written at the end. What `core/src/store` is to the machine in memory, this is to the one in Redis.
--
-- Numbers are doubles, exact up to 2^53 - 1; they become text by %.0f only. Texts are compared as bytes,
-- by `S.precedes`: the operator < of Lua goes by the server's locale. Nothing is nil here, and false in
-- lists and messages. Truth values are 1 and 0.

local format, byte, match, concat = string.format, string.byte, string.match, table.concat

-- How many rows one command reads; `unpack` takes less than 8 000 values.
local FIELDS_PER_READING = 2000

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
  tape = { "trade:n", "price:n", "quantity:n", "taker_side", "at:n" },
  operations = { "fingerprint", "at:n", "sequence_last:n", "events:n", "epoch:n", "code:n", "facts:v" },
}

function S.number(number)
  return format("%.0f", number)
end

-- A number as 16 digits, whose order as bytes is that of the numbers.
function S.digits(number)
  return format("%016.0f", number)
end

local function escaped(character)
  return format("\\u%04x", byte(character))
end

-- A value as JSON: nothing, a number, a text, or a list of them.
function S.encode(value)
  if not value then return "null" end
  if type(value) == "number" then return format("%.0f", value) end
  if type(value) == "string" then return '"' .. string.gsub(value, '[%c"\\]', escaped) .. '"' end
  local parts = {}
  for at = 1, #value do parts[at] = S.encode(value[at]) end
  return "[" .. concat(parts, ",") .. "]"
end

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

-- Names and types of fields, and the pattern that takes a record apart.
local shapes = {}
for kind, fields in pairs(S.record_fields) do
  local shape = { names = {}, types = {} }
  for at, field in ipairs(fields) do
    local name, type_of = match(field, "^([^:]+):?(.?)$")
    shape.names[at], shape.types[at] = name, type_of
  end
  shape.pattern = "^" .. string.rep("([^|]*)|", #fields - 1) .. "(.*)$"
  shapes[kind] = shape
end

function S.pack(kind, record)
  local shape, parts = shapes[kind], {}
  local names, types = shape.names, shape.types
  for at = 1, #names do
    local value = record[names[at]]
    if value == nil then
      parts[at] = ""
    elseif types[at] == "n" then
      parts[at] = format("%.0f", value)
    elseif types[at] == "v" then
      parts[at] = S.encode(value)
    else
      parts[at] = value
    end
  end
  return concat(parts, "|")
end

function S.unpack(kind, text)
  local shape, record = shapes[kind], {}
  local names, types = shape.names, shape.types
  local values = { match(text, shape.pattern) }
  if #values ~= #names then error("the record of a '" .. kind .. "' is damaged: " .. text) end
  for at = 1, #names do
    local value = values[at]
    if value ~= "" then
      if types[at] == "n" then
        record[names[at]] = tonumber(value)
      elseif types[at] == "v" then
        record[names[at]] = S.decode(value)
      else
        record[names[at]] = value
      end
    end
  end
  return record
end

-- Forgets what a call before this one has read, and where its keys were.
function S.clear(keys)
  S.keys, S.rows, S.texts, S.dirty, S.sets = {}, {}, {}, {}, {}
  for at, name in ipairs(S.key_names) do S.keys[name] = keys[at] end
  for kind in pairs(S.record_fields) do
    S.rows[kind], S.texts[kind], S.dirty[kind] = {}, {}, {}
  end
  S.notes = nil
end

-- The record of an id, or nil. Only `S.change` gives one that may be changed.
function S.get(kind, id)
  local row = S.rows[kind][id]
  if row == nil then
    local text = redis.call("HGET", S.keys[kind], id)
    row = text and S.unpack(kind, text)
    S.rows[kind][id], S.texts[kind][id] = row, text
  end
  return row or nil
end

-- Reads what a call will surely ask for, in as few commands as may be.
function S.prefetch(kind, ids)
  local rows, known = S.rows[kind], S.texts[kind]
  for first = 1, #ids, FIELDS_PER_READING do
    local last = math.min(first + FIELDS_PER_READING - 1, #ids)
    local texts = redis.call("HMGET", S.keys[kind], unpack(ids, first, last))
    for at = first, last do
      local id, text = ids[at], texts[at - first + 1]
      if rows[id] == nil then rows[id], known[id] = text and S.unpack(kind, text), text end
    end
  end
end

local function copy(record)
  if not record then return false end
  local same = {}
  for name, value in pairs(record) do same[name] = value end
  return same
end

local function note(kind, id)
  if S.notes then
    S.notes[#S.notes + 1] = { kind = kind, id = id, row = copy(S.rows[kind][id]), dirty = S.dirty[kind][id] }
  end
end

-- Puts a record in, in place of the one that the id had.
function S.put(kind, id, record)
  if S.rows[kind][id] == nil then S.get(kind, id) end
  note(kind, id)
  S.rows[kind][id], S.dirty[kind][id] = record, true
end

-- Puts in the record of an id that surely has none, without looking.
function S.add(kind, id, record)
  if S.rows[kind][id] == nil then S.rows[kind][id], S.texts[kind][id] = false, false end
  S.put(kind, id, record)
end

-- The record of an id, to be changed; nil where there is none. Lists within it are replaced, not changed.
function S.change(kind, id)
  local record = S.get(kind, id)
  if record then
    note(kind, id)
    S.dirty[kind][id] = true
  end
  return record
end

-- Takes the record of an id out.
function S.remove(kind, id)
  if S.rows[kind][id] == nil then S.get(kind, id) end
  note(kind, id)
  S.rows[kind][id], S.dirty[kind][id] = false, true
end

-- Starts to note changes of rows and sets.
function S.note_changes()
  S.notes = {}
end

-- Keeps what was changed and notes no more.
function S.keep_changes()
  S.notes = nil
end

-- Takes back what was changed since `S.note_changes`, last change first.
function S.take_back()
  local notes = S.notes
  S.notes = nil
  for at = #notes, 1, -1 do
    local before = notes[at]
    if before.kind then
      S.rows[before.kind][before.id], S.dirty[before.kind][before.id] = before.row, before.dirty
    else
      S.mark_member(before.set, before.member, before.list, before.before)
    end
  end
end
