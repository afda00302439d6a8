-- What is remembered of operations, so that one id has one effect and one answer. As
-- `core/src/operations.rs`, but that every outcome is kept in place: the log may be trimmed.
--
-- The hash `operations` has the receipts by id; the list `operations_by` has them in the order of their
-- stamps, as stamp, last sequence and id, so that the oldest are forgotten first.

-- How many records one operation pushes out at most, so that no call waits for a day's worth of them.
-- Where operations_max stays as it is, that is seen nowhere: what left the window is not found.
local FORGOTTEN_MAX = 64

local number = S.number

local function key_of(namespace, id)
  return namespace == "" and id or namespace .. " " .. id
end

S.operation_key = key_of

function S.clear_operations()
  S.remembered, S.pushed_out, S.oldest_operations = {}, {}, {}
  S.remembered_count, S.operations_before, S.operations_count, S.oldest = 0, nil, nil, nil
end

local function count()
  if not S.operations_count then
    S.operations_before = redis.call("LLEN", S.key("operations_by"))
    S.note_type("operations_by")
    S.operations_count = S.operations_before
  end
  return S.operations_count
end

-- The stamp, last sequence and id of the oldest that is remembered, or nil.
local function oldest()
  if S.oldest then return S.oldest end
  local place, stored = #S.pushed_out + 1, S.oldest_operations
  if place > #stored and #stored < S.operations_before then
    local last = place == 1 and 0 or place + FORGOTTEN_MAX
    stored = redis.call("LRANGE", S.key("operations_by"), "0", number(last))
    S.oldest_operations = stored
  end
  -- Behind those of before the call come those that it remembered itself.
  local element = stored[place] or S.remembered[place - #stored]
  if not element then return nil end
  local at, sequence_last, key = string.match(element, "^(%d+) (%d+) (.*)$")
  S.oldest = { at = tonumber(at), sequence_last = tonumber(sequence_last), key = key, element = element }
  return S.oldest
end

-- The stamp up to which ids may have been forgotten.
local function horizon(now)
  return math.max(now - S.settings.window_ms, 0, S.meta.forgotten_at)
end

-- What is known of an id by its key, or nil.
function S.find_operation(key, now)
  local record = S.text_of("operations", key) and S.get("operations", key)
  if record and record.at + S.settings.window_ms > now then return record end
end

-- Whether a new id would push one out that must not be forgotten yet.
function S.is_full(now)
  if count() < S.settings.operations_max then return false end
  local first = oldest()
  return not first or first.at + S.settings.window_ms_min > now
end

-- Keeps the receipt of an operation, whose last event is `sequence_last`, and forgets what left the window or
-- has no room.
function S.remember(operation, at, sequence_last, receipt)
  S.put_text("operations", operation.key, receipt)
  local place = S.remembered_count + 1
  S.remembered[place] = number(at) .. " " .. number(sequence_last) .. " " .. operation.key
  S.remembered_count, S.operations_count = place, count() + 1
  S.forget_operations(at)
end

function S.forget_operations(now)
  local settings = S.settings
  for _ = 1, FORGOTTEN_MAX do
    local first = oldest()
    if not first then return end
    local over = first.at + settings.window_ms <= now
    local crowded = S.operations_count > settings.operations_max and first.at + settings.window_ms_min <= now
    if not over and not crowded then return end
    if not over then S.meta.forgotten_at = first.at end
    S.pushed_out[#S.pushed_out + 1] = first.element
    S.oldest = nil
    S.operations_count = S.operations_count - 1
    local record = S.get("operations", first.key)
    -- The id may have been used again since.
    if record and record.sequence_last == first.sequence_last then S.remove("operations", first.key) end
  end
end

-- An id that carries a time from before the window may have been used and forgotten. One from too far ahead
-- is refused at once, for it would be forgotten before its time had come. Gives the refusal, or nil.
function S.check_age(id, made_at, now)
  if not made_at then return nil end
  local first, lead = horizon(now), math.floor(S.settings.window_ms_min / 10)
  if made_at > now + lead then
    return S.outcome("INVALID", "ID", "carries a time ahead of the clock; set the clock that it was made by")
  end
  if made_at <= first + lead then return S.outcome("ID_EXPIRED", id, now - first) end
end

function S.plan_operations(plan, add_step, each_piece)
  local key, taken = S.key("operations_by"), math.min(#S.pushed_out, #S.oldest_operations)
  local added, back = S.remembered, {}
  if #S.pushed_out > taken then
    added = {}
    for at = #S.pushed_out - taken + 1, #S.remembered do added[#added + 1] = S.remembered[at] end
  end
  for at = taken, 1, -1 do back[#back + 1] = S.pushed_out[at] end
  each_piece(added, function(piece)
    local function inverses() return { { "RPOP", key, number(#piece) } } end
    add_step(plan, "operations_by", { "RPUSH", key, unpack(piece) }, inverses)
  end)
  if taken > 0 then
    local function inverses() return { { "LPUSH", key, unpack(back) } } end
    add_step(plan, "operations_by", { "LPOP", key, number(taken) }, inverses)
  end
end
