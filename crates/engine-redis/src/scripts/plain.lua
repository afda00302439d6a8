-- The common commands by plain code: a run of them is decided, applied and logged at once, without tables for requests,
-- events and answers. What is rare about a request (an id that is known, a refusal, something due) ends the run and is left
-- to the general way, which serves it on the same rows, so that a call may have both. Both ways write the same bytes:
-- `redis_ways.rs` compares.

local HEAD_VALUES, SHORT_PLACE, WRITE = constants.HEAD_VALUES, constants.SHORT_VALUES - 1, request_kinds.WRITE

local max, min = math.max, math.min
local number, thousands_text = encoding.number, encoding.thousands
local last_digits, first_digits = encoding.last_digits, encoding.first_digits
local fronts, before_comma, before_end = encoding.packed_fronts, encoding.last_digits_with(","), encoding.last_digits_with("]")

-- Whether a resource has records whose deadline has passed.
function plain.is_due(kind, resource, now)
  return deadlines.due_of(kind, resource, now, 1)[1] ~= nil
end

-- What carries a command out, by its number; and how many values that command is with its arguments, and what it makes
-- is in the log, with key and head.
local functions, sizes_of, logged_of

local function link()
  functions, sizes_of, logged_of = {}, {}, {}
  for number_of, spec in pairs(commands) do
    local way = carry_out[spec.name]
    if way then
      functions[number_of], sizes_of[way.decide], logged_of[way.decide] = way.decide, spec.size, 2 + way.values
    end
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
  for at_run = 1, #runs do runs[at_run].begin() end
  local known, changed, write, words = records.added("operations")
  local keys, key_count = operations.open_keys(now, before + 1)
  local pieces, pieces_count = log.open_pieces()
  local logged, served, size, weight = 0, nil, nil, nil
  local sequence, thousands, digits_of = before, false, last_digits
  local stamped, front = "|" .. number(now) .. "|", false
  local middle = log.middle_of(1, meta.epoch, codes.APPLIED) .. "["
  local balance_thousands, balance_text
  while room > 0 do
    local function_of, place, key, id, fingerprint = functions[values[at]], at + SHORT_PLACE, values[at + 1], nil, nil
    if function_of then
      id, fingerprint = key, values[place]
    else
      function_of, place, key, id, fingerprint = long_form(values, at, now)
      if not function_of then break end
    end
    if known[key] ~= false or changed[key] ~= nil then break end
    local event, last_field, first, second, third = function_of(values, place, now, id)
    if not event then break end
    if function_of ~= served then served, size, weight = function_of, sizes_of[function_of], logged_of[function_of] end
    sequence = sequence + 1
    local low, receipt = sequence % 1000, nil
    if sequence - low ~= thousands then
      thousands = sequence - low
      digits_of = thousands > 0 and last_digits or first_digits
      front = stamped .. (thousands > 0 and thousands_text(thousands / 1000) or "")
    end
    if first == second and first >= 1000 and not third then
      local digits = first % 1000
      if first - digits ~= balance_thousands then
        balance_thousands = first - digits
        balance_text = thousands_text(balance_thousands / 1000)
      end
      receipt = fingerprint .. front .. digits_of[low] .. middle .. balance_text .. before_comma[digits] .. balance_text
        .. before_end[digits]
    else
      receipt = fingerprint .. front .. digits_of[low] .. middle .. number(first) .. "," .. (second and number(second) or "null")
        .. (third and "," .. number(third) .. "]" or "]")
    end
    pieces_count, key_count, count = pieces_count + 1, key_count + 1, count + 1
    pieces[pieces_count] = fronts[#key] .. key .. fronts[#receipt] .. receipt .. event .. last_field
    known[key], write[words + 1], write[words + 2] = receipt, key, receipt
    keys[key_count] = key
    receipts[count] = receipt
    room, logged, words, at = room - 1, logged + weight, words + 2, place + size
  end
  for at_run = 1, #runs do runs[at_run].finish() end
  if sequence > before then
    call.now, meta.now = now, now
    records.note_added("operations", words)
    log.close_pieces(pieces_count, sequence - before, logged)
    operations.close_keys(sequence - before, now)
  end
  return at, count
end
