-- What is remembered of operations, so that one id has one effect and one answer. As
-- `core/src/operations.rs`, but that every outcome is kept in place: the log may be trimmed.
--
-- The hash `operations` has the receipts by id; the list `operations_by` has them in the order of their
-- stamps, as stamp, last sequence and id, so that the oldest are forgotten first.

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

-- Elements of the list: those that the call has added and taken off, and those that it has read of the oldest.
local added, added_count, taken_off, read = {}, 0, {}, {}

-- How many elements the list had before the call and has now, and the oldest of them; nil while not known.
local count_before, count_now, oldest_now

-- Forgets what a call before this one has read and changed.
function operations.clear()
  added, added_count, taken_off, read = {}, 0, {}, {}
  count_before, count_now, oldest_now = nil, nil, nil
end

-- Goes on with what the last call has left, where the list is as that has left it: which element is the oldest.
function operations.resume(oldest_left)
  oldest_now = oldest_left
end

-- The oldest element that the call leaves, where it is known.
function operations.oldest_left()
  return oldest_now
end

local function count()
  if not count_now then
    count_before = records.note_type("operations_by") or redis.call("LLEN", records.key("operations_by"))
    count_now = count_before
  end
  return count_now
end

-- The stamp, last sequence and id of the oldest that is remembered, or nil.
local function oldest()
  if oldest_now then return oldest_now end
  local place = #taken_off + 1
  if place > #read and #read < count_before then
    local last = place == 1 and 0 or place + FORGOTTEN_MAX
    read = redis.call("LRANGE", records.key("operations_by"), "0", number(last))
  end
  -- Behind those of before the call come those that it remembered itself.
  local element = read[place] or added[place - #read]
  if not element then return nil end
  local at, sequence_last, key = string.match(element, "^(%d+) (%d+) (.*)$")
  oldest_now = { at = tonumber(at), sequence_last = tonumber(sequence_last), key = key, element = element }
  return oldest_now
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

-- What is known of an id by its key, or nil.
function operations.find(key, now)
  local record = records.text_of("operations", key) and records.get("operations", key)
  if record and made_at(record.at, record.sequence_last) + settings.window_ms > now then return record end
end

-- How long no new id can be remembered, because it would push one out that must not be forgotten yet; nil where one can.
function operations.wait_ms(now)
  if count() < settings.operations_max then return nil end
  local first = oldest()
  local made = first and made_at(first.at, first.sequence_last) or now
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
    local first = oldest()
    if not first then return end
    local made = made_at(first.at, first.sequence_last)
    local over = made + settings.window_ms <= now
    local crowded = count_now > settings.operations_max and made + settings.window_ms_min <= now
    if not over and not crowded then return end
    if not over then call.meta.forgotten_at = made end
    taken_off[#taken_off + 1] = first.element
    oldest_now, count_now = nil, count_now - 1
    local record = records.get("operations", first.key)
    -- The id may have been used again since.
    if record and record.sequence_last == first.sequence_last then records.remove("operations", first.key) end
  end
end

-- The list for a run of operations, whose elements are added behind those that it has: so many.
function operations.open_list()
  return added, added_count
end

-- Takes the list back, with the elements that it has now, and forgets what left the window or has no room.
function operations.close_list(elements_count, now)
  local remembered = elements_count - added_count
  added_count, count_now = elements_count, count_now + remembered
  forget(now, remembered)
end

-- Keeps the receipt of an operation, whose last event is `sequence_last`, and forgets what left the window or
-- has no room.
function operations.remember(key, at, sequence_last, receipt)
  records.put_text("operations", key, receipt)
  added_count, count_now = added_count + 1, count() + 1
  added[added_count] = number(at) .. " " .. number(sequence_last) .. " " .. key
  forget(at, 1)
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

-- Plans what the call changes of the list. What it has added and taken off again was never in it.
function operations.plan(plan, add_step, each_piece)
  local key, taken = records.key("operations_by"), math.min(#taken_off, #read)
  local kept, back = added, {}
  if #taken_off > taken then
    kept = {}
    for at = #taken_off - taken + 1, #added do kept[#kept + 1] = added[at] end
  end
  for at = taken, 1, -1 do back[#back + 1] = taken_off[at] end
  each_piece(kept, function(piece)
    local function inverses() return { { "RPOP", key, number(#piece) } } end
    add_step(plan, "operations_by", { "RPUSH", key, unpack(piece) }, inverses)
  end)
  if taken > 0 then
    local function inverses() return { { "LPUSH", key, unpack(back) } } end
    add_step(plan, "operations_by", { "LPOP", key, number(taken) }, inverses)
  end
end
