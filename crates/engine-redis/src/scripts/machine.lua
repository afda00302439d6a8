-- The order of checks, atomic batches, bounded steps and requests. As `core/src/machine`.
--
-- A resource registers by command name in `S.decide` and `S.query`, by event name in `S.evolve`, by kind of
-- record in `S.expire_record` and `S.forget_record`, by group of commands in `S.touched`, by name of argument in
-- `S.hash_of_argument`, and by kind of progress in `S.go_on` and `S.join`, and in `S.foretell` where a dry run need
-- not take the steps.

S.decide, S.query, S.evolve, S.touched = {}, {}, {}, {}
S.expire_record, S.forget_record, S.forgetters = {}, {}, {}
S.go_on, S.join, S.foretell = {}, {}, {}
S.hash_of_argument = {}

-- How many ended deadlines one entry holds, more or less.
local ENDED_PER_ENTRY = 1024

-- What the events and answers of a batch may take: they stand in one entry, which has an end.
local BATCH_BYTES_MAX = 2097152

-- How many events one call logs, more or less: others wait for Redis meanwhile. A request that has a further
-- step, and those behind it, are left to the next call.
local EVENTS_PER_CALL = 64

local attempt, log_events, unlogged = S.attempt, S.log_events, S.unlogged
local clear_events, evolve_from, events_count = S.clear_events, S.evolve_from, S.events_count

-- Deadlines ----------------------------------------------------------------------------------------------

local function log_ended(count)
  if events_count() >= count then log_events(nil) end
end

local function end_record(kind, resource, record)
  local first = events_count() + 1
  S.expire_record[kind](resource, record)
  evolve_from(first, nil)
end

-- The resources that commands touch and that have deadlines, each once: kind and name by turns.
local touched = {}

