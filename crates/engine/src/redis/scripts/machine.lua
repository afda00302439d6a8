-- The order of checks, atomic batches, dry runs, bounded steps and the log. As `core/src/machine`.
--
-- A resource registers by command name in `S.decide` and `S.query`, by event name in `S.evolve`, by kind of
-- record in `S.expire_record` and `S.forget_record`, by group of commands in `S.touched`, and by kind of
-- progress in `S.go_on` and `S.join`, and in `S.foretell` where a dry run need not take the steps.

S.decide, S.query, S.evolve, S.touched = {}, {}, {}, {}
S.expire_record, S.forget_record, S.forgetters = {}, {}, {}
S.go_on, S.join, S.foretell = {}, {}, {}

-- How many ended deadlines one entry holds, more or less.
local ENDED_PER_ENTRY = 1024

-- What the events and answers of a batch may take: they stand in one entry, which has an end.
local BATCH_BYTES_MAX = 2097152

-- How many further steps of a command one call takes; the next call goes on.
local STEPS_PER_CALL_MAX = 16

-- Outcomes -----------------------------------------------------------------------------------------------

-- An outcome by its code's word and its facts. A fact that is nothing is false.
function S.outcome(word, ...)
  return { code = S.codes[word].number, word = word, facts = { ... } }
end

-- Refuses the command: a decision ends here. Whoever decides calls it like Rust's `return Err`.
function S.refuse(word, ...)
  error({ refusal = S.outcome(word, ...) }, 0)
end

-- What a decision gives that goes on in a further step.
function S.more(progress)
  return { progress = progress }
end

