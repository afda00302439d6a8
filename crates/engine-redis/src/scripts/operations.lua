-- What is remembered of operations, so that one id has one effect and one answer. As
-- `core/src/operations.rs`, but that every outcome is kept in place: the log may be trimmed.
--
-- The hash `operations` has the receipts by id, and what came with a move by a hash of the id (`moved.rs`); the list
-- `operations_by` has the ids in the order of their stamps, so that the oldest are forgotten first. Those of one call whose last sequences follow each other are one element: stamp, sequence
-- and number of the first, and the ids a line each. Numbers go up by one with each id, so both ends say how many there are.

-- How many records one operation pushes out at most, so that no call waits for a day's worth of them.
-- Where operations_max stays as it is, that is seen nowhere: what left the window is not found.
local FORGOTTEN_MAX = 64

local number = encoding.number

local function key_of(namespace, id)
  return namespace == "" and id or namespace .. " " .. id
end

operations.key_of = key_of

-- The key of an operation without an id, by where its first step was logged. No id begins with a space.
local function key_of_begun(begun)
  return " " .. begun
end

-- The elements that the call has added, as groups: `at`, `sequence` and `ordinal` of the first id, and the `keys` of all, of which
-- so many are `forgotten` already. And those that it has read of the oldest, of which so many are taken off.
local added, read, taken_off = {}, {}, 0

-- How many elements the list had before the call; the numbers of the oldest id and of the next one; the group that has the
-- oldest, and of that id stamp and last sequence. Nil while not known.
local elements_before, first_ordinal, next_ordinal, front, oldest_at, oldest_sequence

-- Forgets what a call before this one has read and changed.
function operations.clear()
  added, read, taken_off = {}, {}, 0
  elements_before, first_ordinal, next_ordinal, front, oldest_at, oldest_sequence = nil, nil, nil, nil, nil, nil
end

-- Goes on with what the last call has left, where the list is as that has left it.
function operations.resume(left)
  if not left.is_known then return end
  first_ordinal, next_ordinal = left.first_ordinal, left.next_ordinal
  oldest_at, oldest_sequence = left.oldest_at, left.oldest_sequence
end

-- Leaves the next call what it can go on with, if it is known.
function operations.leave(left)
  left.is_known = next_ordinal and oldest_at and true
  left.first_ordinal, left.next_ordinal = first_ordinal, next_ordinal
  left.oldest_at, left.oldest_sequence = oldest_at, oldest_sequence
end

-- An element taken apart, its ids in one text.
local function group_of(element)
  local at, sequence, ordinal, lines = string.match(element, "^(%d+) (%d+) (%d+) ()")
  if not lines then error("the list of operations is damaged: " .. element, 0) end
  return { at = at + 0, sequence = sequence + 0, ordinal = ordinal + 0, forgotten = 0, element = element, lines = lines }
end

