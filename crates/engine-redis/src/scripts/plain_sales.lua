-- What is common of stock and red packets, by plain code. As `stock.lua` and `packets.lua`, which say what is refused;
-- here that is left to them, and so is what makes a second event.

local INTEGER_MAX = constants.INTEGER_MAX

local get, change = records.get, records.change
local is_due = plain.is_due
local number, digits = encoding.number, encoding.digits
local packed, packed_text, NOTHING = encoding.packed_number, encoding.packed_text, encoding.packed_nothing

-- What stands before the fields of an event: how many there are, and its number.
local function front(name) return packed(1) .. packed(events[name].number) end

local TAKEN, CLAIMED = front("stock.taken"), front("packets.claimed")
local RESERVED, CONFIRMED = front("reservation.placed"), front("reservation.confirmed")

local function packed_owner(owner) return owner and packed_text(owner) or NOTHING end

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

local function take(values, at, now, id)
  local sku, quantity, owner = values[at + 1], values[at + 2], values[at + 3]
  local item = item_of(sku, now)
  if not item or not item.receipts_due or not is_sold(item, quantity, now) then return nil end
  change("stock", sku)
  local serial, available, sold = item.serial + 1, item.available - quantity, item.sold + quantity
  item.available, item.sold, item.serial = available, sold, item.serial + quantity
  add_receipt(sku, serial, quantity, owner, now, id)
  local event = TAKEN .. packed_text(sku) .. packed_owner(owner) .. packed(quantity) .. packed(serial) .. packed(available)
    .. packed(sold)
  return event, "", serial, available
end

carry_out["STOCK.TAKE"] = { decide = take, values = 8 }

local function reserve(values, at, now)
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
  local event = RESERVED .. packed_text(sku) .. packed_text(name) .. packed_owner(owner) .. packed(quantity)
    .. packed(deadline) .. packed(available) .. packed(item.reserved)
  return event, "", deadline, available
end

carry_out["STOCK.RESERVE"] = { decide = reserve, values = 9 }

local function confirm(values, at, now, id)
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
  local event = CONFIRMED .. packed_text(sku) .. packed_text(name) .. packed_owner(found.owner) .. packed(quantity)
    .. packed(serial) .. packed(item.reserved) .. packed(item.sold)
  return event, "", serial, quantity
end

carry_out["STOCK.CONFIRM"] = { decide = confirm, values = 9 }

local function claim_packet(values, at, now)
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
  local event = CLAIMED .. packed_text(id) .. packed_text(user) .. packed(packet) .. packed(amount)
    .. packed(campaign.count - packet)
  return event, "", packet, amount
end

carry_out["PACKET.CLAIM"] = { decide = claim_packet, values = 7 }
