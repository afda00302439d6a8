-- Requests as they stand in a message, and what can be read before they are served.
--
-- A message's requests stand one after the other: kind, namespace, id, content hash, the time in the id or of the request, deadline,
-- packets cut for it, and a command or a list of commands. A command is its number and its arguments.

-- How many values stand before a request's command.
local HEAD_VALUES = constants.HEAD_VALUES

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

-- The ids that a call surely asks for, by kind of record, each once.
local wanted, known

local function want(kind, id)
  local ids = wanted[kind]
  if not ids then
    ids = {}
    wanted[kind], known[kind] = ids, {}
  end
  if known[kind][id] then return end
  known[kind][id] = true
  ids[#ids + 1] = id
end

-- Notes what the command at a place of the values names: its row has the places of the ids, and the hashes that
-- have their records, by turns; gives the place behind it.
local function want_named(values, at)
  local spec = spec_of(values[at])
  local named = spec.named
  for place = 1, #named, 2 do
    local id = values[at + named[place]]
    if id then want(named[place + 1], id) end
  end
  return at + spec.size
end

-- Reads what the requests from a place on name, all at once.
function requests.prefetch(values, at)
  local keys, count = {}, 0
  wanted, known = {}, {}
  while values[at] do
    local kind, id = values[at], values[at + 2]
    if kind == request_kinds.EXPIRE then
      at = at + 2
    elseif kind == request_kinds.PUT_BACK then
      at = at + 1
    else
      if id then
        count = count + 1
        keys[count] = operations.key_of(values[at + 1], id)
      end
      local body = values[at + HEAD_VALUES]
      if type(body) == "table" then
        for _, line in ipairs(body) do want_named(line, 1) end
        at = at + HEAD_VALUES + 1
      else
        at = want_named(values, at + HEAD_VALUES)
      end
    end
  end
  records.prefetch("operations", keys)
  for kind, ids in pairs(wanted) do records.prefetch(kind, ids) end
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

-- The request at a place of the values, and the place behind it.
function requests.read(values, at)
  request.kind = values[at]
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
