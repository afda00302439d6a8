-- What is common of accounts, by plain code. As `accounts.lua`, which says what is refused; here that is left to it.
--
-- A function is given the values with the place of the command, the stamp and the id. It gives the event as it is packed in
-- the log, with what stands before its fields, in two parts, and the values of the answer; or nothing. Beside the function
-- stands how many values that is in the log.
--
-- Accounts are taken apart into columns, a line for each account: a table for each would cost more than all that is done
-- with it. When the run ends, their texts are joined, and the general way finds them as its own. The lines stay, so that an
-- account whose text is still the one that it was left with need not be taken apart again.

local BALANCE_MAX, WORLD_PREFIX = constants.BALANCE_MAX, constants.WORLD_PREFIX

local get, change, text_of = records.get, records.change, records.text_of
local number, match, is_due = encoding.number, string.match, plain.is_due

local packed, packed_small = encoding.packed_number, encoding.packed_small
local packed_text, NOTHING = encoding.packed_text, encoding.packed_nothing

-- What stands before the fields of an event: their number below 0 where the answer says the rest, and else how many events
-- there are.
local function told_front(name) return packed(-events[name].number) end
local function front(name) return packed(1) .. packed(events[name].number) end

local CREDITED, DEBITED = told_front("account.credited"), told_front("account.debited")
local TRANSFERRED = front("account.transferred")
local PLACED, CAPTURED = front("hold.placed"), front("hold.captured")

-- What most accounts have behind their balance, and what all have, where nothing is closed.
local BARE, FULL = "^([^|]*)|(%-?%d+)|0|0|open$", "^([^|]*)|(%-?%d+)|(%d+)|(%d+)|open$"

-- The columns: with the id as it is packed, also behind what stands before a credit and a debit, the line of the world of the account's asset, what was there at the beginning of
-- the run, the text that says the same, and the run that has looked at that last.
local ids, packed_ids, assets, balances, held, overdrafts, worlds = {}, {}, {}, {}, {}, {}, {}
local credit_fronts, debit_fronts = {}, {}
local first_balances, first_held, line_texts, looked_at = {}, {}, {}, {}

-- The lines by id; how many there are, and may be before all are given up.
local lines, line_count, LINES_MAX = {}, 0, 1024

-- The run as a number, and the lines that it has asked for, so many.
local run, asked, asked_count = 0, {}, 0

-- Whether a run has begun and not finished.
local is_open = false

-- The rows of the call: texts that Redis has, those that the call has given, and rows that were taken apart.
local texts, given, rows

local function begin()
  texts, given, rows = records.texts("accounts")
  -- What a run has left that ended by an error is no account's state.
  if is_open or line_count > LINES_MAX then lines, line_count = {}, 0 end
  run, asked_count, is_open = run + 1, 0, true
end

local function join_texts()
  for at = 1, asked_count do
    local line = asked[at]
    if balances[line] ~= first_balances[line] or held[line] ~= first_held[line] then
      local id, tail = ids[line], "|0|0|open"
      if held[line] ~= 0 or overdrafts[line] ~= 0 then
        tail = "|" .. number(held[line]) .. "|" .. number(overdrafts[line]) .. "|open"
      end
      local text = assets[line] .. "|" .. number(balances[line]) .. tail
      given[id], line_texts[line] = text, text
      first_balances[line], first_held[line] = balances[line], held[line]
      if rows[id] ~= nil then rows[id] = nil end
    end
  end
  is_open = false
end

