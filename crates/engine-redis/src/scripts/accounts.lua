-- Accounts: money in double entry. As `core/src/accounts`.

local BALANCE_MAX = 9007199254740991

S.hash_of_argument.account, S.hash_of_argument.from, S.hash_of_argument.to = "accounts", "accounts", "accounts"

-- The world of the asset that was asked for last: most accounts of a call have the same.
local last_asset, last_world

local function world_of(asset)
  if asset ~= last_asset then last_asset, last_world = asset, "$world:" .. asset end
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
  return S.get("accounts", id) or S.refuse("ACCOUNT_NOT_FOUND", id)
end

-- The account, or the refusal that it does not exist or is closed.
local function not_closed(id)
  local account = existing(id)
  if account.status == "closed" then S.refuse("ACCOUNT_CLOSED", id) end
  return account
end

-- The account, or the refusal that it does not exist or may not spend.
local function spending(id)
  local account = not_closed(id)
  if account.status == "frozen" then S.refuse("ACCOUNT_FROZEN", id) end
  return account
end

local function check_asset(source, destination)
  if source.asset ~= destination.asset then S.refuse("ASSET_MISMATCH", source.asset, destination.asset) end
end

-- No sum here passes 2^53, so each is exact.
local function check_covers(id, account, amount)
  if amount - account.overdraft > available_of(account) then
    S.refuse("INSUFFICIENT_FUNDS", id, available_of(account), amount)
  end
end

local function check_receives(account, amount)
  if account.balance > BALANCE_MAX - amount then S.refuse("OVERFLOW", "balance") end
end

-- The world's balance is bounded like any other.
local function check_world(account, change)
  local balance = S.get("accounts", world_of(account.asset)).balance
  if change > 0 and balance > BALANCE_MAX - change or change < 0 and balance < -BALANCE_MAX - change then
    S.refuse("OVERFLOW", "world")
  end
end

-- Movements ----------------------------------------------------------------------------------------------

S.decide["ACCOUNT.OPEN"] = function(command)
  if S.get("accounts", command.account) then S.refuse("ACCOUNT_EXISTS", command.account) end
  S.emit("account.opened", {
    account = command.account, asset = command.asset, overdraft = command.overdraft,
  })
  return { 0 }
end

S.decide["ACCOUNT.CREDIT"] = function(command)
  local account, amount = not_closed(command.account), command.amount
  check_receives(account, amount)
  check_world(account, -amount)
  local balance, available = account.balance + amount, available_of(account) + amount
  S.emit("account.credited", {
    account = command.account, amount = amount, balance = balance, available = available,
  })
  return { available, balance }
end

S.decide["ACCOUNT.DEBIT"] = function(command)
  local account, amount = spending(command.account), command.amount
  check_covers(command.account, account, amount)
  check_world(account, amount)
  local balance, available = account.balance - amount, available_of(account) - amount
  S.emit("account.debited", {
    account = command.account, amount = amount, balance = balance, available = available,
  })
  return { available, balance }
end

S.decide["ACCOUNT.TRANSFER"] = function(command)
  local from, to, amount = command.from, command.to, command.amount
  if from == to then S.refuse("SAME_ACCOUNT", from) end
  existing(from)
  existing(to)
  local source, destination = not_closed(from), not_closed(to)
  spending(from)
  check_asset(source, destination)
  check_covers(from, source, amount)
  check_receives(destination, amount)
  local from_available, to_available = available_of(source) - amount, available_of(destination) + amount
  S.emit("account.transferred", {
    from = from, to = to, amount = amount,
    from_balance = source.balance - amount, from_available = from_available,
    to_balance = destination.balance + amount, to_available = to_available,
  })
  return { from_available, to_available }
end

S.decide["ACCOUNT.FREEZE"] = function(command)
  if not_closed(command.account).status ~= "frozen" then
    S.emit("account.frozen", { account = command.account })
  end
  return { "frozen" }
end

S.decide["ACCOUNT.UNFREEZE"] = function(command)
  if not_closed(command.account).status ~= "open" then
    S.emit("account.unfrozen", { account = command.account })
  end
  return { "open" }
end

S.decide["ACCOUNT.CLOSE"] = function(command)
  local account = existing(command.account)
  if account.balance ~= 0 or account.held ~= 0 then
    S.refuse("BALANCE_NOT_ZERO", account.balance, account.held)
  end
  if account.status ~= "closed" then S.emit("account.closed", { account = command.account }) end
  return { "closed" }
