-- What is common of accounts, by plain code. As `accounts.lua`, which says what is refused; here that is left to it.
--
-- A function is given the values with the place of the command, the stamp and the id, and the log's list with the place
-- behind which its event goes. It gives the place up to which that stands, and the values of the answer; or nothing.
--
-- Accounts are taken apart into columns, a line for each account of the run: a table for each would cost more than all that
-- is done with it. When the run ends, their texts are joined, and the general way finds them as its own.

local BALANCE_MAX, WORLD_PREFIX = constants.BALANCE_MAX, constants.WORLD_PREFIX

local get, change, text_of = records.get, records.change, records.text_of
local number, match, is_due = encoding.number, string.match, plain.is_due

-- The first two as they stand where the answer says the rest of the event.
local CREDITED, DEBITED = -events["account.credited"].number, -events["account.debited"].number
local TRANSFERRED = events["account.transferred"].number
local PLACED, CAPTURED = events["hold.placed"].number, events["hold.captured"].number

-- What most accounts have behind their balance, and what all have, where nothing is closed.
local BARE, FULL = "^([^|]*)|(%-?%d+)|0|0|open$", "^([^|]*)|(%-?%d+)|(%d+)|(%d+)|open$"

-- The columns of a run, which has so many lines: with the line of the world of the account's asset, and with what was
-- there at its beginning.
local ids, assets, balances, held, overdrafts, worlds = {}, {}, {}, {}, {}, {}
local first_balances, first_held = {}, {}

-- The lines by id, false where there is no open account.
local lines, line_count = {}, 0

-- The rows of the call: texts that Redis has, those that the call has given, and rows that were taken apart.
local texts, given, rows

local function begin()
  texts, given, rows = records.texts("accounts")
  if next(lines) ~= nil then lines, line_count = {}, 0 end
end

local function join_texts()
  for line = 1, line_count do
    if balances[line] ~= first_balances[line] or held[line] ~= first_held[line] then
      local id, tail = ids[line], "|0|0|open"
      if held[line] ~= 0 or overdrafts[line] ~= 0 then
        tail = "|" .. number(held[line]) .. "|" .. number(overdrafts[line]) .. "|open"
      end
      given[id], rows[id] = assets[line] .. "|" .. number(balances[line]) .. tail, nil
    end
  end
end

