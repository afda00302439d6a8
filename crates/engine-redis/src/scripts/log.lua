-- The events of a decision, receipts and the log.
--
-- A receipt is a text: content hash, stamp, last sequence, number of events, epoch, code and facts as JSON, joined
-- by |. The same text is what is remembered of an operation and what the log says of it, so it is made once.
--
-- What a call logs is one list: epoch and first sequence, then for each entry the operation's key or false, its
-- head, how many events it has, and of each event the number and its fields. Where the answer says the rest of a
-- credit or debit, its number stands there instead, below 0, and behind it account and amount only. The head is the receipt; without
-- one it is the stamp, behind the content hash where there is an operation, and before a + where more follows.
-- A head that is long is a value of the stream's entry by itself, behind the list; in the list stands its place.

local number, json_behind = encoding.number, encoding.json_behind

-- Events -------------------------------------------------------------------------------------------------

-- The events that were emitted since the last entry, with their rows of the event table. What stands behind the
-- last of them is from before.
local specs, emitted, count = {}, {}, 0

-- Adds an event to what the decision makes; its fields as the event table names them.
function log.emit(name, event)
  count = count + 1
  specs[count], emitted[count] = events[name], event
end

-- Forgets the events that were emitted since the last entry.
function log.clear_events()
  count = 0
end

-- How many events were emitted since the last entry.
function log.events_count()
  return count
end

-- The event that was emitted last.
function log.last_event()
  return emitted[count]
end

-- What an event changes that only reports something.
function log.change_nothing() end

-- Inside Redis no time is doubted: a clock that is ahead is refused. The others concern operations, which the entry as
-- a whole settles.
evolve["clock.doubted"] = log.change_nothing
evolve["clock.confirmed"] = log.change_nothing
evolve["operation.refused"] = log.change_nothing
evolve["operation.resolved"] = log.change_nothing
evolve["operation.stepped"] = log.change_nothing
evolve["operation.unchanged"] = log.change_nothing

-- Applies the events from the one at `first` on.
function log.evolve_from(first, operation)
  local now, id = call.now, operation and operation.id or ""
  for at = first, count do evolve[specs[at].name](emitted[at], now, id) end
end

-- How many bytes the events from the one at `first` on take in the log.
function log.bytes_of_events(first)
  local values, length = {}, 0
  for at = first, count do length = specs[at].write(values, length, emitted[at]) end
  return #cmsgpack.pack(values)
end

-- Receipts -----------------------------------------------------------------------------------------------

-- What stands between the last sequence and the facts is mostly the same.
local middle_events, middle_epoch, middle_code, middle_text

local function middle_of(events_of, epoch, code)
  if events_of ~= middle_events or epoch ~= middle_epoch or code ~= middle_code then
    middle_events, middle_epoch, middle_code = events_of, epoch, code
    middle_text = "|" .. number(events_of) .. "|" .. number(epoch) .. "|" .. number(code.number) .. "|"
  end
  return middle_text
end

log.middle_of = middle_of

local function receipt_of(fingerprint, at, sequence_last, events_of, code, facts)
  local middle, first, second = middle_of(events_of, call.meta.epoch, code), facts[1], facts[2]
  -- Most facts are two numbers.
  if type(first) == "number" and type(second) == "number" and facts[3] == nil then
    return fingerprint .. "|" .. number(at) .. "|" .. number(sequence_last) .. middle .. "[" .. number(first) .. ","
      .. number(second) .. "]"
  end
  return json_behind(fingerprint .. "|" .. number(at) .. "|" .. number(sequence_last) .. middle, facts)
end

-- The receipt of an outcome.
log.receipt = receipt_of

-- The receipt of what changed nothing.
function log.unlogged(outcome)
  return receipt_of("", call.now, call.meta.sequence, 0, outcome.code, outcome.facts)
end

-- The log ------------------------------------------------------------------------------------------------

-- From how many bytes on a head is long: Lua reads all bytes of each text that it makes.
local LONG_BYTES = 4096

-- The list in pieces: values that are packed already, the first piece kept free for what stands before them all, and how
-- many values that are; then those that are not packed yet. And the heads that are long.
local pieces, pieces_count, packed_count = {}, 1, 0
local values, length, long = {}, 0, {}

-- The epoch and the first sequence of the list.
local first_epoch, first_sequence

-- Forgets what a call before this one has logged.
function log.clear()
  pieces_count, packed_count, count = 1, 0, 0
  if length > 0 then values, length = {}, 0 end
  if #long > 0 then long = {} end
  call.events_logged, call.ranges_dropped, first_sequence = 0, 0, nil
end

