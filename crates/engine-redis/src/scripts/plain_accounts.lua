-- What is common of accounts, by plain code. As `accounts.lua`, which says what is refused; here that is left to it.
--
-- A function is given the values with the place of the command, the key of the operation, the stamp and the id. It gives
-- the place of the log's list up to which its events stand, how many they are, and the values of the answer; or nothing.

local BALANCE_MAX = constants.BALANCE_MAX

local get, change = records.get, records.change
local begin_entry, is_due = log.begin_entry, plain.is_due

local CREDITED, DEBITED = events["account.credited"].number, events["account.debited"].number
local TRANSFERRED = events["account.transferred"].number
local PLACED, CAPTURED = events["hold.placed"].number, events["hold.captured"].number

-- The world of the asset that was asked for last.
local last_asset, last_world

local function world_of(asset)
  if asset ~= last_asset then last_asset, last_world = asset, constants.WORLD_PREFIX .. asset end
  return last_world
end

-- An open account of which nothing is due; or nil.
local function open_account(id, now)
  local account = get("accounts", id)
  if not account or account.status ~= "open" or account.held > 0 and is_due("hold", id, now) then return nil end
  return account
end

-- Whether the account covers the amount.
local function covers(account, amount)
  return amount - account.overdraft <= account.balance - account.held
end

local function set_balance(id, balance)
  change("accounts", id).balance = balance
end

carry_out["ACCOUNT.CREDIT"] = function(values, at, key, now)
  local id, amount = values[at + 1], values[at + 2]
  local account = open_account(id, now)
  if not account or account.balance > BALANCE_MAX - amount then return nil end
  local world_id = world_of(account.asset)
  local world_balance = get("accounts", world_id).balance - amount
  if world_balance < -BALANCE_MAX then return nil end
  local balance = account.balance + amount
  local available = balance - account.held
  set_balance(id, balance)
  set_balance(world_id, world_balance)
  local list, place = begin_entry(key)
  list[place + 1] = CREDITED
  list[place + 2] = id
  list[place + 3] = amount
  list[place + 4] = balance
  list[place + 5] = available
  return place + 5, 1, available, balance
end

carry_out["ACCOUNT.DEBIT"] = function(values, at, key, now)
  local id, amount = values[at + 1], values[at + 2]
  local account = open_account(id, now)
  if not account or not covers(account, amount) then return nil end
  local world_id = world_of(account.asset)
  local world_balance = get("accounts", world_id).balance + amount
  if world_balance > BALANCE_MAX then return nil end
  local balance = account.balance - amount
  local available = balance - account.held
  set_balance(id, balance)
  set_balance(world_id, world_balance)
  local list, place = begin_entry(key)
  list[place + 1] = DEBITED
  list[place + 2] = id
  list[place + 3] = amount
  list[place + 4] = balance
  list[place + 5] = available
  return place + 5, 1, available, balance
end

carry_out["ACCOUNT.TRANSFER"] = function(values, at, key, now)
  local from, to, amount = values[at + 1], values[at + 2], values[at + 3]
  local source, destination = open_account(from, now), open_account(to, now)
  if not source or not destination or from == to or source.asset ~= destination.asset then return nil end
  if not covers(source, amount) or destination.balance > BALANCE_MAX - amount then return nil end
  local from_balance, to_balance = source.balance - amount, destination.balance + amount
  local from_available, to_available = from_balance - source.held, to_balance - destination.held
  set_balance(from, from_balance)
  set_balance(to, to_balance)
  local list, place = begin_entry(key)
  list[place + 1] = TRANSFERRED
  list[place + 2] = from
  list[place + 3] = to
  list[place + 4] = amount
  list[place + 5] = from_balance
  list[place + 6] = from_available
  list[place + 7] = to_balance
  list[place + 8] = to_available
  return place + 8, 1, from_available, to_available
end

carry_out["ACCOUNT.HOLD"] = function(values, at, key, now)
  local id, name, amount, ttl_ms = values[at + 1], values[at + 2], values[at + 3], values[at + 4]
  local account, hold = open_account(id, now), id .. " " .. name
  if not account or get("holds", hold) or not covers(account, amount) then return nil end
  local held = account.held + amount
  if held > BALANCE_MAX then return nil end
  local deadline, available = ttl_ms and deadlines.after(now, ttl_ms), account.balance - held
  sets.add("holds_by", hold)
  change("accounts", id).held = held
  records.put("holds", hold, { amount = amount, status = "open", deadline = deadline or nil, ended_at = 0 })
  if deadline then deadlines.add(deadline, "hold", id, name) end
  local list, place = begin_entry(key)
  list[place + 1] = PLACED
  list[place + 2] = id
  list[place + 3] = name
  list[place + 4] = amount
  list[place + 5] = deadline
  list[place + 6] = held
  list[place + 7] = available
  return place + 7, 1, available, deadline
end

-- Captures all that is held, for the world.
carry_out["ACCOUNT.CAPTURE"] = function(values, at, key, now)
  local id, name, amount, to = values[at + 1], values[at + 2], values[at + 3], values[at + 4]
  local hold_id = id .. " " .. name
  local account, found = open_account(id, now), get("holds", hold_id)
  if not account or not found or found.status ~= "open" or to then return nil end
  if amount and amount ~= found.amount then return nil end
  amount = found.amount
  local world_id = world_of(account.asset)
  local world_balance = get("accounts", world_id).balance + amount
  if world_balance > BALANCE_MAX then return nil end
  local hold, balance, held = change("holds", hold_id), account.balance - amount, account.held - amount
  local available = balance - held
  set_balance(id, balance)
  account.held = held
  set_balance(world_id, world_balance)
  if hold.deadline then deadlines.remove(hold.deadline, "hold", id, name) end
  hold.amount, hold.status, hold.ended_at = 0, "captured", now
  deadlines.add_ended(now, "hold", id, name)
  local list, place = begin_entry(key)
  list[place + 1] = CAPTURED
  list[place + 2] = id
  list[place + 3] = name
  list[place + 4] = amount
  list[place + 5] = false
  list[place + 6] = 0
  list[place + 7] = 0
  list[place + 8] = balance
  list[place + 9] = held
  list[place + 10] = available
  list[place + 11] = false
  return place + 11, 1, amount, 0, available
end
