-- Accounts: money in double entry. As `core/src/accounts`.

local refuse, emit = outcomes.refuse, log.emit
local status_at = deadlines.status_at

local BALANCE_MAX = constants.BALANCE_MAX

-- The world of the asset that was asked for last: most accounts of a call have the same.
local last_asset, last_world

local function world_of(asset)
  if asset ~= last_asset then last_asset, last_world = asset, constants.WORLD_PREFIX .. asset end
  return last_world
end

local function hold_key(account, hold)
  return account .. " " .. hold
end

-- What can be spent without the overdraft.
local function available_of(account)
  return account.balance - account.held
end

-- The account, or the refusal that it does not exist.
local function existing(id)
  return records.get("accounts", id) or refuse(codes.ACCOUNT_NOT_FOUND, id)
end

-- The account, or the refusal that it does not exist or is closed.
local function not_closed(id)
  local account = existing(id)
  if account.status == "closed" then refuse(codes.ACCOUNT_CLOSED, id) end
  return account
end

-- The account, or the refusal that it does not exist or may not spend.
local function spending(id)
  local account = not_closed(id)
  if account.status == "frozen" then refuse(codes.ACCOUNT_FROZEN, id) end
  return account
end

local function check_asset(source, destination)
  if source.asset ~= destination.asset then refuse(codes.ASSET_MISMATCH, source.asset, destination.asset) end
end

-- No sum here passes 2^53, so each is exact.
local function check_covers(id, account, amount)
  if amount - account.overdraft > available_of(account) then
    refuse(codes.INSUFFICIENT_FUNDS, id, available_of(account), amount)
  end
end

local function check_receives(account, amount)
  if account.balance > BALANCE_MAX - amount then refuse(codes.OVERFLOW, "balance") end
end

-- The world's balance is bounded like any other.
local function check_world(account, change)
  local balance = records.get("accounts", world_of(account.asset)).balance
  if change > 0 and balance > BALANCE_MAX - change or change < 0 and balance < -BALANCE_MAX - change then
    refuse(codes.OVERFLOW, "world")
  end
end

-- Movements ----------------------------------------------------------------------------------------------

decide["ACCOUNT.OPEN"] = function(command)
  if records.get("accounts", command.account) then refuse(codes.ACCOUNT_EXISTS, command.account) end
  emit("account.opened", {
    account = command.account, asset = command.asset, overdraft = command.overdraft,
  })
  return { 0 }
end

decide["ACCOUNT.CREDIT"] = function(command)
  local account, amount = not_closed(command.account), command.amount
  check_receives(account, amount)
  check_world(account, -amount)
  local balance, available = account.balance + amount, available_of(account) + amount
  emit("account.credited", {
    account = command.account, amount = amount, balance = balance, available = available,
  })
  return { available, balance }
end

decide["ACCOUNT.DEBIT"] = function(command)
  local account, amount = spending(command.account), command.amount
  check_covers(command.account, account, amount)
  check_world(account, amount)
  local balance, available = account.balance - amount, available_of(account) - amount
  emit("account.debited", {
    account = command.account, amount = amount, balance = balance, available = available,
  })
  return { available, balance }
end

decide["ACCOUNT.TRANSFER"] = function(command)
  local from, to, amount = command.from, command.to, command.amount
  if from == to then refuse(codes.SAME_ACCOUNT, from) end
  existing(from)
  existing(to)
  local source, destination = not_closed(from), not_closed(to)
  spending(from)
  check_asset(source, destination)
  check_covers(from, source, amount)
  check_receives(destination, amount)
  local from_available, to_available = available_of(source) - amount, available_of(destination) + amount
  emit("account.transferred", {
    from = from, to = to, amount = amount,
    from_balance = source.balance - amount, from_available = from_available,
    to_balance = destination.balance + amount, to_available = to_available,
  })
  return { from_available, to_available }
end

decide["ACCOUNT.FREEZE"] = function(command)
  if not_closed(command.account).status ~= "frozen" then
    emit("account.frozen", { account = command.account })
  end
  return { "frozen" }
end

decide["ACCOUNT.UNFREEZE"] = function(command)
  if not_closed(command.account).status ~= "open" then
    emit("account.unfrozen", { account = command.account })
  end
  return { "open" }
end

decide["ACCOUNT.CLOSE"] = function(command)
  local account = existing(command.account)
  if account.balance ~= 0 or account.held ~= 0 then
    refuse(codes.BALANCE_NOT_ZERO, account.balance, account.held)
  end
  if account.status ~= "closed" then emit("account.closed", { account = command.account }) end
  return { "closed" }
