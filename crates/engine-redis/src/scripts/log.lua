-- Outcomes, the events of a decision, receipts and the log.
--
-- A receipt is a text: content hash, stamp, last sequence, number of events, epoch, code and facts as JSON, joined
-- by |. The same text is what is remembered of an operation and what the log says of it, so it is made once.
--
-- What a call logs is one list: epoch and first sequence, then for each entry the operation's key or false, its
-- head, how many events it has, and of each event the number and its fields. The head is the receipt; without
-- one it is the stamp, behind the content hash where there is an operation, and before a + where more follows.
-- A head that is long is a value of the stream's entry by itself, behind the list; in the list stands its place.

local number, encode_behind = S.number, S.encode_behind
local specs = S.event_specs

-- Outcomes -----------------------------------------------------------------------------------------------

-- An outcome by its code's word and its facts. A fact that is nothing is false.
function S.outcome(word, ...)
  return { code = S.codes[word].number, word = word, facts = { ... } }
end

function S.applied(facts)
  return { code = 0, word = "APPLIED", facts = facts }
end

-- Refuses the command: a decision ends here. Whoever decides calls it like Rust's `return Err`.
function S.refuse(word, ...)
  error({ refusal = S.outcome(word, ...) }, 0)
end

-- What a decision gives that goes on in a further step.
function S.more(progress)
  return { progress = progress }
end

-- Calls a decision, or gives the refusal that it ended with.
function S.attempt(decision, command, context)
  local done, result = pcall(decision, command, context)
  if done then return result end
  if type(result) == "table" and result.refusal then return nil, result.refusal end
  error(result, 0)
end

-- The answer of an outcome as values: 1 and the figures, or 0, the code's word and the facts.
function S.to_values(outcome)
  local values = outcome.word == "APPLIED" and { 1 } or { 0, outcome.word }
  for _, fact in ipairs(outcome.facts) do values[#values + 1] = fact end
  return values
end

-- Events -------------------------------------------------------------------------------------------------

-- The events that were emitted since the last entry, with their names. What stands behind the last of them is
-- from before.
local names, events, count = {}, {}, 0

-- Adds an event to what the decision makes; its fields as the event table names them.
function S.emit(name, event)
  count = count + 1
  names[count], events[count] = name, event
end

function S.clear_events()
  count = 0
end

function S.events_count()
  return count
end

function S.last_event()
  return events[count]
end

-- Applies the events from the one at `first` on.
function S.evolve_from(first, operation)
  local evolves, now, id = S.evolve, S.now, operation and operation.id or ""
  for at = first, count do
    local evolve = evolves[names[at]]
    if evolve then evolve(events[at], now, id) end
  end
end

-- How many bytes the events from the one at `first` on take in the log.
function S.bytes_of_events(first)
  local values, length = {}, 0
  for at = first, count do length = specs[names[at]].write(values, length, events[at]) end
  return #cmsgpack.pack(values)
end

-- Receipts -----------------------------------------------------------------------------------------------

-- What stands between the last sequence and the facts is mostly the same.
local middle_events, middle_epoch, middle_code, middle_text

local function middle_of(events_of, epoch, code)
  if events_of ~= middle_events or epoch ~= middle_epoch or code ~= middle_code then
    middle_events, middle_epoch, middle_code = events_of, epoch, code
    middle_text = "|" .. number(events_of) .. "|" .. number(epoch) .. "|" .. number(code) .. "|"
  end
  return middle_text
end

local function receipt_of(fingerprint, at, sequence_last, events_of, code, facts)
  local middle, first, second = middle_of(events_of, S.meta.epoch, code), facts[1], facts[2]
  -- Most facts are two figures.
  if type(first) == "number" and type(second) == "number" and facts[3] == nil then
    return fingerprint .. "|" .. number(at) .. "|" .. number(sequence_last) .. middle .. "[" .. number(first) .. ","
      .. number(second) .. "]"
  end
  return encode_behind(fingerprint .. "|" .. number(at) .. "|" .. number(sequence_last) .. middle, facts)
end

S.receipt = receipt_of

-- The receipt of what changed nothing.
function S.unlogged(outcome)
  return receipt_of("", S.now, S.meta.sequence, 0, outcome.code, outcome.facts)
end

-- The log ------------------------------------------------------------------------------------------------

-- From how many bytes on a head is long: Lua reads all bytes of each text that it makes.
local LONG = 4096

local values, length, long = {}, 0, {}

function S.clear_log()
  values, length, count, long = {}, 0, 0, {}
  S.events_logged = 0
end

local function add_entry(key, head)
  if #head > LONG then
    long[#long + 1] = "receipt"
    long[#long + 1] = head
    head = #long / 2
  end
  values[length + 1], values[length + 2], values[length + 3] = key, head, count
  length = length + 3
  for at = 1, count do length = specs[names[at]].write(values, length, events[at]) end
end

-- Notes what is left of an operation that has further steps.
local function settle_step(operation, first)
  local meta, progress = S.meta, events[count].progress
  local before = meta.unfinished
  local join = S.join[progress[1]]
  meta.unfinished = {
    at = S.now, sequence_first = first,
    operation = operation and { key = operation.key, id = operation.id, fingerprint = operation.fingerprint },
    progress = join and join(progress, before and before.progress) or progress,
  }
end

local function head_of_step(operation)
  return operation and operation.fingerprint .. "|" .. number(S.now) or number(S.now) .. "|+"
end

-- Logs the events, which are applied already, and settles what goes with the entry: what is remembered, and what
-- is left to do. Gives the receipt where there is an outcome.
function S.log_events(operation, code, facts)
  if count == 0 and operation then S.emit("operation.unchanged", {}) end
  local meta, now, fingerprint = S.meta, S.now, operation and operation.fingerprint or ""
  local before = meta.sequence
  if count == 0 then return code and receipt_of("", now, before, 0, code, facts) end
  if length == 0 then values[1], values[2], length = meta.epoch, before + 1, 2 end
  local first, last = meta.unfinished and meta.unfinished.sequence_first or before + 1, before + count
  meta.sequence, meta.at = last, now
  S.events_logged = S.events_logged + count
  local receipt = code and receipt_of(fingerprint, now, last, last + 1 - first, code, facts)
  if names[count] == "operation.stepped" then
    add_entry(operation and operation.key or false, head_of_step(operation))
    settle_step(operation, first)
  else
    add_entry(operation and operation.key or false, operation and receipt or number(now))
    meta.unfinished = nil
  end
  count = 0
  if operation and receipt then S.remember(operation, now, last, receipt) end
  return receipt
end

function S.plan_log(plan, add_step)
  if length == 0 then return end
  local id, key = number(S.meta.sequence) .. "-0", S.key("log")
  local function inverses() return { { "XDEL", key, id } } end
  add_step(plan, "log", { "XADD", key, id, "entries", cmsgpack.pack(values), unpack(long) }, inverses)
end