local function note_touched(kind, resource)
  for at = 1, #touched, 2 do
    if touched[at] == kind and touched[at + 1] == resource then return end
  end
  touched[#touched + 1] = kind
  touched[#touched + 1] = resource
end

-- Ends the due deadlines of the resources that the commands touch, in entries of their own that stay even
-- when the commands are refused; without entries in a dry run.
function S.end_due_of(request, is_logged)
  local command = request.command
  if command then
    local visit = command.spec.touch
    if visit then visit(command, note_touched) end
  else
    for _, line in ipairs(request.commands) do
      if line.spec.touch then line.spec.touch(line, note_touched) end
    end
  end
  if #touched == 0 then return end
  clear_events()
  local resources = touched
  touched = {}
  for at = 1, #resources, 2 do
    local kind, resource = resources[at], resources[at + 1]
    local records = S.due_of(kind, resource, S.now, S.settings.due_per_command_max)
    for _, record in ipairs(records) do end_record(kind, resource, record) end
    if is_logged then log_ended(ENDED_PER_ENTRY) end
  end
  if is_logged then log_ended(1) end
  clear_events()
end

-- Ends up to `limit` records whose deadline has passed.
local function expire(limit)
  clear_events()
  local due = S.due(S.now, limit)
  for _, words in ipairs(due) do
    end_record(words[2], words[3], words[4])
    log_ended(ENDED_PER_ENTRY)
  end
  log_ended(1)
  return unlogged(S.outcome("APPLIED", #due))
end

-- Checks -------------------------------------------------------------------------------------------------

-- The answer to an operation whose id is known, or nil. A receipt that stands in a list is one from before.
function S.known(request)
  local key = request.key
  if not key then return nil end
  local found = S.find_operation(key, S.now)
  if not found then return nil end
  if found.code == S.codes.RESOLVED_ABSENT.number then return unlogged(S.outcome("RESOLVED_ABSENT", request.id)) end
  if found.fingerprint ~= request.fingerprint then return unlogged(S.outcome("ID_REUSED", request.id)) end
  return { S.text_of("operations", key) }
end

-- The refusal of what every command has in common, or nil.
function S.admit(request)
  if request.commands and #request.commands == 0 then return S.outcome("INVALID", "batch", "has no lines") end
  local id, now = request.id, S.now
  local refusal = id and request.made_at and S.check_age(id, request.made_at, now)
  if refusal then return refusal end
  if request.deadline and now >= request.deadline then return S.outcome("DEADLINE_PASSED", request.deadline, now) end
  if id and S.is_full(now) then return S.outcome("OVERLOADED", "operations") end
end

-- Commands -----------------------------------------------------------------------------------------------

-- What every decision is given beside its command: the time, and the packets that were cut for it.
local context = {}

local function no_decision()
  S.refuse("INVALID", "command", "is answered on its own, not sequenced in a batch")
end

-- What a command decides, or its refusal.
function S.decide_command(command, prepared)
  context.now, context.prepared = S.now, prepared
  return attempt(command.spec.decision or no_decision, command, context)
end

local decide_command = S.decide_command

-- The request, where it has an id that its outcome is remembered under.
local function operation_of(request)
  return request.id and request or nil
end

local function refuse(outcome, operation, is_remembered)
  clear_events()
  local kind = S.codes[outcome.word].kind
  if not operation or not is_remembered or kind ~= "refusal" then return unlogged(outcome) end
  S.emit("operation.refused", {})
  return log_events(operation, outcome.code, outcome.facts)
end

local function log_step(operation, progress)
  S.emit("operation.stepped", { progress = progress })
  log_events(operation)
end

-- Takes the next step of the unfinished operation; gives its receipt where that was the last.
local function go_on()
  local unfinished, later = S.meta.unfinished, S.now
  local operation = unfinished.operation
  S.now = unfinished.at
  clear_events()
  local step, receipt = S.go_on[unfinished.progress[1]](unfinished.progress, S.now), nil
  evolve_from(1, operation)
  if step.progress then
    log_step(operation, step.progress)
  else
    receipt = log_events(operation, 0, step)
  end
  S.now = later
  return receipt
end

local function single(request)
  local command, operation = request.command, operation_of(request)
  clear_events()
  local step, refusal = decide_command(command, request.packets and request.packets[1])
  if refusal then return refuse(refusal, operation, command.spec.remembers_refusals) end
  evolve_from(1, operation)
  if not step.progress then return log_events(operation, 0, step) end
  log_step(operation, step.progress)
end

local function step_limit_of(progress)
  return progress[1] == "packets" and S.settings.packets_per_step_max or S.settings.step_max
end

-- Makes steps as large as those of a batch's lines, and gives those sizes back when called again.
local function exchange_steps()
  local settings = S.settings
  settings.step_max, settings.batch_step_max = settings.batch_step_max, settings.step_max
  settings.packets_per_step_max, settings.batch_packets_max = settings.batch_packets_max, settings.packets_per_step_max
end

local function each_line(request)
  local operation = operation_of(request)
  local answers, bytes, packets = {}, 0, 0
  for line, command in ipairs(request.commands) do
    if command.spec.name == "PACKET.CREATE" then packets = packets + 1 end
    local first = events_count() + 1
    local step, refusal = decide_command(command, request.packets and request.packets[packets])
    if refusal then return nil, line - 1, refusal end
    evolve_from(first, operation)
    if step.progress then return nil, line - 1, S.outcome("STEP_LIMIT", step_limit_of(step.progress)) end
    answers[line] = S.to_values(S.applied(step))
    bytes = bytes + S.bytes_of_events(first) + #cmsgpack.pack(answers[line])
    if bytes > BATCH_BYTES_MAX then return nil, line - 1, S.outcome("STEP_LIMIT", BATCH_BYTES_MAX) end
  end
  return answers
end

-- Decides and applies line after line; gives the answers, or the first refusal and its line.
function S.lines_of(request)
  exchange_steps()
  local answers, line, refusal = each_line(request)
  exchange_steps()
  return answers, line, refusal
end

local function atomic(request)
  local operation = operation_of(request)
  clear_events()
  S.note_changes()
  local answers, line, refusal = S.lines_of(request)
  if answers then
    S.keep_changes()
    return log_events(operation, 0, answers)
  end
  S.take_back()
  local is_remembered = false
  for _, command in ipairs(request.commands) do
    is_remembered = is_remembered or command.spec.remembers_refusals
  end
  return refuse(S.outcome("BATCH_REFUSED", line, refusal.word, refusal.facts), operation, is_remembered)
end

-- Operations ---------------------------------------------------------------------------------------------

local function outcome_of(record)
  return { code = record.code, word = S.code_words[record.code], facts = S.decode(record.facts) }
end

local function resolved(outcome)
  return S.outcome("APPLIED", outcome.word == "APPLIED" and "APPLIED" or "REFUSED", S.to_values(outcome))
end

-- What is known of an operation; nil where it is to be marked absent.
function S.resolution(request)
  local id = request.command.operation
  local found = S.find_operation(S.operation_key(request.namespace, id), S.now)
  if found then
    if found.code == S.codes.RESOLVED_ABSENT.number then return S.outcome("APPLIED", "ABSENT", false) end
    return resolved(outcome_of(found))
  end
  -- It may have been applied and forgotten; to call it absent would be a guess.
  local refusal = S.check_age(id, request.made_at, S.now)
  if refusal then return refusal end
  if S.is_full(S.now) then return S.outcome("OVERLOADED", "operations") end
end

local function resolve(request)
  local outcome = S.resolution(request)
  if outcome then return unlogged(outcome) end
  local id = request.command.operation
  clear_events()
  S.emit("operation.resolved", { operation = id })
  local operation = { id = id, key = S.operation_key(request.namespace, id), fingerprint = "0000000000000000" }
  log_events(operation, S.codes.RESOLVED_ABSENT.number, {})
  return S.receipt("", S.now, S.meta.sequence, 1, 0, { "ABSENT", false })
end

S.query["OPERATION.GET"] = function(command, now, request)
  local id = command.operation
  local found = S.find_operation(S.operation_key(request.namespace, id), now)
  if not found then
    local refusal = S.check_age(id, request.made_at, now) or S.outcome("OPERATION_NOT_FOUND", id)
    error({ refusal = refusal }, 0)
  end
  local outcome = outcome_of(found)
  if outcome.word == "RESOLVED_ABSENT" then outcome.facts = { id } end
  return { id, found.sequence_last, found.at, S.to_values(outcome) }
end

-- Requests -----------------------------------------------------------------------------------------------

local function submit(request)
  local command = request.command
  if command and command.spec.name == "OPERATION.RESOLVE" then return resolve(request) end
  local answer = S.known(request)
  if answer then return answer end
  local refusal = S.admit(request)
  if refusal then return unlogged(refusal) end
  S.end_due_of(request, true)
  if command then return single(request) end
  return atomic(request)
end

local function query(request)
  local command = request.command
  local answer = S.query[command.spec.name]
  if not answer then return unlogged(S.outcome("INVALID", "command", "changes state; it must be submitted")) end
  local facts, refusal = attempt(function() return answer(command, S.now, request) end)
  -- The receipt says as of when the state is, not when it was asked.
  S.now = S.meta.now
  return unlogged(refusal or S.applied(facts))
end

local function stamp()
  S.now = math.max(S.meta.now, S.clock)
  S.meta.now = S.now
end

-- The receipt of a request; nil where its further steps are left to the next call.
local function serve(request)
  local kind = request.kind
  if kind == "write" then
    stamp()
    return submit(request)
  elseif kind == "expire" then
    stamp()
    return expire(request.limit)
  end
  -- What changes nothing leaves no stamp behind.
  S.now = math.max(S.meta.now, S.clock)
  if kind == "read" then return query(request) end
  return S.dry_run(request)
end

-- Serves requests in order. Gives their receipts and what is owed: 0 nothing, 1 the receipt of the next
-- request, which was begun, 2 an operation from before, which comes first, 3 requests that were not begun.
function S.serve(values)
  S.now = S.meta.now
  local receipts, at, count = {}, 1, 0
  local resumed = S.meta.unfinished and not S.is_reading and go_on()
  if S.meta.unfinished then return receipts, 2 end
  if values[1] == "resume" then
    receipts[1] = resumed or unlogged(S.outcome("UNKNOWN", "another call has finished the operation"))
    at, count = 2, 1
  end
  S.prefetch_named(values, at)
  while values[at] do
    if S.events_logged >= EVENTS_PER_CALL then return receipts, 3 end
    local request
    request, at = S.read_request(values, at)
    local answer = serve(request)
    if not answer then return receipts, 1 end
    count = count + 1
    receipts[count] = answer
  end
  return receipts, 0
end
