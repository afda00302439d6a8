-- What is common of stock and red packets, by plain code. As `stock.lua` and `packets.lua`, which say what is refused;
-- here that is left to them, and so is what makes a second event.

local INTEGER_MAX = constants.INTEGER_MAX

local get, change = records.get, records.change
local is_due = plain.is_due
local number, digits = encoding.number, encoding.digits

local TAKEN, CLAIMED = events["stock.taken"].number, events["packets.claimed"].number
local RESERVED, CONFIRMED = events["reservation.placed"].number, events["reservation.confirmed"].number

-- The item, where nothing of it is due; or nil.
local function item_of(sku, now)
  local item = get("stock", sku)
  if item and item.receipts_due and now >= item.receipts_due then return nil end
  if item and item.reserved > 0 and is_due("reservation", sku, now) then return nil end
  return item
end

local function is_running(starts_at, ends_at, now)
  return (not starts_at or now >= starts_at) and (not ends_at or now < ends_at)
end

-- Whether an item is on sale, without a limit per owner, and has more than the quantity.
local function is_sold(item, quantity, now)
  return item.closed ~= 1 and is_running(item.starts_at, item.ends_at, now) and not item.per_owner_max
    and item.available > quantity and item.serial <= INTEGER_MAX - item.reserved - quantity
end

local function add_receipt(sku, serial, quantity, owner, now, id)
  local receipt = { count = quantity, returned = 0, owner = owner, at = now, operation = id }
  records.put("receipts_of", sku .. " " .. number(serial), receipt)
  sets.add("receipts", sku .. " " .. digits(serial))
end

carry_out["STOCK.TAKE"] = function(values, at, now, id, list, place)
  local sku, quantity, owner = values[at + 1], values[at + 2], values[at + 3]
  local item = item_of(sku, now)
  if not item or not item.receipts_due or not is_sold(item, quantity, now) then return nil end
  change("stock", sku)
  local serial, available, sold = item.serial + 1, item.available - quantity, item.sold + quantity
  item.available, item.sold, item.serial = available, sold, item.serial + quantity
  add_receipt(sku, serial, quantity, owner, now, id)
  list[place] = 1
  list[place + 1] = TAKEN
  list[place + 2] = sku
  list[place + 3] = owner
  list[place + 4] = quantity
  list[place + 5] = serial
  list[place + 6] = available
  list[place + 7] = sold
  return place + 7, serial, available
end

carry_out["STOCK.RESERVE"] = function(values, at, now, _, list, place)
  local sku, name, quantity = values[at + 1], values[at + 2], values[at + 3]
  local owner, reservation = values[at + 4], sku .. " " .. name
  local item = item_of(sku, now)
  if not item or not is_sold(item, quantity, now) or get("reservations", reservation) then return nil end
  change("stock", sku)
  local deadline, available = deadlines.after(now, values[at + 5]), item.available - quantity
  item.available, item.reserved = available, item.reserved + quantity
  records.put("reservations", reservation, {
    owner = owner, quantity = quantity, status = "open", deadline = deadline, first_serial = 0, ended_at = 0,
  })
  deadlines.add(deadline, "reservation", sku, name)
  list[place] = 1
  list[place + 1] = RESERVED
  list[place + 2] = sku
  list[place + 3] = name
  list[place + 4] = owner
  list[place + 5] = quantity
  list[place + 6] = deadline
  list[place + 7] = available
  list[place + 8] = item.reserved
  return place + 8, deadline, available
end

carry_out["STOCK.CONFIRM"] = function(values, at, now, id, list, place)
  local sku, name = values[at + 1], values[at + 2]
  local reservation_id, item = sku .. " " .. name, item_of(sku, now)
  local found = item and get("reservations", reservation_id)
  if not found or not item.receipts_due or found.status ~= "open" then return nil end
  change("stock", sku)
  change("reservations", reservation_id)
  local serial, quantity = item.serial + 1, found.quantity
  found.status, found.ended_at, found.first_serial = "confirmed", now, serial
  deadlines.remove(found.deadline, "reservation", sku, name)
  deadlines.add_ended(now, "reservation", sku, name)
  item.reserved, item.sold, item.serial = item.reserved - quantity, item.sold + quantity, item.serial + quantity
  add_receipt(sku, serial, quantity, found.owner, now, id)
  list[place] = 1
  list[place + 1] = CONFIRMED
  list[place + 2] = sku
  list[place + 3] = name
  list[place + 4] = found.owner
  list[place + 5] = quantity
  list[place + 6] = serial
  list[place + 7] = item.reserved
  list[place + 8] = item.sold
  return place + 8, serial, quantity
end

carry_out["PACKET.CLAIM"] = function(values, at, now, _, list, place)
  local id, user = values[at + 1], values[at + 2]
  local campaign, claim = get("campaigns", id), id .. " " .. user
  if not campaign or campaign.laid_count < campaign.count or campaign.claimed_count + 1 >= campaign.count then
    return nil
  end
  local is_open = is_running(campaign.starts_at, campaign.closed_at or campaign.ends_at, now)
  if not is_open or campaign.forgotten_through or get("claims", claim) then return nil end
  local packet = campaign.claimed_count + 1
  local packet_id = id .. " " .. number(packet)
  local amount = get("packets", packet_id).amount
  if campaign.claimed_amount + amount > campaign.total then return nil end
  change("campaigns", id)
  campaign.claimed_count, campaign.claimed_amount = packet, campaign.claimed_amount + amount
  records.put("claims", claim, { packet = packet, at = now })
  records.add("claimants", packet_id, { user = user })
  list[place] = 1
  list[place + 1] = CLAIMED
  list[place + 2] = id
  list[place + 3] = user
  list[place + 4] = packet
  list[place + 5] = amount
  list[place + 6] = campaign.count - packet
  return place + 6, packet, amount
end
