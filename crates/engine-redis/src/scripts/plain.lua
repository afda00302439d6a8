-- The common commands by plain code: a run of them is decided, applied and logged at once, without tables for requests,
-- events and answers. What is rare about a request (an id that is known, a refusal, something due) ends the run and is left
-- to the general way, which serves it on the same rows, so that a call may have both. Both ways write the same bytes:
-- `redis_ways.rs` compares.

local HEAD_VALUES, SHORT_PLACE, WRITE = constants.HEAD_VALUES, constants.SHORT_VALUES - 1, request_kinds.WRITE

local max, min = math.max, math.min
local number, thousands_text = encoding.number, encoding.thousands
local last_digits, first_digits = encoding.last_digits, encoding.first_digits

-- Whether a resource has records whose deadline has passed.
function plain.is_due(kind, resource, now)
  return deadlines.due_of(kind, resource, now, 1)[1] ~= nil
end

-- What carries a command out, by its number, and how many values that command is with its arguments.
local functions, sizes_of

local function link()
  functions, sizes_of = {}, {}
  for number_of, spec in pairs(commands) do
    local function_of = carry_out[spec.name]
    if function_of then functions[number_of], sizes_of[function_of] = function_of, spec.size end
  end
end

-- Whether an operation's options leave it to the general way: it is too late, or its id too old.
local function is_late(id, made_at, deadline, now)
  return deadline and now >= deadline or made_at and operations.check_age(id, made_at, now)
end

-- What carries out a request that says more than a short one, the place of its command, the key of its operation, id and
-- content hash; nothing where it is left to the general way.
local function long_form(values, at, now)
  if values[at] ~= WRITE then return nil end
  local namespace, id, made_at, deadline = values[at + 1], values[at + 2], values[at + 4], values[at + 5]
  local function_of = functions[values[at + HEAD_VALUES]]
  if not function_of or not id or (made_at or deadline) and is_late(id, made_at, deadline, now) then return nil end
  return function_of, at + HEAD_VALUES, namespace == "" and id or namespace .. " " .. id, id, values[at + 3]
end

-- Serves the requests from a place of the values on, while they are as common as their commands, and up to so many events.
-- Adds their receipts to those that there are; gives the place behind them, and how many receipts there are then.
function plain.serve(values, at, receipts, count, events_max)
  if not functions then link() end
  if not functions[values[at]] and (values[at] ~= WRITE or not functions[values[at + HEAD_VALUES]]) then return at, count end
  local meta = call.meta
  local now, before = max(meta.now, call.clock), meta.sequence
  local room = min(events_max, operations.room(now))
  if room <= 0 then return at, count end
  for _, run in ipairs(runs) do run.begin() end
  local known, changed, write, words = records.added("operations")
  local keys, key_count = operations.open_keys(now, before + 1)
  local list, length = log.open_list()
  local sequence, thousands, digits_of = before, false, last_digits
  local stamped, front = "|" .. number(now) .. "|", false
  local middle = log.middle_of(1, meta.epoch, codes.APPLIED) .. "["
  while room > 0 do
    local function_of, place, key, id, fingerprint = functions[values[at]], at + SHORT_PLACE, values[at + 1], nil, nil
    if function_of then
      id, fingerprint = key, values[place]
    else
      function_of, place, key, id, fingerprint = long_form(values, at, now)
      if not function_of then break end
    end
    if known[key] ~= false or changed[key] ~= nil then break end
    list[length + 1] = key
    list[length + 2] = false
    local last, first, second, third = function_of(values, place, now, id, list, length + 3)
    if not last then
      list[length + 2], list[length + 1] = nil, nil
      break
    end
    sequence = sequence + 1
    local low = sequence % 1000
    if sequence - low ~= thousands then
      thousands = sequence - low
      local text = thousands > 0 and thousands_text(thousands / 1000) or ""
      digits_of = thousands > 0 and last_digits or first_digits
      front = stamped .. text
    end
    local low_text, first_text, first_low = digits_of[low], "", nil
    if first < 1000 then
      first_low = number(first)
    else
      local digits = first % 1000
      first_text, first_low = thousands_text((first - digits) / 1000), last_digits[digits]
    end
    local receipt
    if second == first and not third then
      receipt = fingerprint .. front .. low_text .. middle .. first_text .. first_low .. "," .. first_text .. first_low .. "]"
    else
      receipt = fingerprint .. front .. low_text .. middle .. first_text .. first_low .. ","
        .. (second and number(second) or "null") .. (third and "," .. number(third) .. "]" or "]")
    end
    list[length + 2] = receipt
    key_count, count = key_count + 1, count + 1
    known[key], write[words + 1], write[words + 2] = receipt, key, receipt
    keys[key_count] = key
    receipts[count] = receipt
    room, length, words, at = room - 1, last, words + 2, place + sizes_of[function_of]
  end
  if sequence > before then
    call.now, meta.now = now, now
    for _, run in ipairs(runs) do run.finish() end
    records.note_added("operations", words)
    log.close_list(length, sequence - before)
    operations.close_keys(sequence - before, now)
  end
  return at, count
end
