-- Stock: countable things, total = available + reserved + sold. As `core/src/stock`.
--
-- An item's audit under way stands in its record: audit_horizon is nil where there is none.

local refuse, emit = outcomes.refuse, log.emit
local status_at = deadlines.status_at
local receipt_key, serial_member, add_receipt = retention.key, retention.member, retention.add
local last_up_to = retention.last_up_to

local INTEGER_MAX = constants.INTEGER_MAX

local function key_of(sku, name)
  return sku .. " " .. name
end

-- The item, or the refusal that it does not exist.
local function existing(sku)
  return records.get("stock", sku) or refuse(codes.STOCK_NOT_FOUND, sku)
end

local function not_closed(sku)
  local item = existing(sku)
  if item.closed == 1 then refuse(codes.STOCK_CLOSED, sku) end
  return item
end

-- The item, or the refusal that nothing of it is sold now.
local function on_sale(sku, now)
  local item = not_closed(sku)
  deadlines.check_times(item.starts_at, item.ends_at, now)
  return item
end

-- Adds the event that goes with `available` reaching nought or leaving it.
local function note_availability(sku, item, available)
  if item.available > 0 and available == 0 then
    emit("stock.sold_out", { sku = sku })
  elseif item.available == 0 and available > 0 and item.closed == 0 then
    emit("stock.available_again", { sku = sku, available = available })
  end
end

-- Items --------------------------------------------------------------------------------------------------

decide["STOCK.CREATE"] = function(command)
  if records.get("stock", command.sku) then refuse(codes.STOCK_EXISTS, command.sku) end
  emit("stock.created", {
    sku = command.sku, quantity = command.quantity, per_owner_max = command.per_owner_max,
    starts_at = command.starts_at, ends_at = command.ends_at,
  })
  return { command.quantity }
end

decide["STOCK.RESTOCK"] = function(command)
  local item, quantity = not_closed(command.sku), command.quantity
  if item.total > INTEGER_MAX - quantity then refuse(codes.OVERFLOW, "total") end
  local available, total = item.available + quantity, item.total + quantity
  emit("stock.restocked", {
    sku = command.sku, quantity = quantity, available = available, total = total,
  })
  note_availability(command.sku, item, available)
  return { available, total }
end

decide["STOCK.ADJUST"] = function(command)
  local item, delta = not_closed(command.sku), command.delta
  if delta < 0 and item.available < -delta then
    refuse(codes.INSUFFICIENT_STOCK, item.available, math.abs(delta))
  end
  if delta > 0 and item.total > INTEGER_MAX - delta then refuse(codes.OVERFLOW, "total") end
  local available, total = item.available + delta, item.total + delta
  emit("stock.adjusted", {
    sku = command.sku, delta = delta, reason = command.reason, available = available, total = total,
  })
  note_availability(command.sku, item, available)
  return { available, total }
end

decide["STOCK.CLOSE"] = function(command)
  local item = existing(command.sku)
  if item.closed == 0 then emit("stock.closed", { sku = command.sku }) end
  return { item.available, item.reserved, item.sold }
end

-- Sales --------------------------------------------------------------------------------------------------

-- Whether the owner may have `quantity` more, as many are left, and serials enough.
local function check_quantity(sku, item, quantity, owner)
  if item.per_owner_max then
    local counter = records.get("owners", key_of(sku, owner))
    local used = counter and counter.used or 0
    if used > item.per_owner_max - quantity then refuse(codes.OWNER_LIMIT_REACHED, used, item.per_owner_max) end
  end
  if item.available < quantity then
    refuse(item.available == 0 and codes.SOLD_OUT or codes.INSUFFICIENT_STOCK, item.available, quantity)
  end
  -- Reserved units will need serials too; a confirmation is never refused for want of them.
  if item.serial > INTEGER_MAX - item.reserved - quantity then refuse(codes.OVERFLOW, "serial") end
end

decide["STOCK.TAKE"] = function(command, context)
  local sku, quantity = command.sku, command.quantity
  local item = on_sale(sku, context.now)
  check_quantity(sku, item, quantity, command.owner)
  local first_serial, available = item.serial + 1, item.available - quantity
  emit("stock.taken", {
    sku = sku, owner = command.owner, quantity = quantity, first_serial = first_serial,
    available = available, sold = item.sold + quantity,
  })
  note_availability(sku, item, available)
  return { first_serial, available }
end

-- The first serial and the receipt that holds the whole range, none of which came back yet; or nil.
local function sold_range(sku, first, count)
  local receipt = last_up_to("receipts", sku, first)
  local sale = receipt and records.get("receipts_of", receipt_key(sku, receipt))
  local last = first + count - 1
  if not sale or last > receipt + sale.count - 1 then return nil end
  local returned, length = last_up_to("returned", sku, last)
  if returned and returned + length > first then return nil end
  return receipt, sale