-- Adds an event to what the decision makes; its fields as the event table names them.
function S.emit(name, event)
  event.is = name
  S.events[#S.events + 1] = event
end

-- The answer of an outcome as values: 1 and the figures, or 0, the code's word and the facts.
local function to_values(outcome)
  local values = outcome.word == "APPLIED" and { 1 } or { 0, outcome.word }
  for _, fact in ipairs(outcome.facts) do values[#values + 1] = fact end
  return values
end

-- Calls a decision, or gives the refusal that it ended with.
local function attempt(decision, ...)
  local done, result = pcall(decision, ...)
  if done then return result end
  if type(result) == "table" and result.refusal then return nil, result.refusal end
  error(result, 0)
end

-- The log ------------------------------------------------------------------------------------------------

local function event_values(event)
  local spec = S.event_specs[event.is]
  local values = { spec[1] }
  for at = 2, #spec do
    values[at] = event[spec[at]] or false
  end
  return values
end

local function mark_values(operation)
  return operation and { operation.namespace, operation.id, operation.fingerprint } or false
end

local function receipt(outcome, first, last, at)
  return { outcome.code, outcome.facts, S.meta.epoch, first, last, at, 0 }
end

local function unlogged(outcome)
  return receipt(outcome, S.meta.sequence, S.meta.sequence, S.now)
end

-- What an entry changes beside its events: the operations remembered, and the unfinished one.
local function settle(entry, outcome)
  local meta, before = S.meta, S.meta.unfinished
  meta.at = entry.at
  local last = entry.events[#entry.events]
  if entry.operation and outcome then
    local first = before and before.sequence_first or entry.first
    S.remember(entry.operation, outcome, entry.at, meta.sequence, meta.sequence + 1 - first)
  end
  if last.is == "operation.stepped" then
    local join = S.join[last.progress[1]]
    meta.unfinished = {
      at = entry.at, operation = entry.operation,
      sequence_first = before and before.sequence_first or entry.first,
      progress = join and join(last.progress, before and before.progress) or last.progress,
    }
  else
    meta.unfinished = nil
  end
end

-- Logs the events, which are applied already, and settles what goes with the entry.
local function log_events(operation, more, outcome)
  if #S.events == 0 and operation then S.emit("operation.unchanged", {}) end
  local before, events = S.meta.sequence, S.events
  S.events = {}
  if #events == 0 then return receipt(outcome, before, before, S.now) end
  S.meta.sequence = before + #events
  S.events_logged = S.events_logged + #events
  local kept = operation and outcome or nil
  local list = {}
  for at = 1, #events do list[at] = event_values(events[at]) end
  S.entries[#S.entries + 1] = cmsgpack.pack({
    S.meta.epoch, before + 1, S.now, mark_values(operation), more and 1 or 0,
    kept and { kept.code, kept.facts } or false, list,
  })
  settle({ first = before + 1, at = S.now, operation = operation, events = events }, kept)
  return outcome and receipt(outcome, before + 1, S.meta.sequence, S.now)
end

function S.plan_log(plan, add_step)
  if #S.entries == 0 then return end
  local id = S.number(S.meta.sequence) .. "-0"
  local key = S.keys.log
  add_step(plan, "log", { "XADD", key, id, "entries", table.concat(S.entries) }, { "XDEL", key, id })
end

-- Applies the events from the one at `first` on.
local function evolve_from(first, operation)
  for at = first, #S.events do
    local event = S.events[at]
    local evolve = S.evolve[event.is]
    if evolve then evolve(event, S.now, operation and operation.id or "") end
  end
end

-- Deadlines ----------------------------------------------------------------------------------------------

local function log_ended(count)
  if #S.events >= count then log_events(nil, false, nil) end
end

local function end_record(kind, resource, record)
  local first = #S.events + 1
  S.expire_record[kind](resource, record)
  evolve_from(first, nil)
end

-- The resources that commands touch and that have deadlines, each once.
local touched, known

local function note_touched(kind, resource)
  local key = kind .. " " .. resource
  if not known[key] then
    known[key] = true
    touched[#touched + 1] = { kind, resource }
  end
end

local function touched_by(commands)
  touched, known = {}, {}
  for at = 1, #commands do
    local visit = S.touched[commands[at].group]
    if visit then visit(commands[at], note_touched) end
  end
  return touched
end

-- Ends the due deadlines of the resources that the commands touch, in entries of their own that stay even
-- when the commands are refused; without entries in a dry run.
local function end_due_of(commands, is_logged)
  S.events = {}
  for _, resource in ipairs(touched_by(commands)) do
    local records = S.due_of(resource[1], resource[2], S.now, S.settings.due_per_command_max)
    for _, record in ipairs(records) do end_record(resource[1], resource[2], record) end
    if is_logged then log_ended(ENDED_PER_ENTRY) end
  end
  if is_logged then log_ended(1) end
  S.events = {}
end

-- Ends up to `limit` records whose deadline has passed.
local function expire(limit)
  S.events = {}
  local due = S.due(S.now, limit)
  for _, words in ipairs(due) do
    end_record(words[2], words[3], words[4])
    log_ended(ENDED_PER_ENTRY)
  end
  log_ended(1)
  return unlogged(S.outcome("APPLIED", #due))
end

-- Checks -------------------------------------------------------------------------------------------------

-- The answer to an operation whose id is known, or nil.
local function known(request)
  if not request.operation then return nil end
  local found = S.find_operation(request.namespace, request.operation, S.now)
  if not found then return nil end
  if found.code == S.codes.RESOLVED_ABSENT.number then
    return unlogged(S.outcome("RESOLVED_ABSENT", request.operation))
  end
  if found.fingerprint ~= request.fingerprint then return unlogged(S.outcome("ID_REUSED", request.operation)) end
  local first = found.sequence_last + 1 - found.events
  return { found.code, found.facts or {}, found.epoch, first, found.sequence_last, found.at, 1 }
end

-- The refusal of what every command has in common, or nil.
local function admit(request)
  if #request.commands == 0 then return S.outcome("INVALID", "batch", "has no lines") end
  if request.operation then
    local refusal = S.check_age(request.operation, request.made_at, S.now)
    if refusal then return refusal end
  end
  if request.deadline and S.now >= request.deadline then
    return S.outcome("DEADLINE_PASSED", request.deadline, S.now)
  end
  if request.operation and S.is_full(S.now) then return S.outcome("OVERLOADED", "operations") end
end

-- Commands -----------------------------------------------------------------------------------------------

-- Gives a command's values their names.
local function command_of(values)
  local spec = S.command_specs[values[1]]
  local command = { name = spec.name, group = spec.group }
  for at, argument in ipairs(spec.arguments) do
    local value = values[at + 1]
    if value ~= false then command[argument] = value end
  end
  return command
end

local function decide(command, context)
  local decision = S.decide[command.name]
  if not decision then S.refuse("INVALID", "command", "is answered on its own, not sequenced in a batch") end
  return decision(command, context)
end

local function remembers_refusals(command)
  return command.group == "ACCOUNT" or command.group == "ORDER"
end

local function refuse(outcome, operation, is_remembered)
  S.events = {}
  local kind = S.codes[outcome.word].kind
  if not operation or not is_remembered or kind ~= "refusal" then return unlogged(outcome) end
  S.emit("operation.refused", {})
  return log_events(operation, false, outcome)
end

local function applied(facts)
  return { code = 0, word = "APPLIED", facts = facts }
end

local function log_step(operation, progress)
  S.emit("operation.stepped", { progress = progress })
  log_events(operation, true, nil)
end

-- Takes the remaining steps of the unfinished operation; gives its receipt, or nil where the call's share of
-- steps is used up.
local function go_on()
  while S.steps_left > 0 do
    S.steps_left = S.steps_left - 1
    local unfinished, later = S.meta.unfinished, S.now
    local operation, first = unfinished.operation, unfinished.sequence_first
    S.now, S.events = unfinished.at, {}
    local step = S.go_on[unfinished.progress[1]](unfinished.progress, S.now)
    evolve_from(1, operation)
    if step.progress then
      log_step(operation, step.progress)
      S.now = later
    else
      local answer = log_events(operation, false, applied(step))
      answer[4] = first
      S.now = later
      return answer
    end
  end
end

local function single(request, operation)
  local command = request.commands[1]
  local context = { now = S.now, operation = operation and operation.id, prepared = request.prepared[1] }
  S.events = {}
  local step, refusal = attempt(decide, command, context)
  if refusal then return refuse(refusal, operation, remembers_refusals(command)) end
  evolve_from(1, operation)
  if not step.progress then return log_events(operation, false, applied(step)) end
  log_step(operation, step.progress)
  return go_on()
end

local function step_limit_of(progress)
  return progress[1] == "packets" and S.settings.packets_per_step_max or S.settings.step_max
end

-- Decides and applies line after line; gives the answers, or the first refusal and its line.
local function lines_of(request, operation)
  local answers, bytes, packets = {}, 0, 0
  for line, command in ipairs(request.commands) do
    local prepared = nil
    if command.name == "PACKET.CREATE" then
      packets = packets + 1
      prepared = request.prepared[packets]
    end
    local first = #S.events + 1
    local context = { now = S.now, operation = operation and operation.id, prepared = prepared }
    local step, refusal = attempt(decide, command, context)
    if refusal then return nil, line - 1, refusal end
    evolve_from(first, operation)
    if step.progress then return nil, line - 1, S.outcome("STEP_LIMIT", step_limit_of(step.progress)) end
    answers[line] = to_values(applied(step))
    for at = first, #S.events do bytes = bytes + #cmsgpack.pack(event_values(S.events[at])) end
    bytes = bytes + #cmsgpack.pack(answers[line])
    if bytes > BATCH_BYTES_MAX then return nil, line - 1, S.outcome("STEP_LIMIT", BATCH_BYTES_MAX) end
  end
  return answers
end

local function atomic(request, operation)
  S.events = {}
  S.note_changes()
  local answers, line, refusal = lines_of(request, operation)
  if answers then
    S.keep_changes()
    return log_events(operation, false, applied(answers))
  end
  S.take_back()
  local is_remembered = false
  for _, command in ipairs(request.commands) do
    is_remembered = is_remembered or remembers_refusals(command)
  end
  return refuse(S.outcome("BATCH_REFUSED", line, refusal.word, refusal.facts), operation, is_remembered)
end

-- Operations ---------------------------------------------------------------------------------------------

local function outcome_of(record)
  return { code = record.code, word = S.code_words[record.code], facts = record.facts or {} }
end

local function resolved(outcome)
  return S.outcome("APPLIED", outcome.word == "APPLIED" and "APPLIED" or "REFUSED", to_values(outcome))
end

-- What is known of an operation; nil where it is to be marked absent.
local function resolution(request)
  local id = request.commands[1].operation
  local found = S.find_operation(request.namespace, id, S.now)
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
  local outcome = resolution(request)
  if outcome then return unlogged(outcome) end
  local id = request.commands[1].operation
  S.events = {}
  S.emit("operation.resolved", { operation = id })
  local operation = { namespace = request.namespace, id = id, fingerprint = "0000000000000000" }
  local answer = log_events(operation, false, S.outcome("RESOLVED_ABSENT"))
  answer[1], answer[2] = 0, { "ABSENT", false }
  return answer
end

S.query["OPERATION.GET"] = function(command, now, request)
  local id = command.operation
  local found = S.find_operation(request.namespace, id, now)
  if not found then
    local refusal = S.check_age(id, request.made_at, now) or S.outcome("OPERATION_NOT_FOUND", id)
    error({ refusal = refusal }, 0)
  end
  local outcome = outcome_of(found)
  if outcome.word == "RESOLVED_ABSENT" then outcome.facts = { id } end
  return { id, found.sequence_last, found.at, to_values(outcome) }
end

-- Dry runs -----------------------------------------------------------------------------------------------

-- Blanks what a packet holds and what a campaign's end would reveal.
local function hide_figures(command, facts, offset)
  if command.name == "PACKET.CLAIM" then
    facts[offset + 2] = false
  elseif command.name == "PACKET.CLOSE" then
    facts[offset + 3], facts[offset + 4] = false, false
  end
end

-- Applies a decided step and all that follow; gives the figures of the last.
local function foretell_steps(step)
  local so_far = nil
  while true do
    evolve_from(1, nil)
    S.events = {}
    if not step.progress then return step end
    local foretell = S.foretell[step.progress[1]]
    if foretell then return foretell(step.progress) end
    local join = S.join[step.progress[1]]
    local progress = join and join(step.progress, so_far) or step.progress
    step = S.go_on[progress[1]](progress, S.now)
    so_far = progress
  end
end

local function single_foretold(request)
  local command = request.commands[1]
  local context = { now = S.now, operation = request.operation, prepared = request.prepared[1] }
  local step, refusal = attempt(decide, command, context)
  if refusal then return refusal end
  local facts = foretell_steps(step)
  hide_figures(command, facts, 0)
  return applied(facts)
end

local function atomic_foretold(request)
  local answers, line, refusal = lines_of(request, request.operation and { id = request.operation })
  if answers then
    for at, command in ipairs(request.commands) do hide_figures(command, answers[at], 1) end
    return applied(answers)
  end
  if refusal.word == "ALREADY_CLAIMED" then
    -- The packet may be one that an earlier line of this batch drew.
    for at = 1, #refusal.facts do refusal.facts[at] = false end
  end
  return S.outcome("BATCH_REFUSED", line, refusal.word, refusal.facts)
end

local function dry_run(request)
  if request.commands[1] and request.commands[1].name == "OPERATION.RESOLVE" and not request.is_atomic then
    return unlogged(resolution(request) or S.outcome("APPLIED", "ABSENT", false))
  end
  local answer = known(request)
  if answer then return answer end
  local refusal = admit(request)
  if refusal then return unlogged(refusal) end
  S.note_changes()
  end_due_of(request.commands, false)
  local outcome = request.is_atomic and atomic_foretold(request) or single_foretold(request)
  S.take_back()
  S.events = {}
  return unlogged(outcome)
end

-- Requests -----------------------------------------------------------------------------------------------

local function submit(request)
  if not request.is_atomic and request.commands[1].name == "OPERATION.RESOLVE" then return resolve(request) end
  local answer = known(request)
  if answer then return answer end
  local refusal = admit(request)
  if refusal then return unlogged(refusal) end
  end_due_of(request.commands, true)
  local operation = request.operation
    and { namespace = request.namespace, id = request.operation, fingerprint = request.fingerprint }
  if request.is_atomic then return atomic(request, operation) end
  return single(request, operation)
end

local function query(request)
  local command = request.commands[1]
  local answer = S.query[command.name]
  if not answer then return unlogged(S.outcome("INVALID", "command", "changes state; it must be submitted")) end
  local facts, refusal = attempt(answer, command, S.now, request)
  -- The receipt says as of when the state is, not when it was asked.
  S.now = S.meta.now
  return unlogged(refusal or applied(facts))
end

-- A request as its words: kind, namespace, id, content hash, the time in the id, deadline, command or
-- commands, packets cut for them.
local function request_of(values)
  local request = {
    kind = values[1], namespace = values[2], operation = values[3] or nil, fingerprint = values[4],
    made_at = values[5] or nil, deadline = values[6] or nil, prepared = values[8] or {}, commands = {},
  }
  local body = values[7]
  request.is_atomic = request.kind ~= "expire" and type(body[1]) ~= "number"
  if request.is_atomic then
    for at, one in ipairs(body) do request.commands[at] = command_of(one) end
  elseif request.kind == "expire" then
    request.limit = body[1]
  else
    request.commands[1] = command_of(body)
  end
  return request
end

local function stamp()
  S.now = math.max(S.meta.now, S.clock)
  S.meta.now = S.now
end

-- The receipt of a request; nil where its further steps are left to the next call.
local function serve(request)
  if request.kind == "write" then
    stamp()
    return submit(request)
  elseif request.kind == "expire" then
    stamp()
    return expire(request.limit)
  end
  -- What changes nothing leaves no stamp behind.
  S.now = math.max(S.meta.now, S.clock)
  if request.kind == "read" then return query(request) end
  return dry_run(request)
end

local function prefetch(requests)
  local keys = {}
  for _, request in ipairs(requests) do
    if request.operation then
      keys[#keys + 1] = S.operation_key(request.namespace, request.operation)
    end
  end
  S.prefetch("operations", keys)
end

-- Serves requests in order. Gives their receipts and what is owed: 0 nothing, 1 the receipt of the next
-- request, which was begun, 2 an operation from before, which comes first.
function S.serve(values)
  S.steps_left, S.now = STEPS_PER_CALL_MAX, S.meta.now
  local receipts, first = {}, 1
  local resumed = S.meta.unfinished and not S.is_reading and go_on()
  if S.meta.unfinished then return receipts, 2 end
  if values[1] and values[1][1] == "resume" then
    receipts[1] = resumed or unlogged(S.outcome("UNKNOWN", "another call has finished the operation"))
    first = 2
  end
  local requests = {}
  for at = first, #values do requests[#requests + 1] = request_of(values[at]) end
  prefetch(requests)
  for _, request in ipairs(requests) do
    local answer = serve(request)
    if not answer then return receipts, 1 end
    receipts[#receipts + 1] = answer
  end
  return receipts, 0
end
