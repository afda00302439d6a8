-- Dry runs: what a request would be answered now. All that they change is taken back. As
-- `core/src/machine/dry_run.rs`.

local clear_events, evolve_from = log.clear_events, log.evolve_from

-- How many orders the steps of one dry run may touch.
local FORETOLD_MAX = constants.FORETOLD_MAX

-- Blanks values that nobody may know before a command is carried out. `offset` is what stands before them.
local function hide_values(command, facts, offset)
  for _, place in ipairs(command.spec.hidden) do facts[offset + place] = false end
end

-- Applies a decided step and all that follow; gives the values of the last, or the refusal where they are too many.
local function foretell_steps(step)
  local so_far, touched = nil, 0
  while true do
    evolve_from(1, nil)
    clear_events()
    local progress = step.progress
    if not progress then return step end
    local steps = steps_of[progress[1]]
    if steps.foretell then return steps.foretell(progress) end
    touched = touched + math.max(settings.step_max, 1)
    if touched >= FORETOLD_MAX then return nil, outcomes.new(codes.STEP_LIMIT, FORETOLD_MAX) end
    if steps.join then progress = steps.join(progress, so_far) end
    step, so_far = steps.go_on(progress, call.now), progress
  end
end

local function single_foretold(request)
  local step, refusal = machine.decide_command(request.command, request.packets and request.packets[1])
  if refusal then return refusal end
  local facts, too_much = foretell_steps(step)
  if too_much then return too_much end
  hide_values(request.command, facts, 0)
  return outcomes.applied(facts)
end

local function atomic_foretold(request)
  local answers, line, refusal = machine.lines_of(request)
  if answers then
    for at, command in ipairs(request.commands) do hide_values(command, answers[at], 1) end
    return outcomes.applied(answers)
  end
  if refusal.code == codes.ALREADY_CLAIMED then
    -- The packet may be one that an earlier line of this batch drew.
    for at = 1, #refusal.facts do refusal.facts[at] = false end
  end
  return outcomes.new(codes.BATCH_REFUSED, line, refusal.code.word, refusal.facts)
end

-- What a request would be answered.
function dry_run.answer(request)
  local command = request.command
  if command and command.spec.name == "OPERATION.RESOLVE" then
    return log.unlogged(machine.resolution(request) or outcomes.new(codes.APPLIED, "ABSENT", false))
  end
  local answer = machine.known(request)
  if answer then return answer end
  local refusal = machine.admit(request)
  if refusal then return log.unlogged(refusal) end
  records.note_changes()
  machine.end_due_of(request, false)
  local outcome = command and single_foretold(request) or atomic_foretold(request)
  records.take_back()
  clear_events()
  return log.unlogged(outcome)
end