end

decide["STOCK.RETURN"] = function(command, context)
  local sku, first, count = command.sku, command.first, command.count
  local item = existing(sku)
  if retention.is_over(sku, item, first, context.now) then refuse(codes.RECEIPT_EXPIRED, first, count) end
  local receipt, sale = sold_range(sku, first, count)
  if not receipt then refuse(codes.UNITS_NOT_SOLD, first, count) end
  local available = item.available + count
  emit("stock.returned", {
    sku = sku, owner = sale.owner, receipt = receipt, first = first, count = count,
    available = available, sold = item.sold - count,
  })
  note_availability(sku, item, available)
  return { count, available }
end

-- Reservations -------------------------------------------------------------------------------------------

-- The reservation, unless it ended so long ago that its name is free again.
local function visible(sku, name, now)
  local found = records.get("stock", sku) and records.get("reservations", key_of(sku, name))
  if found and deadlines.is_visible(found, now) then return found end
end

local function open_reservation(sku, name, now)
  local found = visible(sku, name, now) or refuse(codes.RESERVATION_NOT_FOUND, name)
  local status = status_at(found, now)
  if status == "confirmed" then refuse(codes.RESERVATION_CONFIRMED, name) end
  if status == "released" then refuse(codes.RESERVATION_RELEASED, name) end
  if status == "expired" then refuse(codes.RESERVATION_EXPIRED, name, found.deadline) end
  return found, records.get("stock", sku)
end

decide["STOCK.RESERVE"] = function(command, context)
  local sku, quantity, now = command.sku, command.quantity, context.now
  local item = on_sale(sku, now)
  if visible(sku, command.reservation, now) then refuse(codes.RESERVATION_EXISTS, command.reservation) end
  check_quantity(sku, item, quantity, command.owner)
  local deadline, available = deadlines.after(now, command.ttl_ms), item.available - quantity
  emit("reservation.placed", {
    sku = sku, reservation = command.reservation, owner = command.owner, quantity = quantity,
    deadline = deadline, available = available, reserved = item.reserved + quantity,
  })
  note_availability(sku, item, available)
  return { deadline, available }
end

decide["STOCK.CONFIRM"] = function(command, context)
  local found, item = open_reservation(command.sku, command.reservation, context.now)
  local first_serial = item.serial + 1
  emit("reservation.confirmed", {
    sku = command.sku, reservation = command.reservation, owner = found.owner, quantity = found.quantity,
    first_serial = first_serial, reserved = item.reserved - found.quantity, sold = item.sold + found.quantity,
  })
  return { first_serial, found.quantity }
end

-- What ends a reservation without a sale.
local function emit_given_up(event, sku, name, found, item)
  local available = item.available + found.quantity
  emit(event, {
    sku = sku, reservation = name, owner = found.owner, quantity = found.quantity, available = available,
    reserved = item.reserved - found.quantity,
  })
  note_availability(sku, item, available)
  return available
end

decide["STOCK.RELEASE"] = function(command, context)
  local found, item = open_reservation(command.sku, command.reservation, context.now)
  local available = emit_given_up("reservation.released", command.sku, command.reservation, found, item)
  return { found.quantity, available }
end

decide["STOCK.EXTEND"] = function(command, context)
  open_reservation(command.sku, command.reservation, context.now)
  local deadline = deadlines.after(context.now, command.ttl_ms)
  emit("reservation.extended", {
    sku = command.sku, reservation = command.reservation, deadline = deadline,
  })
  return { deadline }
end

local function expire(sku, name)
  local found = records.get("reservations", key_of(sku, name))
  emit_given_up("reservation.expired", sku, name, found, records.get("stock", sku))
end

local function forget(sku, name)
  records.remove("reservations", key_of(sku, name))
end

-- Whether an item has reservations that may be due.
local function is_pending(sku)
  local item = records.get("stock", sku)
  return item ~= nil and item.reserved > 0
end

ends_of.reservation = { expire = expire, forget = forget, is_pending = is_pending }

-- Audit --------------------------------------------------------------------------------------------------

local function inconsistent(counter, counted, recorded)
  refuse(codes.STOCK_INCONSISTENT, counter, counted, recorded)
end