-- The ids of a group.
local function keys_of(group)
  local keys = group.keys
  if keys then return keys end
  keys = {}
  for key in string.gmatch(string.sub(group.element, group.lines), "[^\n]+") do keys[#keys + 1] = key end
  group.keys = keys
  return keys
end

-- The element of a group, without the ids that are forgotten.
local function element_of(group)
  local gone = group.forgotten
  return number(group.at) .. " " .. number(group.sequence + gone) .. " " .. number(group.ordinal + gone) .. " "
    .. table.concat(keys_of(group), "\n", gone + 1)
end

local function count()
  if not elements_before then
    local key = records.key("operations_by")
    elements_before = records.note_type("operations_by") or redis.call("LLEN", key)
    if elements_before == 0 then
      first_ordinal, next_ordinal, oldest_at = 0, 0, nil
    elseif not next_ordinal then
      first_ordinal = group_of(redis.call("LINDEX", key, "0")).ordinal
      local last = group_of(redis.call("LINDEX", key, "-1"))
      next_ordinal = last.ordinal + #keys_of(last)
    end
  end
  return next_ordinal - first_ordinal
end

-- The group that has the oldest id, or nil.
local function oldest_group()
  if front and front.forgotten < #keys_of(front) then return front end
  if front then taken_off = taken_off + 1 end
  if taken_off == #read and #read < elements_before then
    local last = taken_off == 0 and 0 or taken_off + FORGOTTEN_MAX
    local elements = redis.call("LRANGE", records.key("operations_by"), number(taken_off), number(last))
    for at = 1, #elements do read[#read + 1] = group_of(elements[at]) end
  end
  -- Behind those of before the call come those that it remembered itself.
  front = read[taken_off + 1] or added[taken_off + 1 - #read]
  return front
end

-- Stamp and last sequence of the oldest id; nil where there is none.
local function oldest()
  if not oldest_at then
    local group = oldest_group()
    if not group then return nil end
    oldest_at, oldest_sequence = group.at, group.sequence + group.forgotten
  end
  return oldest_at, oldest_sequence
end

-- The stamp up to which ids may have been forgotten.
local function horizon(now)
  return math.max(now - settings.window_ms, 0, call.meta.forgotten_at)
end

-- When a record would have been made by the clock of today: after the clock was put back, all that is from before
-- counts as made then, at the latest.
local function made_at(at, sequence_last)
  local moved = call.meta.moved
  if moved and sequence_last <= moved.sequence then return math.min(at, moved.to) end
  return at
end

evolve["clock.moved"] = function(moved)
  local meta = call.meta
  meta.moved = { sequence = meta.sequence, to = moved.to_ms }
  -- Ids that carry a time are refused up to here, which the clock must be able to pass.
  meta.forgotten_at = math.min(meta.forgotten_at, moved.to_ms)
end

-- Puts what is known of ids that came with a move, and is kept by a hash of them, where it would be by their texts, so that all that
-- follows finds it there. `places` has texts and hashes by turns. What is out of the window stays away, so that no call writes to
-- a place that has such a record.
function operations.bring(places)
  local texts, now = records.texts("operations"), math.max(call.meta.now, call.clock)
  local missing = {}
  for at = 1, #places do
    if texts[places[at]] == nil then missing[#missing + 1] = places[at] end
  end
  records.prefetch("operations", missing)
  for at = 1, #places, 2 do
    local text, hashed = places[at], places[at + 1]
    local record = texts[text] == false and texts[hashed] and records.get("operations", hashed)
    if record and made_at(record.at, record.sequence_last) + settings.window_ms > now then texts[text] = texts[hashed] end
  end
end

-- What is known of an id by its key, or nil.
function operations.find(key, now)
  local record = records.text_of("operations", key) and records.get("operations", key)
  if record and made_at(record.at, record.sequence_last) + settings.window_ms > now then return record end
end

-- How long no new id can be remembered, because it would push one out that must not be forgotten yet; nil where one can.
function operations.wait_ms(now)
  if count() < settings.operations_max then return nil end
  local at, sequence = oldest()
  local made = at and made_at(at, sequence) or now
  local wait_ms = made + settings.window_ms_min - now
  return wait_ms > 0 and wait_ms or nil
end

-- How many ids can be remembered at a time: where there is no room, each pushes the oldest out.
function operations.room(now)
  local room = settings.operations_max - count()
  return room > 0 and room or operations.wait_ms(now) and 0 or 1
end

-- Forgets the oldest that left the window or have no room, for so many operations that were remembered.
local function forget(now, remembered)
  for _ = 1, FORGOTTEN_MAX * remembered do
    local at, sequence = oldest()
    if not at then return end
    local made = made_at(at, sequence)
    local over = made + settings.window_ms <= now
    local crowded = count() > settings.operations_max and made + settings.window_ms_min <= now
    if not over and not crowded then return end
    if not over then call.meta.forgotten_at = made end
    local group = oldest_group()
    group.forgotten, first_ordinal, oldest_at = group.forgotten + 1, first_ordinal + 1, nil
    local key = keys_of(group)[group.forgotten]
    local record = records.get("operations", key)
    -- The id may have been used again since.
    if record and record.sequence_last == sequence then records.remove("operations", key) end
  end
end

-- The group for ids from a stamp and last sequence on, and how many it has.
local function open_group(at, sequence)
  local group = added[#added]
  if group and group.at == at and group.sequence + #group.keys == sequence then return group.keys, #group.keys end
  count()
  group = { at = at, sequence = sequence, ordinal = next_ordinal, keys = {}, forgotten = 0 }
  added[#added + 1] = group
  return group.keys, 0
end

-- The keys for a run of operations of one event each, and how many there are.
operations.open_keys = open_group

-- Takes the keys back, with so many more, and forgets what left the window or has no room.
function operations.close_keys(remembered, now)
  next_ordinal = next_ordinal + remembered
  forget(now, remembered)
end

-- Keeps the receipt of an operation, whose last event is `sequence_last`, and forgets what left the window or
-- has no room.
function operations.remember(key, at, sequence_last, receipt)
  records.put_text("operations", key, receipt)
  local keys, keys_count = open_group(at, sequence_last)
  keys[keys_count + 1] = key
  operations.close_keys(1, at)
end

-- Keeps the receipt of an operation without an id that another caller began, who will ask for it.
function operations.remember_end(begun, at, sequence_last, receipt)
  operations.remember(key_of_begun(begun), at, sequence_last, receipt)
end

-- The receipt of an operation that had further steps and has ended, by where its first one was logged; nil where it
-- is not known.
function operations.end_of(begun, namespace, id)
  local key = id and key_of(namespace, id) or key_of_begun(begun)
  local text = records.text_of("operations", key)
  local _, sequence = string.match(begun, "^(%d+) (%d+)$")
  -- An id may have been used before.
  if text and records.get("operations", key).sequence_last > tonumber(sequence) then return text end
end

-- An id that carries a time from before the window may have been used and forgotten. One from too far ahead
-- is refused at once, for it would be forgotten before its time had come. Gives the refusal, or nil.
function operations.check_age(id, made_at, now)
  if not made_at then return nil end
  local first, lead = horizon(now), settings.id_lead_ms_max
  if made_at > now + lead then
    return outcomes.new(codes.INVALID, "ID", "carries a time ahead of the clock; set the clock that it was made by")
  end
  if made_at <= first + lead then return outcomes.new(codes.ID_EXPIRED, id, now - first) end
end

-- What the call takes off the list, the oldest first, and the group of which it takes a part.
local function taken()
  local gone, part = {}, nil
  for at = 1, #read do
    local group = read[at]
    if group.forgotten > 0 and group.forgotten == #keys_of(group) then
      gone[at] = group.element
    elseif group.forgotten > 0 then
      part = group
    end
  end
  return gone, part
end

local PUSHING = { back = function(write, length) return { { "RPOP", write[2], number(length - 2) } } end }
local SHORTENING = { back = function(write, _, element) return { { "LSET", write[2], write[3], element } } end }
local TAKING_OFF = {
  back = function(write, _, gone)
    local words = { "LPUSH", write[2] }
    for at = #gone, 1, -1 do words[#words + 1] = gone[at] end
    return { words }
  end,
}

local function plan_taken(add_step, key)
  local gone, part = taken()
  if part then
    add_step("operations_by", { "LSET", key, number(#gone), element_of(part) }, 4, SHORTENING, part.element)
  end
  if #gone > 0 then add_step("operations_by", { "LPOP", key, number(#gone) }, 3, TAKING_OFF, gone) end
end

-- Plans what the call changes of the list. What it has added and taken off again was never in it.
function operations.plan(add_step, each_piece)
  local key, kept = records.key("operations_by"), nil
  for at = 1, #added do
    local group = added[at]
    if group.forgotten < #group.keys then
      kept = kept or {}
      kept[#kept + 1] = element_of(group)
    end
  end
  if kept then
    each_piece(kept, function(piece)
      add_step("operations_by", { "RPUSH", key, unpack(piece) }, #piece + 2, PUSHING)
    end)
  end
  if #read > 0 then plan_taken(add_step, key) end
end
