-- Outcomes: what a decision gives, and how it ends. As `core/src/outcome`.

-- An outcome: its row of the code table, and its facts. A fact that is nothing is false.
function outcomes.new(code, ...)
  return { code = code, facts = { ... } }
end

-- The outcome of what was applied, with the values of its answer.
function outcomes.applied(facts)
  return { code = codes.APPLIED, facts = facts }
end

-- Refuses the command: a decision ends here. A decision calls it as Rust says `return Err`.
function outcomes.refuse(code, ...)
  error({ refusal = outcomes.new(code, ...) }, 0)
end

-- What a decision gives that goes on in a further step.
function outcomes.more(progress)
  return { progress = progress }
end

-- Calls a decision, or gives the refusal that it ended with.
function outcomes.attempt(decision, command, context)
  local done, result = pcall(decision, command, context)
  if done then return result end
  if type(result) == "table" and result.refusal then return nil, result.refusal end
  error(result, 0)
end

-- The answer of an outcome as values: 1 and those of what was applied, or 0, the code's word and the facts.
function outcomes.to_values(outcome)
  local values = outcome.code == codes.APPLIED and { 1 } or { 0, outcome.code.word }
  for _, fact in ipairs(outcome.facts) do values[#values + 1] = fact end
  return values
end