-- The last serial of the piece, and the units still sold up to there. Receipts follow each other without
-- gaps, so a serial that no receipt holds is found where it is missing.
local function recount(sku, through, counted, horizon)
  local limit = settings.receipts_per_audit_max
  -- The rest may have left meanwhile, and what is behind the horizon was sold later.
  if through >= horizon then return through, counted end
  local first = "[" .. serial_member(sku, through + 1)
  local last = "[" .. serial_member(sku, horizon)
  local members = sets.range("receipts", first, last, limit)
  local serials, keys = {}, {}
  for at, member in ipairs(members) do
    serials[at] = tonumber(string.match(member, " (%d+)$"))
    keys[at] = receipt_key(sku, serials[at])
  end
  records.prefetch("receipts_of", keys)
  for at, serial in ipairs(serials) do
    local receipt = records.get("receipts_of", keys[at])
    if serial ~= through + 1 then inconsistent("serial", serial, through + 1) end
    if receipt.returned > receipt.count then inconsistent("returned", receipt.returned, receipt.count) end
    through = through + receipt.count
    counted = counted + receipt.count - receipt.returned
  end
  if #members < limit and through < horizon then inconsistent("serial", through, horizon) end
  return through, counted
end

decide["STOCK.AUDIT"] = function(command)
  local sku, item = command.sku, existing(command.sku)
  local sum = item.available + item.reserved + item.sold
  if item.total ~= sum then inconsistent("total", sum, item.total) end
  -- Receipts that have left were counted when they did.
  local horizon, through = item.serial, item.forgotten_through or 0
  local counted, expected = item.forgotten_sold or 0, item.sold
  if item.audit_horizon then
    horizon, through = item.audit_horizon, item.audit_through
    counted, expected = item.audit_counted, item.audit_expected
  end
  through, counted = recount(sku, through, counted, horizon)
  if through < horizon then
    emit("stock.audit_advanced", {
      sku = sku, through_serial = through, horizon_serial = horizon, counted = counted, expected = expected,
    })
    return { "RUNNING", counted, through }
  end
  if counted ~= expected then inconsistent("sold", counted, expected) end
  emit("stock.audited", {
    sku = sku, horizon_serial = horizon, counted = counted, expected = expected, consistent = 1,
  })
  return { "CONSISTENT", counted, through }
end

-- Events -------------------------------------------------------------------------------------------------

-- These only tell of what another event changed.
evolve["stock.sold_out"] = log.change_nothing
evolve["stock.available_again"] = log.change_nothing

evolve["stock.created"] = function(event)
  records.put("stock", event.sku, {
    total = event.quantity, available = event.quantity, reserved = 0, sold = 0, returned = 0, serial = 0,
    per_owner_max = event.per_owner_max, starts_at = event.starts_at, ends_at = event.ends_at, closed = 0,
  })
  lists.add("stock", event.sku)
end

evolve["stock.restocked"] = function(event)
  local item = records.change("stock", event.sku)
  item.available, item.total = item.available + event.quantity, item.total + event.quantity
end

evolve["stock.adjusted"] = function(event)
  local item = records.change("stock", event.sku)
  item.available, item.total = item.available + event.delta, item.total + event.delta
end

evolve["stock.closed"] = function(event) records.change("stock", event.sku).closed = 1 end

evolve["stock.audit_advanced"] = function(event)
  local item = records.change("stock", event.sku)
  item.audit_horizon, item.audit_through = event.horizon_serial, event.through_serial
  item.audit_counted, item.audit_expected = event.counted, event.expected
end

evolve["stock.audited"] = function(event)
  local item = records.change("stock", event.sku)
  item.audit_horizon, item.audit_through, item.audit_counted, item.audit_expected = nil, nil, nil, nil
end

-- Owners are counted only where a limit asks for it; it cannot be set later. Who stands at nought is not kept.
local function count_owner(item, sku, owner, change)
  if not item.per_owner_max then return end
  local key = key_of(sku, owner)
  local counter = records.get("owners", key)
  local used = math.max((counter and counter.used or 0) + change, 0)
  if used > 0 then
    records.put("owners", key, { used = used })
  elseif counter then
    records.remove("owners", key)
  end
end

evolve["stock.taken"] = function(event, at, operation)
  local item, quantity = records.change("stock", event.sku), event.quantity
  item.available, item.sold = item.available - quantity, item.sold + quantity
  item.serial = item.serial + quantity
  count_owner(item, event.sku, event.owner, quantity)
  add_receipt(item, event, at, operation)
end

-- Units that came back are looked for no more, and taken off again where they were counted.
local function give_back_to_audit(item, receipt, count)
  if not item.audit_horizon then return end
  if receipt <= item.audit_horizon then item.audit_expected = math.max(item.audit_expected - count, 0) end
  if receipt <= item.audit_through then item.audit_counted = math.max(item.audit_counted - count, 0) end
end

local function returned_member(sku, first, count)
  return serial_member(sku, first) .. " " .. encoding.number(count)