local function begin_list()
  if first_sequence then return end
  first_epoch, first_sequence = call.meta.epoch, call.meta.sequence + 1
end

-- Packs the values that are not packed yet. A list is filled from the front: what is put behind the end of a table is
-- hashed, and found a place for again and again.
local function pack_values()
  if length == 0 then return end
  pieces_count, packed_count = pieces_count + 1, packed_count + length
  pieces[pieces_count] = string.sub(cmsgpack.pack(values), #encoding.packed_list_front(length) + 1)
  values, length = {}, 0
end

-- Whether the facts of an answer are what the event says behind account and amount.
local IS_TOLD = { ["account.credited"] = true, ["account.debited"] = true }

local function is_told(facts)
  local event = emitted[1]
  return count == 1 and IS_TOLD[specs[1].name] and facts[1] == event.available and facts[2] == event.balance
end

local function add_told(key, head)
  local event = emitted[1]
  values[length + 1] = key
  values[length + 2] = head
  values[length + 3] = -specs[1].number
  values[length + 4] = event.account
  values[length + 5] = event.amount
  length = length + 5
end

local function add_entry(key, head)
  if #head > LONG_BYTES then
    long[#long + 1] = "receipt"
    long[#long + 1] = head
    head = #long / 2
  end
  values[length + 1] = key
  values[length + 2] = head
  values[length + 3] = count
  length = length + 3
  for at = 1, count do length = specs[at].write(values, length, emitted[at]) end
end

-- Notes what is left of an operation that has further steps.
local function settle_step(operation, first)
  local meta, progress = call.meta, emitted[count].progress
  local before = meta.unfinished
  local join = steps_of[progress[1]].join
  meta.unfinished = {
    at = call.now, sequence_first = first,
    -- Where its first step was logged: the caller who began it asks for its end by this.
    begun = not before and number(meta.epoch) .. " " .. number(meta.sequence) or before and before.begun or nil,
    operation = operation and { key = operation.key, id = operation.id, fingerprint = operation.fingerprint },
    progress = join and join(progress, before and before.progress) or progress,
  }
end

local function head_of_step(operation)
  return operation and operation.fingerprint .. "|" .. number(call.now) or number(call.now) .. "|+"
end

-- Logs the events, which are applied already, and settles what goes with the entry: what is remembered, and what
-- is left to do. Gives the receipt where there is an outcome.
function log.append(operation, code, facts)
  if count == 0 and operation then log.emit("operation.unchanged", {}) end
  local meta, now, fingerprint = call.meta, call.now, operation and operation.fingerprint or ""
  local before = meta.sequence
  if count == 0 then return code and receipt_of("", now, before, 0, code, facts) end
  begin_list()
  local first, last = meta.unfinished and meta.unfinished.sequence_first or before + 1, before + count
  meta.sequence, meta.at = last, now
  call.events_logged = call.events_logged + count
  local receipt = code and receipt_of(fingerprint, now, last, last + 1 - first, code, facts)
  if specs[count] == events["operation.stepped"] then
    add_entry(operation and operation.key or false, head_of_step(operation))
    settle_step(operation, first)
  else
    if operation and receipt and is_told(facts) then
      add_told(operation.key, receipt)
    else
      add_entry(operation and operation.key or false, operation and receipt or number(now))
    end
    meta.unfinished = nil
  end
  count = 0
  if operation and receipt then operations.remember(operation.key, now, last, receipt) end
  return receipt
end

-- The pieces for a run of operations of one event each, and how many there are.
function log.open_pieces()
  begin_list()
  pack_values()
  return pieces, pieces_count
end

-- Takes the pieces back, with those of so many operations more, whose receipts are remembered already, and their values.
function log.close_pieces(last, operations_count, values_count)
  local meta = call.meta
  pieces_count, packed_count = last, packed_count + values_count
  meta.sequence, meta.at = meta.sequence + operations_count, call.now
  call.events_logged = call.events_logged + operations_count
end

local function packed_list()
  pack_values()
  local number_of = encoding.packed_number
  pieces[1] = encoding.packed_list_front(packed_count + 2) .. number_of(first_epoch) .. number_of(first_sequence)
  return table.concat(pieces, "", 1, pieces_count)
end

local APPENDING = {
  back = function(write) return { { "XDEL", write[2], write[3] } } end,
}

-- Plans to append the call's list to the stream. A run that ended before its first request has begun it and no more.
function log.plan(add_step)
  if call.events_logged == 0 then return end
  local write = { "XADD", records.key("log"), number(call.meta.sequence) .. "-0", "entries", packed_list(), unpack(long) }
  flush.check_type("log")
  add_step("log", write, #write, APPENDING)
end