end

S.decide["ACCOUNT.OVERDRAFT"] = function(command)
  local account, overdraft = not_closed(command.account), command.overdraft
  local available = available_of(account)
  if available < -overdraft then S.refuse("OVERDRAFT_IN_USE", available, overdraft) end
  if overdraft ~= account.overdraft then
    S.emit("account.overdraft_set", {
      account = command.account, overdraft = overdraft, available = available,
    })
  end
  return { overdraft, available }
end

-- Holds --------------------------------------------------------------------------------------------------

-- The hold, unless it ended so long ago that its name is free again.
local function visible(account, hold, now)
  local found = S.get("holds", hold_key(account, hold))
  if found and (found.status == "open" or S.is_retained(found.ended_at, now)) then return found end
end

-- The status as it is at `now`: past its deadline a hold has ended, whether or not that was noted.
local function status_at(hold, now)
  local is_due = hold.deadline and now >= hold.deadline
  return hold.status == "open" and is_due and "expired" or hold.status
end

local function open_hold(account, hold, now)
  local found = visible(account, hold, now) or S.refuse("HOLD_NOT_FOUND", hold)
  local status = status_at(found, now)
  if status == "captured" then S.refuse("HOLD_CAPTURED", hold) end
  if status == "voided" then S.refuse("HOLD_VOIDED", hold) end
  if status == "expired" then S.refuse("HOLD_EXPIRED", hold, found.deadline) end
  return found
end

