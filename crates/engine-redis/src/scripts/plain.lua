-- The common commands by plain code: decided, applied and logged at once, without tables for the request, its event and
-- its answer. What is rare about a request (an id that is known, a refusal, something due) is left to the general way,
-- which serves it on the same rows, so that a call may have both. Both ways write the same bytes: `redis_ways.rs` compares.

local HEAD_VALUES, WRITE = constants.HEAD_VALUES, request_kinds.WRITE

local max = math.max
local text_of, key_of, wait_ms = records.text_of, operations.key_of, operations.wait_ms

-- Whether a resource has records whose deadline has passed.
function plain.is_due(kind, resource, now)
  return deadlines.due_of(kind, resource, now, 1)[1] ~= nil
end

-- By number of the command: what carries it out, and how many values it has.
local functions, sizes_of

local function link()
  functions, sizes_of = {}, {}
  for number, spec in pairs(commands) do
    functions[number], sizes_of[number] = carry_out[spec.name], spec.size
  end
end

-- Serves the request at a place of the values, where it is as common as its command. Gives its receipt and the place
-- behind it, or nothing where it has changed nothing.
function plain.serve(values, at)
  if values[at] ~= WRITE then return nil end
  if not functions then link() end
  local id, place = values[at + 2], at + HEAD_VALUES
  local command = values[place]
  local function_of = functions[command]
  if not function_of or not id then return nil end
  local meta, made_at, deadline = call.meta, values[at + 4], values[at + 5]
  local now = max(meta.now, call.clock)
  if deadline and now >= deadline then return nil end
  if made_at and operations.check_age(id, made_at, now) then return nil end
  local key = key_of(values[at + 1], id)
  if text_of("operations", key) or wait_ms(now) then return nil end
  local last, events_of, first, second, third = function_of(values, place, key, now, id)
  if not last then return nil end
  call.now, meta.now = now, now
  return log.end_entry(key, values[at + 3], last, events_of, first, second, third), place + sizes_of[command]
end
