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

-- The ids that a call surely asks for, by kind of record, each once; and which those are.
local wanted, known

local function lists_of(kind)
  wanted[kind], known[kind] = {}, {}
  return wanted[kind], known[kind]
end

local function want(kind, id)
  local ids, seen = wanted[kind], known[kind]
  if not ids then ids, seen = lists_of(kind) end
  if seen[id] then return end
  seen[id] = true
  ids[#ids + 1] = id
end

-- Notes what the command at a place of the values names: its row has the places of the ids, and the hashes that
-- have their records, by turns; gives the place behind it.
local function want_named(values, at)
  local spec = commands[values[at]]
  local named = spec.named
  for place = 1, #named, 2 do
    local id = values[at + named[place]]
    if id then want(named[place + 1], id) end
  end
  return at + spec.size
end

local function want_of_lines(lines)
  for _, line in ipairs(lines) do want_named(line, 1) end
end

-- The rows of commands; none by a list of lines.
local rows = {}

local function link_rows()
  for number_of, spec in pairs(commands) do rows[number_of] = spec end
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
  if rows[body] then return want_named(values, place) end
  want_of_lines(body)
  return place + 1
end

-- Notes what the requests from a place on name, and gives the keys of their operations.
local function want_all(values, at)
  local keys, count, kind = {}, 0, values[at]
  while kind do
    local spec = rows[kind]
    if spec then
      count = count + 1
      keys[count] = values[at + 1]
      at = at + SHORT_PLACE
      local named = spec.named
      for turn = 1, #named, 2 do
        local name, kind_of = values[at + named[turn]], named[turn + 1]
        local seen = known[kind_of]
        if name and not (seen and seen[name]) then want(kind_of, name) end
      end
      at = at + spec.size
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
  return keys
end

-- Reads what the requests from a place on name, all at once.
function requests.prefetch(values, at)
  if next(rows) == nil then link_rows() end
  wanted, known = {}, {}
  records.prefetch("operations", want_all(values, at))
  for kind, ids in pairs(wanted) do
    if expected[kind] then want(kind, expected[kind]) end
    records.prefetch(kind, ids)
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