end

-- Notes a range that came back, joined with its neighbours within the receipt.
local function add_returned(sku, receipt, first, count)
  local sale = records.get("receipts_of", receipt_key(sku, receipt))
  local before, length = last_up_to("returned", sku, first - 1)
  if before and before >= receipt and before + length == first then
    sets.remove("returned", returned_member(sku, before, length))
    first, count = before, length + count
  end
  if first + count < receipt + sale.count then
    local after, rest = last_up_to("returned", sku, first + count)
    if after == first + count then
      sets.remove("returned", returned_member(sku, after, rest))
      count = count + rest
    end
  end
  sets.add("returned", returned_member(sku, first, count))
end

evolve["stock.returned"] = function(event)
  local item, count = records.change("stock", event.sku), event.count
  item.available, item.sold = item.available + count, item.sold - count
  item.returned = item.returned + count
  give_back_to_audit(item, event.receipt, count)
  local sale = records.change("receipts_of", receipt_key(event.sku, event.receipt))
  sale.returned = sale.returned + count
  count_owner(item, event.sku, event.owner, -count)
  add_returned(event.sku, event.receipt, event.first, count)
end

evolve["reservation.placed"] = function(event)
  local sku, key = event.sku, key_of(event.sku, event.reservation)
  local before = records.get("reservations", key)
  if before then deadlines.remove_ended(before.ended_at, "reservation", sku, event.reservation) end
  local item = records.change("stock", sku)
  item.available, item.reserved = item.available - event.quantity, item.reserved + event.quantity
  count_owner(item, sku, event.owner, event.quantity)
  records.put("reservations", key, {
    owner = event.owner, quantity = event.quantity, status = "open", deadline = event.deadline,
    first_serial = 0, ended_at = 0,
  })
  deadlines.add(event.deadline, "reservation", sku, event.reservation)
end

-- Marks a reservation as ended. An expired one ended at its deadline, so that it is forgotten at the same
-- time whichever call notices.
local function end_reservation(event, status, at)
  local reservation = records.change("reservations", key_of(event.sku, event.reservation))
  local ended_at = status == "expired" and reservation.deadline or at
  reservation.status, reservation.ended_at = status, ended_at
  deadlines.remove(reservation.deadline, "reservation", event.sku, event.reservation)
  deadlines.add_ended(ended_at, "reservation", event.sku, event.reservation)
  return reservation
end

evolve["reservation.confirmed"] = function(event, at, operation)
  local reservation = end_reservation(event, "confirmed", at)
  local item, quantity = records.change("stock", event.sku), event.quantity
  item.reserved, item.sold = item.reserved - quantity, item.sold + quantity
  item.serial = item.serial + quantity
  reservation.first_serial = event.first_serial
  add_receipt(item, event, at, operation)
end

-- Ends a reservation without a sale; its units can be had again.
local function give_up(event, status, at)
  local reservation = end_reservation(event, status, at)
  local item = records.change("stock", event.sku)
  item.reserved, item.available = item.reserved - reservation.quantity, item.available + reservation.quantity
  count_owner(item, event.sku, reservation.owner, -reservation.quantity)
end

evolve["reservation.released"] = function(event, at) give_up(event, "released", at) end
evolve["reservation.expired"] = function(event, at) give_up(event, "expired", at) end

evolve["reservation.extended"] = function(event)
  local reservation = records.change("reservations", key_of(event.sku, event.reservation))
  deadlines.remove(reservation.deadline, "reservation", event.sku, event.reservation)
  reservation.deadline = event.deadline
  deadlines.add(event.deadline, "reservation", event.sku, event.reservation)
end

-- Queries ------------------------------------------------------------------------------------------------

local function status_of(item, now)
  return item.closed == 1 and "closed" or deadlines.times_status(item.starts_at, item.ends_at, now)
end

query["STOCK.GET"] = function(command, now)
  local item = existing(command.sku)
  return {
    command.sku, item.total, item.available, item.reserved, item.sold, item.returned,
    item.per_owner_max or false, item.starts_at or false, item.ends_at or false,
    status_of(item, now),
  }
end

query["STOCK.LIST"] = lists.answer("stock", function(sku, item, now)
  return { sku, item.total, item.available, item.reserved, item.sold, status_of(item, now) }
end)

query["STOCK.RESERVATION"] = function(command, now)
  local name = command.reservation
  local found = visible(command.sku, name, now) or refuse(codes.RESERVATION_NOT_FOUND, name)
  local serial = found.first_serial > 0 and found.first_serial or false
  return { name, found.owner, found.quantity, status_at(found, now), found.deadline, serial }
end
