-- Dry runs: what a request would be answered now. All that they change is taken back. As
-- `core/src/machine/dry_run.rs`.

local clear_events, evolve_from = S.clear_events, S.evolve_from

-- Blanks what a packet holds and what a campaign's end would reveal.
local function hide_figures(command, facts, offset)
  local name = command.spec.name
  if name == "PACKET.CLAIM" then
    facts[offset + 2] = false
  elseif name == "PACKET.CLOSE" then
    facts[offset + 3], facts[offset + 4] = false, false
  end
end

-- Applies a decided step and all that follow; gives the figures of the last.
local function foretell_steps(step)
  local so_far = nil
  while true do
    evolve_from(1, nil)
    clear_events()
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
  local step, refusal = S.decide_command(request.command, request.packets and request.packets[1])
  if refusal then return refusal end
  local facts = foretell_steps(step)
  hide_figures(request.command, facts, 0)
  return S.applied(facts)
end

local function atomic_foretold(request)
  local answers, line, refusal = S.lines_of(request)
  if answers then
    for at, command in ipairs(request.commands) do hide_figures(command, answers[at], 1) end
    return S.applied(answers)
  end
  if refusal.word == "ALREADY_CLAIMED" then
    -- The packet may be one that an earlier line of this batch drew.
    for at = 1, #refusal.facts do refusal.facts[at] = false end
  end
  return S.outcome("BATCH_REFUSED", line, refusal.word, refusal.facts)
end

function S.dry_run(request)
  local command = request.command
  if command and command.spec.name == "OPERATION.RESOLVE" then
    return S.unlogged(S.resolution(request) or S.outcome("APPLIED", "ABSENT", false))
  end
  local answer = S.known(request)
  if answer then return answer end
  local refusal = S.admit(request)
  if refusal then return S.unlogged(refusal) end
  S.note_changes()
  S.end_due_of(request, false)
  local outcome = command and single_foretold(request) or atomic_foretold(request)
  S.take_back()
  clear_events()
  return S.unlogged(outcome)
end