runs[#runs + 1] = { begin = begin, finish = join_texts }

local function load(id)
  local text = given[id] == nil and texts[id] or text_of("accounts", id)
  if not text then return false end
  local asset, balance = match(text, BARE)
  local held_text, overdraft = 0, 0
  if not asset then
    asset, balance, held_text, overdraft = match(text, FULL)
    if not asset then return false end
  end
  local line = line_count + 1
  line_count, ids[line], assets[line], balances[line] = line, id, asset, balance + 0
  held[line], overdrafts[line] = held_text + 0, overdraft + 0
  first_balances[line], first_held[line] = balances[line], held[line]
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
  if line then return line end
  line = load(last_world)
  lines[last_world] = line
  return line
end

-- The line of an open account, or false.
local function open_line(id)
  local line = lines[id]
  if line ~= nil then return line end
  line = load(id)
  lines[id] = line
  if line then worlds[line] = world_of(assets[line]) end
  return line
end

-- The line of an open account of which nothing is due, or false.
local function open_account(id, now)
  local line = lines[id] or open_line(id)
  if line and held[line] > 0 and is_due("hold", id, now) then return false end
  return line
end

carry_out["ACCOUNT.CREDIT"] = function(values, at, now, _, list, place)
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
  list[place] = CREDITED
  list[place + 1] = id
  list[place + 2] = amount
  return place + 2, available, balance
end

carry_out["ACCOUNT.DEBIT"] = function(values, at, now, _, list, place)
  local id, amount = values[at + 1], values[at + 2]
  local line = lines[id] or open_line(id)
  if not line or held[line] > 0 and is_due("hold", id, now) then return nil end
  local balance = balances[line] - amount
  local available = balance - held[line]
  if available < -overdrafts[line] then return nil end
  local world = worlds[line]
  local world_balance = balances[world] + amount
  if world_balance > BALANCE_MAX then return nil end
  balances[line] = balance
  balances[world] = world_balance
  list[place] = DEBITED
  list[place + 1] = id
  list[place + 2] = amount
  return place + 2, available, balance
end

-- Whether the account covers the amount.
local function covers(line, amount)
  return amount - overdrafts[line] <= balances[line] - held[line]
end

carry_out["ACCOUNT.TRANSFER"] = function(values, at, now, _, list, place)
  local from, to, amount = values[at + 1], values[at + 2], values[at + 3]
  local source, destination = open_account(from, now), open_account(to, now)
  if not source or not destination or from == to or assets[source] ~= assets[destination] then return nil end
  if not covers(source, amount) or balances[destination] > BALANCE_MAX - amount then return nil end
  local from_balance, to_balance = balances[source] - amount, balances[destination] + amount
  local from_available, to_available = from_balance - held[source], to_balance - held[destination]
  balances[source] = from_balance
  balances[destination] = to_balance
  list[place] = 1
  list[place + 1] = TRANSFERRED
  list[place + 2] = from
  list[place + 3] = to
  list[place + 4] = amount
  list[place + 5] = from_balance
  list[place + 6] = from_available
  list[place + 7] = to_balance
  list[place + 8] = to_available
  return place + 8, from_available, to_available
end

carry_out["ACCOUNT.HOLD"] = function(values, at, now, _, list, place)
  local id, name, amount, ttl_ms = values[at + 1], values[at + 2], values[at + 3], values[at + 4]
  local line, hold = open_account(id, now), id .. " " .. name
  if not line or get("holds", hold) or not covers(line, amount) then return nil end
  local held_now = held[line] + amount
  if held_now > BALANCE_MAX then return nil end
  local deadline, available = ttl_ms and deadlines.after(now, ttl_ms), balances[line] - held_now
  sets.add("holds_by", hold)
  held[line] = held_now
  records.put("holds", hold, { amount = amount, status = "open", deadline = deadline or nil, ended_at = 0 })
  if deadline then deadlines.add(deadline, "hold", id, name) end
  list[place] = 1
  list[place + 1] = PLACED
  list[place + 2] = id
  list[place + 3] = name
  list[place + 4] = amount
  list[place + 5] = deadline
  list[place + 6] = held_now
  list[place + 7] = available
  return place + 7, available, deadline
end

-- Captures all that is held, for the world.
carry_out["ACCOUNT.CAPTURE"] = function(values, at, now, _, list, place)
  local id, name, amount, to = values[at + 1], values[at + 2], values[at + 3], values[at + 4]
  local hold_id = id .. " " .. name
  local line, found = open_account(id, now), get("holds", hold_id)
  if not line or not found or found.status ~= "open" or to then return nil end
  if amount and amount ~= found.amount then return nil end
  amount = found.amount
  local world = worlds[line]
  local world_balance = balances[world] + amount
  if world_balance > BALANCE_MAX then return nil end
  local hold, balance, held_now = change("holds", hold_id), balances[line] - amount, held[line] - amount
  local available = balance - held_now
  balances[line], held[line] = balance, held_now
  balances[world] = world_balance
  if hold.deadline then deadlines.remove(hold.deadline, "hold", id, name) end
  hold.amount, hold.status, hold.ended_at = 0, "captured", now
  deadlines.add_ended(now, "hold", id, name)
  list[place] = 1
  list[place + 1] = CAPTURED
  list[place + 2] = id
  list[place + 3] = name
  list[place + 4] = amount
  list[place + 5] = false
  list[place + 6] = 0
  list[place + 7] = 0
  list[place + 8] = balance
  list[place + 9] = held_now
  list[place + 10] = available
  list[place + 11] = false
  return place + 11, amount, 0, available
end