end

decide["ACCOUNT.OVERDRAFT"] = function(command)
  local account, overdraft = not_closed(command.account), command.overdraft
  local available = available_of(account)
  if available < -overdraft then refuse(codes.OVERDRAFT_IN_USE, available, overdraft) end
  if overdraft ~= account.overdraft then
    emit("account.overdraft_set", {
      account = command.account, overdraft = overdraft, available = available,
    })
  end
  return { overdraft, available }
end

-- Holds --------------------------------------------------------------------------------------------------

-- The hold, unless it ended so long ago that its name is free again.
local function visible(account, hold, now)
  local found = records.get("holds", hold_key(account, hold))
  if found and deadlines.is_visible(found, now) then return found end
end

local function open_hold(account, hold, now)
  local found = visible(account, hold, now) or refuse(codes.HOLD_NOT_FOUND, hold)
  local status = status_at(found, now)
  if status == "captured" then refuse(codes.HOLD_CAPTURED, hold) end
  if status == "voided" then refuse(codes.HOLD_VOIDED, hold) end
  if status == "expired" then refuse(codes.HOLD_EXPIRED, hold, found.deadline) end
  return found
end

decide["ACCOUNT.HOLD"] = function(command, context)
  local account, amount, now = spending(command.account), command.amount, context.now
  if visible(command.account, command.hold, now) then refuse(codes.HOLD_EXISTS, command.hold) end
  check_covers(command.account, account, amount)
  if account.held > BALANCE_MAX - amount then refuse(codes.OVERFLOW, "held") end
  local deadline = command.ttl_ms and deadlines.after(now, command.ttl_ms)
  local available = available_of(account) - amount
  emit("hold.placed", {
    account = command.account, hold = command.hold, amount = amount, deadline = deadline,
    held = account.held + amount, available = available,
  })
  return { available, deadline or false }
end

-- The balance that the destination will have; nil for the world.
local function check_destination(command, source, amount)
  if not command.to then
    check_world(source, amount)
    return nil
  end
  local destination = not_closed(command.to)
  check_asset(source, destination)
  if command.to == command.account then return destination.balance end
  check_receives(destination, amount)
  return destination.balance + amount
end

decide["ACCOUNT.CAPTURE"] = function(command, context)
  local source = existing(command.account)
  local hold = open_hold(command.account, command.hold, context.now)
  local amount = command.amount or hold.amount
  if amount > hold.amount then refuse(codes.AMOUNT_EXCEEDS_HOLD, hold.amount, amount) end
  local to_balance = check_destination(command, source, amount)
  local rest = hold.amount - amount
  local is_open = command.keep_rest == 1 and rest > 0
  local held = source.held - (is_open and amount or hold.amount)
  local balance = source.balance - (command.to == command.account and 0 or amount)
  local remaining = is_open and rest or 0
  emit("hold.captured", {
    account = command.account, hold = command.hold, amount = amount, to = command.to,
    hold_remaining = remaining, open = is_open and 1 or 0, balance = balance, held = held,
    available = balance - held, to_balance = to_balance,
  })
  return { amount, remaining, balance - held }
end

decide["ACCOUNT.VOID"] = function(command, context)
  local source = existing(command.account)
  local amount = open_hold(command.account, command.hold, context.now).amount
  local available = available_of(source) + amount
  emit("hold.voided", {
    account = command.account, hold = command.hold, amount = amount, held = source.held - amount,
    available = available,
  })
  return { amount, available }
end

decide["ACCOUNT.EXTEND"] = function(command, context)
  existing(command.account)
  open_hold(command.account, command.hold, context.now)
  local deadline = deadlines.after(context.now, command.ttl_ms)
  emit("hold.extended", { account = command.account, hold = command.hold, deadline = deadline })
  return { deadline }
end

local function expire(account, hold)
  local source, found = records.get("accounts", account), records.get("holds", hold_key(account, hold))
  emit("hold.expired", {
    account = account, hold = hold, amount = found.amount, held = source.held - found.amount,
    available = available_of(source) + found.amount,
  })
end

local function forget(account, hold)
  records.remove("holds", hold_key(account, hold))
  sets.remove("holds_by", hold_key(account, hold))
end

-- Whether an account has holds that may be due.
local function is_pending(id)
  local account = records.get("accounts", id)
  return account ~= nil and account.held > 0
end

ends_of.hold = { expire = expire, forget = forget, is_pending = is_pending }

-- Events -------------------------------------------------------------------------------------------------

-- Moves money between an account and the world.
local function move_money(id, change)
  local account = records.change("accounts", id)
  account.balance = account.balance + change
  local world = records.change("accounts", world_of(account.asset))
  world.balance = world.balance - change