runs[#runs + 1] = { begin = begin, finish = join_texts }

-- Takes an account apart into a line; false where it is not open.
local function take_apart(line, text)
  local asset, balance = match(text, BARE)
  local held_text, overdraft = 0, 0
  if not asset then
    asset, balance, held_text, overdraft = match(text, FULL)
    if not asset then return false end
  end
  assets[line], balances[line], held[line], overdrafts[line] = asset, balance + 0, held_text + 0, overdraft + 0
  first_balances[line], first_held[line], line_texts[line] = balances[line], held[line], text
  return true
end

local function add_line(line, id)
  local packed_id = packed_text(id)
  line_count, lines[id], ids[line], packed_ids[line] = line, line, id, packed_id
  credit_fronts[line], debit_fronts[line] = CREDITED .. packed_id, DEBITED .. packed_id
end

-- The line of an account as the call has it, or false.
local function load(id)
  local text = given[id] == nil and texts[id] or text_of("accounts", id)
  if not text then return false end
  local known = lines[id]
  local line = known or line_count + 1
  if (not known or text ~= line_texts[line]) and not take_apart(line, text) then
    lines[id] = nil
    return false
  end
  if not known then add_line(line, id) end
  asked_count, looked_at[line] = asked_count + 1, run
  asked[asked_count] = line
  return line
end

-- The world of the asset that was asked for last.
local last_asset, last_world

local function world_of(asset)
  if asset ~= last_asset then
    last_asset, last_world = asset, WORLD_PREFIX .. asset
    requests.expect("accounts", last_world)
  end
  local line = lines[last_world]
  return line and looked_at[line] == run and line or load(last_world)
end

-- The line of an open account, or false.
local function open_line(id)
  local line = lines[id]
  if line and looked_at[line] == run then return line end
  line = load(id)
  if line then worlds[line] = world_of(assets[line]) end
  return line
end

-- The line of an open account of which nothing is due, or false.
local function open_account(id, now)
  local line = open_line(id)
  if line and held[line] > 0 and is_due("hold", id, now) then return false end
  return line
end

local function credit(values, at, now)
  local id, amount = values[at + 1], values[at + 2]
  local line = open_account(id, now)
  if not line or balances[line] > BALANCE_MAX - amount then return nil end
  local world = worlds[line]
  local world_balance = balances[world] - amount
  if world_balance < -BALANCE_MAX then return nil end
  local balance = balances[line] + amount
  local available = balance - held[line]
  balances[line] = balance
  balances[world] = world_balance
  return credit_fronts[line], packed_small[amount] or packed(amount), available, balance
end

carry_out["ACCOUNT.CREDIT"] = { decide = credit, values = 3 }

local function debit(values, at, now)
  local id, amount = values[at + 1], values[at + 2]
  local line = lines[id]
  if not line or looked_at[line] ~= run then line = open_line(id) end
  if not line or held[line] > 0 and is_due("hold", id, now) then return nil end
  local balance = balances[line] - amount
  local available = balance - held[line]
  if available < -overdrafts[line] then return nil end
  local world = worlds[line]
  local world_balance = balances[world] + amount
  if world_balance > BALANCE_MAX then return nil end
  balances[line] = balance
  balances[world] = world_balance
  return debit_fronts[line], packed_small[amount] or packed(amount), available, balance
end

carry_out["ACCOUNT.DEBIT"] = { decide = debit, values = 3 }

-- Whether the account covers the amount.
local function covers(line, amount)
  return amount - overdrafts[line] <= balances[line] - held[line]
end

local function transfer(values, at, now)
  local from, to, amount = values[at + 1], values[at + 2], values[at + 3]
  local source, destination = open_account(from, now), open_account(to, now)
  if not source or not destination or from == to or assets[source] ~= assets[destination] then return nil end
  if not covers(source, amount) or balances[destination] > BALANCE_MAX - amount then return nil end
  local from_balance, to_balance = balances[source] - amount, balances[destination] + amount
  local from_available, to_available = from_balance - held[source], to_balance - held[destination]
  balances[source] = from_balance
  balances[destination] = to_balance
  local event = TRANSFERRED .. packed_ids[source] .. packed_ids[destination] .. packed(amount) .. packed(from_balance)
    .. packed(from_available) .. packed(to_balance) .. packed(to_available)
  return event, "", from_available, to_available
end

carry_out["ACCOUNT.TRANSFER"] = { decide = transfer, values = 9 }

local function hold(values, at, now)
  local id, name, amount, ttl_ms = values[at + 1], values[at + 2], values[at + 3], values[at + 4]
  local line, hold_id = open_account(id, now), id .. " " .. name
  if not line or get("holds", hold_id) or not covers(line, amount) then return nil end
  local held_now = held[line] + amount
  if held_now > BALANCE_MAX then return nil end
  local deadline, available = ttl_ms and deadlines.after(now, ttl_ms), balances[line] - held_now
  sets.add("holds_by", hold_id)
  held[line] = held_now
  records.put("holds", hold_id, { amount = amount, status = "open", deadline = deadline or nil, ended_at = 0 })
  if deadline then deadlines.add(deadline, "hold", id, name) end
  local event = PLACED .. packed_ids[line] .. packed_text(name) .. packed(amount) .. (deadline and packed(deadline) or NOTHING)
    .. packed(held_now) .. packed(available)
  return event, "", available, deadline
end

carry_out["ACCOUNT.HOLD"] = { decide = hold, values = 8 }

-- Captures all that is held, for the world.
local function capture(values, at, now)
  local id, name, amount, to = values[at + 1], values[at + 2], values[at + 3], values[at + 4]
  local hold_id = id .. " " .. name
  local line, found = open_account(id, now), get("holds", hold_id)
  if not line or not found or found.status ~= "open" or to then return nil end
  if amount and amount ~= found.amount then return nil end
  amount = found.amount
  local world = worlds[line]
  local world_balance = balances[world] + amount
  if world_balance > BALANCE_MAX then return nil end
  local captured, balance, held_now = change("holds", hold_id), balances[line] - amount, held[line] - amount
  local available = balance - held_now
  balances[line], held[line] = balance, held_now
  balances[world] = world_balance
  if captured.deadline then deadlines.remove(captured.deadline, "hold", id, name) end
  captured.amount, captured.status, captured.ended_at = 0, "captured", now
  deadlines.add_ended(now, "hold", id, name)
  local event = CAPTURED .. packed_ids[line] .. packed_text(name) .. packed(amount) .. NOTHING .. packed(0) .. packed(0)
    .. packed(balance) .. packed(held_now) .. packed(available) .. NOTHING
  return event, "", amount, 0, available
end

carry_out["ACCOUNT.CAPTURE"] = { decide = capture, values = 12 }
