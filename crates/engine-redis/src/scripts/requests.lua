-- Requests as they stand in a message, and what can be read before they are served.
--
-- A message's requests stand one after the other: kind, namespace, id, content hash, the time in the id or of the request, deadline,
-- packets cut for it, and a command or a list of commands. A command is its number and its arguments. A short request is the
-- number of a command that writes, id, content hash and arguments, and nothing else.

-- How many values stand before a request's command, and before the last value in front of a short one's arguments: where
-- the number stands otherwise.
local HEAD_VALUES, SHORT_PLACE = constants.HEAD_VALUES, constants.SHORT_VALUES - 1

local EXPIRE, PUT_BACK, WITHIN = request_kinds.EXPIRE, request_kinds.PUT_BACK, request_kinds.WITHIN
local WITHIN_VALUES = constants.WITHIN_VALUES

local function not_sequenced()
  outcomes.refuse(codes.INVALID, "command", "is answered on its own, not sequenced in a batch")
end

local function not_read()
  outcomes.refuse(codes.INVALID, "command", "changes state; it must be submitted")
end

-- Every command is decided or answered; one that is neither is the engine's own business.
decide["OPERATION.RESOLVE"] = not_sequenced
query["DIGEST"] = not_read

-- Finds, once, what is done for the commands of a row.
local function link(spec)
  spec.decision = spec.is_write and decide[spec.name] or not_sequenced
  spec.answer = spec.is_write and not_read or query[spec.name]
  return spec
end

local function spec_of(number)
  local spec = commands[number]
  return spec.decision and spec or link(spec)
end

-- The ids that a call surely asks for, by kind of record, each once; how many those are; and which.
local wanted, counts, known = {}, {}, {}

-- Forgets those of the call before. The tables are used again: to fill new ones takes longer.
local function clear_wanted()
  for kind, ids in pairs(wanted) do
    local seen = known[kind]
    for at = 1, counts[kind] do seen[ids[at]] = nil end
    counts[kind] = 0
  end
end

local function want(kind, id)
  local seen = known[kind]
  if not seen then
    seen = {}
    wanted[kind], counts[kind], known[kind] = {}, 0, seen
  end
  if seen[id] then return end
  seen[id] = true
  local count = counts[kind] + 1
  wanted[kind][count], counts[kind] = id, count
end

-- Notes what a command names whose arguments stand behind a place of the values: its row has the places of the ids, and
-- the hashes that have their records, by turns; gives the place behind it.
local function want_named(spec, values, at)
  local named = spec.named
  for place = 1, #named, 2 do
    local id = values[at + named[place]]
    if id then want(named[place + 1], id) end
  end
  return at + spec.size
end

local function want_of_lines(lines)
  for _, line in ipairs(lines) do want_named(commands[line[1]], line, 1) end
end

-- The rows of commands; none by a list of lines. And of commands that name one record: the hash that has it, the place
-- of its id behind the number, and how many values a short request with that command has.
local rows, lone_kinds, lone_places, short_sizes = {}, {}, {}, {}

local function link_rows()
  for number_of, spec in pairs(commands) do
    rows[number_of], short_sizes[number_of] = spec, SHORT_PLACE + spec.size
    if #spec.named == 2 then
      lone_places[number_of], lone_kinds[number_of] = SHORT_PLACE + spec.named[1], spec.named[2]
    end
  end
end

-- The ids by kind of record that requests for its records mostly ask for besides.
local expected = {}

-- Notes such an id; the last one counts.
function requests.expect(kind, id)
  expected[kind] = id
end

-- Notes what a request names whose command stands at a place, or its lines; gives the place behind it.
local function want_body(values, place)
  local body = values[place]
  if rows[body] then return want_named(rows[body], values, place) end
  want_of_lines(body)
  return place + 1
end

-- The keys of the operations of a message, of which those behind the last are of a longer one before.
local keys = {}

-- Notes what the requests from a place on name, and the keys of their operations; gives how many those are.
local function want_all(values, at)
  local count, kind, last_kind, last_id = 0, values[at], nil, nil
  while kind do
    local size = short_sizes[kind]
    if size then
      count = count + 1
      keys[count] = values[at + 1]
      local kind_of = lone_kinds[kind]
      if kind_of then
        local id = values[at + lone_places[kind]]
        if id and (id ~= last_id or kind_of ~= last_kind) then
          want(kind_of, id)
          last_kind, last_id = kind_of, id
        end
      else
        want_named(rows[kind], values, at + SHORT_PLACE)
      end
      at = at + size
    elseif kind == EXPIRE then
      at = at + 2
    elseif kind == PUT_BACK then
      at = at + 1
    elseif kind == WITHIN then
      at = at + WITHIN_VALUES
    else
      local namespace, id = values[at + 1], values[at + 2]
      if id then
        count = count + 1
        keys[count] = namespace == "" and id or operations.key_of(namespace, id)
      end
      at = want_body(values, at + HEAD_VALUES)
    end
    kind = values[at]
  end
  return count
end

-- Reads what the requests from a place on name, all at once.
function requests.prefetch(values, at)
  if next(rows) == nil then link_rows() end
  clear_wanted()
  records.prefetch("operations", keys, want_all(values, at))
  for kind, ids in pairs(wanted) do
    if counts[kind] > 0 then
      if expected[kind] then want(kind, expected[kind]) end
      records.prefetch(kind, ids, counts[kind])
    end
  end
end

local function command_at(values, at)
  local spec = spec_of(values[at])
  return spec.read(spec, values, at), spec.size
end

local function lines_at(body)
  local lines = {}
  for line, values in ipairs(body) do lines[line] = command_at(values, 1) end
  return lines
end

-- The request that is served. There is one at a time, so one table is enough.
local request = {}

local function read_short(values, at)
  local id = values[at + 1]
  request.command = spec_of(values[at]):read(values, at + SHORT_PLACE)
  request.kind, request.namespace, request.id, request.key = request_kinds.WRITE, "", id, id
  request.fingerprint, request.made_at, request.deadline = values[at + 2], false, false
  request.packets, request.commands = false, nil
  return request, at + SHORT_PLACE + request.command.spec.size
end

-- The request at a place of the values, and the place behind it.
function requests.read(values, at)
  request.epoch = false
  if values[at] == WITHIN then
    request.epoch = values[at + 1]
    at = at + WITHIN_VALUES
  end
  request.kind = values[at]
  if rows[request.kind] then return read_short(values, at) end
  if request.kind == request_kinds.EXPIRE then
    request.limit = values[at + 1]
    return request, at + 2
  elseif request.kind == request_kinds.PUT_BACK then
    return request, at + 1
  end
  local namespace, id, body, size = values[at + 1], values[at + 2], values[at + HEAD_VALUES], 1
  request.namespace, request.id = namespace, id
  request.key = id and operations.key_of(namespace, id)
  request.fingerprint, request.made_at, request.deadline = values[at + 3], values[at + 4], values[at + 5]
  request.packets, request.command, request.commands = values[at + 6], nil, nil
  if type(body) == "table" then
    request.commands = lines_at(body)
  else
    request.command, size = command_at(values, at + HEAD_VALUES)
  end
  return request, at + HEAD_VALUES + size
end