end

local function add_balance(id, change)
  local account = records.change("accounts", id)
  account.balance = account.balance + change
end

local function new(asset, overdraft)
  return { asset = asset, balance = 0, held = 0, overdraft = overdraft, status = "open" }
end

evolve["account.opened"] = function(event)
  local world = world_of(event.asset)
  if not records.get("accounts", world) then records.put("accounts", world, new(event.asset, 0)) end
  records.put("accounts", event.account, new(event.asset, event.overdraft))
  lists.add("account", event.account)
end

evolve["account.credited"] = function(event) move_money(event.account, event.amount) end
evolve["account.debited"] = function(event) move_money(event.account, -event.amount) end

evolve["account.transferred"] = function(event)
  add_balance(event.from, -event.amount)
  add_balance(event.to, event.amount)
end

evolve["account.frozen"] = function(event) records.change("accounts", event.account).status = "frozen" end
evolve["account.unfrozen"] = function(event) records.change("accounts", event.account).status = "open" end
evolve["account.closed"] = function(event) records.change("accounts", event.account).status = "closed" end

evolve["account.overdraft_set"] = function(event)
  records.change("accounts", event.account).overdraft = event.overdraft
end

evolve["hold.placed"] = function(event)
  local key = hold_key(event.account, event.hold)
  local before = records.get("holds", key)
  if before then
    deadlines.remove_ended(before.ended_at, "hold", event.account, event.hold)
  else
    sets.add("holds_by", key)
  end
  local account = records.change("accounts", event.account)
  account.held = account.held + event.amount
  records.put("holds", key, { amount = event.amount, status = "open", deadline = event.deadline, ended_at = 0 })
  if event.deadline then deadlines.add(event.deadline, "hold", event.account, event.hold) end
end

-- Ends a hold; what it held is no longer set aside. An expired hold ended at its deadline, so that it is
-- forgotten at the same time whichever call notices.
local function free(event, status, at)
  local hold = records.change("holds", hold_key(event.account, event.hold))
  if hold.deadline then deadlines.remove(hold.deadline, "hold", event.account, event.hold) end
  local ended_at = status == "expired" and hold.deadline or at
  local account = records.change("accounts", event.account)
  account.held = account.held - hold.amount
  hold.amount, hold.status, hold.ended_at = 0, status, ended_at
  deadlines.add_ended(ended_at, "hold", event.account, event.hold)
end

evolve["hold.captured"] = function(event, at)
  if event.to then
    add_balance(event.account, -event.amount)
    add_balance(event.to, event.amount)
  else
    move_money(event.account, -event.amount)
  end
  if event.open == 0 then return free(event, "captured", at) end
  local account = records.change("accounts", event.account)
  account.held = account.held - event.amount
  local hold = records.change("holds", hold_key(event.account, event.hold))
  hold.amount = hold.amount - event.amount
end

evolve["hold.voided"] = function(event, at) free(event, "voided", at) end
evolve["hold.expired"] = function(event, at) free(event, "expired", at) end

evolve["hold.extended"] = function(event)
  local hold = records.change("holds", hold_key(event.account, event.hold))
  if hold.deadline then deadlines.remove(hold.deadline, "hold", event.account, event.hold) end
  hold.deadline = event.deadline
  deadlines.add(event.deadline, "hold", event.account, event.hold)
end

-- Queries ------------------------------------------------------------------------------------------------

query["ACCOUNT.GET"] = function(command)
  local account = existing(command.account)
  return {
    command.account, account.asset, account.balance, account.held, available_of(account), account.overdraft,
    account.status,
  }
end

query["ACCOUNT.WORLD"] = function(command)
  local id = world_of(command.asset)
  return { id, command.asset, existing(id).balance }
end

query["ACCOUNT.LIST"] = lists.answer("account", function(id, account)
  return { id, account.asset, account.balance, account.held, available_of(account), account.status }
end)

-- How many names one reading brings.
local PAGE = 100

query["ACCOUNT.HOLDS"] = function(command, now)
  local account, rows, after = command.account, {}, command.after
  existing(account)
  while true do
    local members = sets.starting_with("holds_by", account, after, PAGE)
    for _, member in ipairs(members) do
      local name = string.match(member, " (.*)$")
      local hold = visible(account, name, now)
      if hold then
        rows[#rows + 1] = { name, hold.amount, status_at(hold, now), hold.deadline or false }
      end
      if #rows == command.count then return { rows } end
      after = name
    end
    if #members < PAGE then return { rows } end
  end
end
