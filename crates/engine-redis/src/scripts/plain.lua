-- The common commands by plain code: a run of them is decided, applied and logged at once, without tables for requests,
-- events and answers. What is rare about a request (an id that is known, a refusal, something due) ends the run and is left
-- to the general way, which serves it on the same rows, so that a call may have both. Both ways write the same bytes:
-- `redis_ways.rs` compares.

local HEAD_VALUES, WRITE = constants.HEAD_VALUES, request_kinds.WRITE

local max, min, sub = math.max, math.min, string.sub
local number = encoding.number

-- Whether a resource has records whose deadline has passed.
function plain.is_due(kind, resource, now)
  return deadlines.due_of(kind, resource, now, 1)[1] ~= nil
end

-- By number of the command: what carries it out, and how many values it has.
local functions, sizes_of

local function link()
  functions, sizes_of = {}, {}
  for number_of, spec in pairs(commands) do
    functions[number_of], sizes_of[number_of] = carry_out[spec.name], HEAD_VALUES + spec.size
  end
end

-- Whether an operation's options leave it to the general way: it is too late, or its id too old.
local function is_late(id, made_at, deadline, now)
  return deadline and now >= deadline or made_at and operations.check_age(id, made_at, now)
end

-- The last three digits of numbers.
local last_digits = {}
for low = 0, 999 do last_digits[low] = string.format("%03d", low) end

-- Serves the requests from a place of the values on, while they are as common as their commands, and up to so many events.
-- Adds their receipts to those that there are; gives the place behind them, and how many receipts there are then.
function plain.serve(values, at, receipts, count, events_max)
  if values[at] ~= WRITE then return at, count end
  if not functions then link() end
  if not functions[values[at + HEAD_VALUES]] then return at, count end
  local meta = call.meta
  local now, before = max(meta.now, call.clock), meta.sequence
  local room = min(events_max, operations.room(now))
  if room <= 0 then return at, count end
  for _, run in ipairs(runs) do run.begin() end
  local known, changed, write, words = records.added("operations")
  local elements, element_count = operations.open_list()
  local list, length = log.open_list()
  local now_text, sequence, thousands, thousands_text = number(now), before, false, false
  local front, middle, by = "|" .. now_text .. "|", log.middle_of(1, meta.epoch, codes.APPLIED) .. "[", now_text .. " "
  while values[at] == WRITE and room > 0 do
    local namespace, id, made_at, deadline = values[at + 1], values[at + 2], values[at + 4], values[at + 5]
    local place = at + HEAD_VALUES
    local command = values[place]
    local function_of = functions[command]
    if not function_of or not id or (made_at or deadline) and is_late(id, made_at, deadline, now) then break end
    local key = namespace == "" and id or namespace .. " " .. id
    if known[key] ~= false or changed[key] ~= nil then break end
    list[length + 1] = key
    list[length + 2] = false
    list[length + 3] = 1
    local last, first, second, third = function_of(values, place, now, id, list, length + 3)
    if not last then
      list[length + 3], list[length + 2], list[length + 1] = nil, nil, nil
      break
    end
    sequence = sequence + 1
    local low = sequence % 1000
    if sequence - low ~= thousands then
      thousands = sequence - low
      thousands_text = thousands > 0 and sub(number(thousands), 1, -4) or ""
    end
    local low_text = thousands > 0 and last_digits[low] or number(low)
    local receipt = values[at + 3] .. front .. thousands_text .. low_text .. middle .. number(first) .. ","
      .. (second and number(second) or "null") .. (third and "," .. number(third) or "") .. "]"
    list[length + 2] = receipt
    known[key], write[words + 1], write[words + 2] = receipt, key, receipt
    element_count, words, count = element_count + 1, words + 2, count + 1
    elements[element_count] = by .. thousands_text .. low_text .. " " .. key
    receipts[count] = receipt
    room, length, at = room - 1, last, at + sizes_of[command]
  end
  if sequence > before then
    call.now, meta.now = now, now
    for _, run in ipairs(runs) do run.finish() end
    records.note_added("operations", words)
    log.close_list(length, sequence - before)
    operations.close_list(element_count, now)
  end
  return at, count
end