S.decide["ACCOUNT.HOLD"] = function(command, context)
  local account, amount, now = spending(command.account), command.amount, context.now
  if visible(command.account, command.hold, now) then S.refuse("HOLD_EXISTS", command.hold) end
  check_covers(command.account, account, amount)
  if account.held > BALANCE_MAX - amount then S.refuse("OVERFLOW", "held") end
  local deadline = command.ttl_ms and S.deadline_after(now, command.ttl_ms)
  local available = available_of(account) - amount
  S.emit("hold.placed", {
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

S.decide["ACCOUNT.CAPTURE"] = function(command, context)
  local source = existing(command.account)
  local hold = open_hold(command.account, command.hold, context.now)
  local amount = command.amount or hold.amount
  if amount > hold.amount then S.refuse("AMOUNT_EXCEEDS_HOLD", hold.amount, amount) end
  local to_balance = check_destination(command, source, amount)
  local rest = hold.amount - amount
  local is_open = command.keep_rest == 1 and rest > 0
  local held = source.held - (is_open and amount or hold.amount)
  local balance = source.balance - (command.to == command.account and 0 or amount)
  local remaining = is_open and rest or 0
  S.emit("hold.captured", {
    account = command.account, hold = command.hold, amount = amount, to = command.to,
    hold_remaining = remaining, open = is_open and 1 or 0, balance = balance, held = held,
    available = balance - held, to_balance = to_balance,
  })
  return { amount, remaining, balance - held }
end

S.decide["ACCOUNT.VOID"] = function(command, context)
  local source = existing(command.account)
  local amount = open_hold(command.account, command.hold, context.now).amount
  local available = available_of(source) + amount
  S.emit("hold.voided", {
    account = command.account, hold = command.hold, amount = amount, held = source.held - amount,
    available = available,
  })
  return { amount, available }
end

S.decide["ACCOUNT.EXTEND"] = function(command, context)
  existing(command.account)
  open_hold(command.account, command.hold, context.now)
  local deadline = S.deadline_after(context.now, command.ttl_ms)
  S.emit("hold.extended", { account = command.account, hold = command.hold, deadline = deadline })
  return { deadline }
end

S.expire_record.hold = function(account, hold)
  local source, found = S.get("accounts", account), S.get("holds", hold_key(account, hold))
  S.emit("hold.expired", {
    account = account, hold = hold, amount = found.amount, held = source.held - found.amount,
    available = available_of(source) + found.amount,
  })
end

S.forget_record.hold = function(account, hold)
  S.remove("holds", hold_key(account, hold))
  S.lex_remove("holds_by", hold_key(account, hold))
end

local function touch(id, visit)
  local account = id and S.get("accounts", id)
  if account and account.held > 0 then visit("hold", id) end
end

S.touched.ACCOUNT = function(command, visit)
  touch(command.account or command.from, visit)
  touch(command.to, visit)
end

-- Events -------------------------------------------------------------------------------------------------

-- Moves money between an account and the world.
local function move_money(id, change)
  local account = S.change("accounts", id)
  account.balance = account.balance + change
  local world = S.change("accounts", world_of(account.asset))
  world.balance = world.balance - change
end

local function add_balance(id, change)
  local account = S.change("accounts", id)
  account.balance = account.balance + change
end

local function new(asset, overdraft)
  return { asset = asset, balance = 0, held = 0, overdraft = overdraft, status = "open" }
end

S.evolve["account.opened"] = function(event)
  local world = world_of(event.asset)
  if not S.get("accounts", world) then S.put("accounts", world, new(event.asset, 0)) end
  S.put("accounts", event.account, new(event.asset, event.overdraft))
end

S.evolve["account.credited"] = function(event) move_money(event.account, event.amount) end
S.evolve["account.debited"] = function(event) move_money(event.account, -event.amount) end

S.evolve["account.transferred"] = function(event)
  add_balance(event.from, -event.amount)
  add_balance(event.to, event.amount)
end

S.evolve["account.frozen"] = function(event) S.change("accounts", event.account).status = "frozen" end
S.evolve["account.unfrozen"] = function(event) S.change("accounts", event.account).status = "open" end
S.evolve["account.closed"] = function(event) S.change("accounts", event.account).status = "closed" end

S.evolve["account.overdraft_set"] = function(event)
  S.change("accounts", event.account).overdraft = event.overdraft
end

S.evolve["hold.placed"] = function(event)
  local key = hold_key(event.account, event.hold)
  local before = S.get("holds", key)
  if before then
    S.remove_ended(before.ended_at, "hold", event.account, event.hold)
  else
    S.lex_add("holds_by", key)
  end
  local account = S.change("accounts", event.account)
  account.held = account.held + event.amount
  S.put("holds", key, { amount = event.amount, status = "open", deadline = event.deadline, ended_at = 0 })
  if event.deadline then S.add_deadline(event.deadline, "hold", event.account, event.hold) end
end

-- Ends a hold; what it held is no longer set aside. An expired hold ended at its deadline, so that it is
-- forgotten at the same time whoever noticed.
local function free(event, status, at)
  local hold = S.change("holds", hold_key(event.account, event.hold))
  if hold.deadline then S.remove_deadline(hold.deadline, "hold", event.account, event.hold) end
  local ended_at = status == "expired" and hold.deadline or at
  local account = S.change("accounts", event.account)
  account.held = account.held - hold.amount
  hold.amount, hold.status, hold.ended_at = 0, status, ended_at
  S.add_ended(ended_at, "hold", event.account, event.hold)
end

S.evolve["hold.captured"] = function(event, at)
  if event.to then
    add_balance(event.account, -event.amount)
    add_balance(event.to, event.amount)
  else
    move_money(event.account, -event.amount)
  end
  if event.open == 0 then return free(event, "captured", at) end
  local account = S.change("accounts", event.account)
  account.held = account.held - event.amount
  local hold = S.change("holds", hold_key(event.account, event.hold))
  hold.amount = hold.amount - event.amount
end

S.evolve["hold.voided"] = function(event, at) free(event, "voided", at) end
S.evolve["hold.expired"] = function(event, at) free(event, "expired", at) end

S.evolve["hold.extended"] = function(event)
  local hold = S.change("holds", hold_key(event.account, event.hold))
  if hold.deadline then S.remove_deadline(hold.deadline, "hold", event.account, event.hold) end
  hold.deadline = event.deadline
  S.add_deadline(event.deadline, "hold", event.account, event.hold)
end

-- Queries ------------------------------------------------------------------------------------------------

S.query["ACCOUNT.GET"] = function(command)
  local account = existing(command.account)
  return {
    command.account, account.asset, account.balance, account.held, available_of(account), account.overdraft,
    account.status,
  }
end

S.query["ACCOUNT.WORLD"] = function(command)
  local id = world_of(command.asset)
  return { id, command.asset, existing(id).balance }
end

-- How many names one reading brings.
local PAGE = 100

S.query["ACCOUNT.HOLDS"] = function(command, now)
  local account, rows, after = command.account, {}, command.after
  existing(account)
  while true do
    local members = S.lex_of("holds_by", account, after, PAGE)
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
