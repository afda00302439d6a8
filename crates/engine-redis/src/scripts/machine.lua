-- The order of checks, atomic batches, bounded steps and requests. As `core/src/machine`.

-- How many events one call logs, more or less: others wait for Redis meanwhile. A request that has a further
-- step, and those behind it, are left to the next call.
local EVENTS_PER_CALL = 64

-- The same while common commands alone follow: they take half of the time.
local COMMON_EVENTS_PER_CALL = 128

local ENDED_PER_ENTRY, BATCH_BYTES_MAX = constants.ENDED_PER_ENTRY, constants.BATCH_BYTES_MAX

local attempt, append, unlogged = outcomes.attempt, log.append, log.unlogged
local clear_events, evolve_from, events_count = log.clear_events, log.evolve_from, log.events_count

-- Deadlines ----------------------------------------------------------------------------------------------

local function log_ended(count)
  if events_count() >= count then append(nil) end
end

local function end_record(kind, resource, record)
  local first = events_count() + 1
  ends_of[kind].expire(resource, record)
  evolve_from(first, nil)
end

-- The resources that commands touch and that have deadlines, each once: kind and name by turns.
local touched = {}

local function note_touched(kind, resource)
  if not resource or not ends_of[kind].is_pending(resource) then return end
  for at = 1, #touched, 2 do
    if touched[at] == kind and touched[at + 1] == resource then return end
  end
  touched[#touched + 1] = kind
  touched[#touched + 1] = resource
end

-- Ends the due deadlines of the resources that the commands touch, in entries of their own that stay even
-- when the commands are refused; without entries in a dry run.
function machine.end_due_of(request, is_logged)
  local command = request.command
  if command then
    command.spec.touch(command, note_touched)
  else
    for _, line in ipairs(request.commands) do line.spec.touch(line, note_touched) end
  end
  if #touched == 0 then return end
  clear_events()
  local resources = touched
  touched = {}
  for at = 1, #resources, 2 do
    local kind, resource = resources[at], resources[at + 1]
    local due = deadlines.due_of(kind, resource, call.now, settings.due_per_command_max)
    for _, record in ipairs(due) do end_record(kind, resource, record) end
    if is_logged then log_ended(ENDED_PER_ENTRY) end
  end
  if is_logged then log_ended(1) end
  clear_events()
end

-- Ends up to `limit` records whose deadline has passed. Of an item's receipts more may be due behind those that leave
-- together. What is due and makes no event is visited, and not told.
local function expire(limit)
  clear_events()
  local ended, visited = 0, 0
  while visited < limit do
    local due = deadlines.due(call.now, limit - visited)
    if #due == 0 then break end
    for _, words in ipairs(due) do
      local before = events_count()
      end_record(words[2], words[3], words[4])
      if events_count() > before then ended = ended + 1 end
      log_ended(ENDED_PER_ENTRY)
    end
    visited = visited + #due
  end
  log_ended(1)
  return unlogged(outcomes.new(codes.APPLIED, ended))
end

-- Checks -------------------------------------------------------------------------------------------------

-- The answer to an operation whose id is known, or nil. A receipt that stands in a list is one from before.
function machine.known(request)
  local key = request.key
  if not key then return nil end
  local found = operations.find(key, call.now)
  if not found then return nil end
  if found.code == codes.RESOLVED_ABSENT.number then
    return unlogged(outcomes.new(codes.RESOLVED_ABSENT, request.id))
  end
  if found.fingerprint ~= request.fingerprint then return unlogged(outcomes.new(codes.ID_REUSED, request.id)) end
  return { records.text_of("operations", key) }
end

-- The refusal of what every command has in common, or nil.
function machine.admit(request)
  if request.commands and #request.commands == 0 then return outcomes.new(codes.INVALID, "batch", "has no lines") end
  local id, now = request.id, call.now
  local refusal = id and request.made_at and operations.check_age(id, request.made_at, now)
  if refusal then return refusal end
  local deadline = request.deadline
  if deadline and now >= deadline then return outcomes.new(codes.DEADLINE_PASSED, deadline, now) end
  local wait_ms = id and operations.wait_ms(now)
  if wait_ms then return outcomes.new(codes.OVERLOADED, "operations", wait_ms) end
end

-- Commands -----------------------------------------------------------------------------------------------

-- What every decision is given beside its command: the time, and the packets that were cut for it.
local context = {}

-- What a command decides, or its refusal.
function machine.decide_command(command, prepared)
  context.now, context.prepared = call.now, prepared
  return attempt(command.spec.decision, command, context)
end

local decide_command = machine.decide_command

-- The request, where it has an id that its outcome is remembered under.
local function operation_of(request)
  return request.id and request or nil
end

local function refuse(outcome, operation, is_remembered)
  clear_events()
  if not operation or not is_remembered or not outcome.code.is_refusal then return unlogged(outcome) end
  log.emit("operation.refused", {})
  return append(operation, outcome.code, outcome.facts)
end

local function log_step(operation, progress)
  log.emit("operation.stepped", { progress = progress })
  append(operation)
end

-- Takes the next step of the unfinished operation; gives its receipt where that was the last. `asked` says which
-- operation the caller began.
local function take_step(asked)
  local unfinished, later = call.meta.unfinished, call.now
  local operation = unfinished.operation
  call.now = unfinished.at
  clear_events()
  local step, receipt = steps_of[unfinished.progress[1]].go_on(unfinished.progress, call.now), nil
  evolve_from(1, operation)
  if step.progress then
    log_step(operation, step.progress)
  else
    receipt = append(operation, codes.APPLIED, step)
    local begun = unfinished.begun
    if begun and not operation and begun ~= asked then
      operations.remember_end(begun, call.now, call.meta.sequence, receipt)
    end
  end
  call.now = later
  return receipt
end

local function single(request)
  local command, operation = request.command, operation_of(request)
  clear_events()
  local step, refusal = decide_command(command, request.packets and request.packets[1])
  if refusal then return refuse(refusal, operation, command.spec.remembers_refusals) end
  evolve_from(1, operation)
  local progress = step.progress
  if not progress then return append(operation, codes.APPLIED, step) end
  if progress[1] ~= "packets" then return log_step(operation, progress) end
  -- The campaign is created with this entry. Its further packets belong to no operation: others come between them.
  call.has_unprepared = true
  return append(operation, codes.APPLIED, steps_of.packets.foretell(progress))
end

local function step_limit_of(progress)
  return progress[1] == "packets" and settings.packets_per_step_max or settings.step_max
end

-- Makes steps as large as those of a batch's lines, and gives those sizes back when called again.
local function exchange_steps()
  settings.step_max, settings.batch_step_max = settings.batch_step_max, settings.step_max
  settings.packets_per_step_max, settings.batch_packets_max = settings.batch_packets_max, settings.packets_per_step_max
end

local function each_line(request)
  local operation = operation_of(request)
  local answers, bytes, packets = {}, 0, 0
  for line, command in ipairs(request.commands) do
    if command.spec.is_prepared then packets = packets + 1 end
    local first = events_count() + 1
    local step, refusal = decide_command(command, request.packets and request.packets[packets])
    if refusal then return nil, line - 1, refusal end
    evolve_from(first, operation)
    if step.progress then return nil, line - 1, outcomes.new(codes.STEP_LIMIT, step_limit_of(step.progress)) end
    answers[line] = outcomes.to_values(outcomes.applied(step))
    bytes = bytes + log.bytes_of_events(first) + #cmsgpack.pack(answers[line])
    if bytes > BATCH_BYTES_MAX then return nil, line - 1, outcomes.new(codes.STEP_LIMIT, BATCH_BYTES_MAX) end
  end
  return answers
end

-- Decides and applies line after line; gives the answers, or the first refusal and its line.
function machine.lines_of(request)
  exchange_steps()
  local answers, line, refusal = each_line(request)
  exchange_steps()
  return answers, line, refusal
end

local function atomic(request)
  local operation = operation_of(request)
  clear_events()
  records.note_changes()
  local answers, line, refusal = machine.lines_of(request)
  if answers then
    records.keep_changes()
    return append(operation, codes.APPLIED, answers)
  end
  records.take_back()
  local is_remembered = false
  for _, command in ipairs(request.commands) do
    is_remembered = is_remembered or command.spec.remembers_refusals
  end
  return refuse(outcomes.new(codes.BATCH_REFUSED, line, refusal.code.word, refusal.facts), operation, is_remembered)
end

-- Operations ---------------------------------------------------------------------------------------------

local function outcome_of(record)
  return { code = code_of_number[record.code], facts = encoding.from_json(record.facts) }
end

local function resolved(outcome)
  local status = outcome.code == codes.APPLIED and "APPLIED" or "REFUSED"
  return outcomes.new(codes.APPLIED, status, outcomes.to_values(outcome))
end

-- What is known of an operation; nil where it is to be marked absent.
function machine.resolution(request)
  local id = request.command.operation
  local found = operations.find(operations.key_of(request.namespace, id), call.now)
  if found then
    if found.code == codes.RESOLVED_ABSENT.number then return outcomes.new(codes.APPLIED, "ABSENT", false) end
    return resolved(outcome_of(found))
  end
  -- It may have been applied and forgotten; to call it absent would be a guess.
  local refusal = operations.check_age(id, request.made_at, call.now)
  if refusal then return refusal end
  local wait_ms = operations.wait_ms(call.now)
  if wait_ms then return outcomes.new(codes.OVERLOADED, "operations", wait_ms) end
end

local function resolve(request)
  local outcome = machine.resolution(request)
  if outcome then return unlogged(outcome) end
  local id = request.command.operation
  clear_events()
  log.emit("operation.resolved", { operation = id })
  local operation = { id = id, key = operations.key_of(request.namespace, id), fingerprint = "0000000000000000" }
  append(operation, codes.RESOLVED_ABSENT, {})
  return log.receipt("", call.now, call.meta.sequence, 1, codes.APPLIED, { "ABSENT", false })
end

query["OPERATION.GET"] = function(command, now, request)
  local id = command.operation
  local found = operations.find(operations.key_of(request.namespace, id), now)
  if not found then
    local refusal = operations.check_age(id, request.made_at, now) or outcomes.new(codes.OPERATION_NOT_FOUND, id)
    error({ refusal = refusal }, 0)
  end
  local outcome = outcome_of(found)
  if outcome.code == codes.RESOLVED_ABSENT then outcome.facts = { id } end
  return { id, found.sequence_last, found.at, outcomes.to_values(outcome) }
end

-- Requests -----------------------------------------------------------------------------------------------

local function submit(request)
  local command = request.command
  if command and command.spec.name == "OPERATION.RESOLVE" then return resolve(request) end
  local answer = machine.known(request)
  if answer then return answer end
  local refusal = machine.admit(request)
  if refusal then return unlogged(refusal) end
  machine.end_due_of(request, true)
  if command then return single(request) end
  return atomic(request)
end

-- What a duplicate is answered where nothing new is taken: the receipt of the first one, if there was one.
local function recall(request)
  local command, answer = request.command, nil
  if command and command.spec.name == "OPERATION.RESOLVE" then
    local outcome = machine.resolution(request)
    answer = outcome and unlogged(outcome)
  else
    answer = machine.known(request)
  end
  return answer or unlogged(outcomes.new(codes.OPERATION_NOT_FOUND, request.id or command.operation))
end

local function read(request)
  local command = request.command
  local facts, refusal = attempt(function() return command.spec.answer(command, call.now, request) end)
  -- The receipt says as of when the state is, not when it was asked.
  call.now = call.meta.now
  return unlogged(refusal or outcomes.applied(facts))
end

local function stamp()
  call.now = math.max(call.meta.now, call.clock)
  call.meta.now = call.now
end

-- Lays the next packets of a campaign ready, in an entry of their own. Whether more are missing.
local function prepare_packets(campaign)
  stamp()
  clear_events()
  local step = steps_of.packets.go_on({ "packets", campaign }, call.now)
  if events_count() == 0 then return false end
  evolve_from(1, nil)
  append(nil)
  return step.progress ~= nil
end

-- A clock that is behind the last stamp by less goes on from there, as by itself.
local CLOCK_SLACK_MS = 1000

-- The operator says that the server's clock is right: stamps go on from it, also where it is behind the last one.
local function put_back()
  local from, to = call.meta.now, call.clock
  call.now = from
  if from <= to + CLOCK_SLACK_MS then return unlogged(outcomes.applied({})) end
  clear_events()
  call.now, call.meta.now = to, to
  log.emit("clock.moved", { from_ms = from, to_ms = to })
  evolve_from(1, nil)
  return append(nil, codes.APPLIED, {})
end

-- The failure of a request that may only be decided in another epoch than that of the partition.
local function other_epoch(wanted)
  return outcomes.new(codes.UNAVAILABLE, "the partition is in epoch " .. encoding.number(call.meta.epoch)
    .. ", and the request rests on epoch " .. encoding.number(wanted)
    .. ": what it rests on may be lost, so nothing was changed; compare with the log again")
end

-- The receipt of a request; nil where its further steps are left to the next call.
local function serve(request)
  local kind = request.kind
  if kind == request_kinds.WRITE then
    local other = request.epoch and request.epoch ~= call.meta.epoch
    if other then return unlogged(other_epoch(request.epoch)) end
    stamp()
    return submit(request)
  elseif kind == request_kinds.EXPIRE then
    stamp()
    return expire(request.limit)
  end
  if kind == request_kinds.PUT_BACK then return put_back() end
  -- What changes nothing leaves no stamp behind.
  call.now = math.max(call.meta.now, call.clock)
  if kind == request_kinds.READ then return read(request) end
  if kind == request_kinds.RECALL then return recall(request) end
  if kind == request_kinds.DRY_RUN then return dry_run.answer(request) end
  error("a request of the kind '" .. tostring(kind) .. "'", 0)
end

-- What the caller who began an operation is answered when nothing is unfinished any more: another call may have taken
-- the last step, and begun and finished another operation since.
local function resumption(unfinished, receipt, begun, namespace, id)
  if begun and unfinished and unfinished.begun == begun then return receipt end
  local ended = begun and operations.end_of(begun, namespace, id)
  return ended or unlogged(outcomes.new(codes.UNKNOWN, "the end of the operation is not remembered"))
end

-- Takes back what a request has changed that is decided in the next call, but for the deadlines that it has met.
local function leave_request()
  if call.notes then records.take_back() end
  clear_events()
end

-- What the call has done so far, counted in events: taking out a range takes an eighth of the time.
local function work_done()
  return call.events_logged + call.ranges_dropped / 8
end

-- Serves requests in order. Gives their receipts, what is owed where those are not all, and what a look has counted that
-- has to go on. `moved` says where ids may be that came with a move, if any did.
function machine.serve(values, moved)
  call.now = call.meta.now
  local receipts, at, count, is_resume = {}, 1, 0, values[1] == request_kinds.RESUME
  local unfinished = not call.is_reading and call.meta.unfinished
  local receipt = unfinished and take_step(is_resume and values[2])
  if call.meta.unfinished then return receipts, owed.EARLIER_OPERATION end
  if values[1] == request_kinds.PREPARE then
    if prepare_packets(values[2]) then return receipts, owed.PACKETS end
    at = constants.PREPARE_VALUES + 1
  end
  local has_looked = values[1] == request_kinds.LOOK
  looks.begin(has_looked and values[2])
  if has_looked then at = constants.LOOK_VALUES + 1 end
  if is_resume then
    receipts[1] = resumption(unfinished, receipt, values[2], values[3], values[4])
    at, count = constants.RESUME_VALUES + 1, 1
  end
  requests.prefetch(values, at)
  if moved then operations.bring(moved) end
  while values[at] do
    at, count = plain.serve(values, at, receipts, count, COMMON_EVENTS_PER_CALL - call.events_logged)
    if not values[at] then break end
    if work_done() >= EVENTS_PER_CALL then return receipts, owed.REST end
    local request, behind = requests.read(values, at)
    at = behind
    local done, answer = pcall(serve, request)
    if not done then
      if not looks.is_pause(answer) then error(answer, 0) end
      leave_request()
      return receipts, owed.LOOK, looks.text()
    end
    if not answer then return receipts, owed.NEXT_RECEIPT end
    count = count + 1
    receipts[count] = answer
    if call.has_unprepared then return receipts, owed.PACKETS end
    looks.next_request()
  end
  return receipts, owed.NOTHING
end
