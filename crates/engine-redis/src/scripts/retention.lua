-- Receipts of sales, and how they leave when their retention is over. As `core/src/stock/retention.rs`. Packets of
-- campaigns leave by the same time; how is in `packets.lua`.

local emit = log.emit

local INTEGER_MAX = constants.INTEGER_MAX
local RECEIPTS_PER_EVENT_MAX = constants.RECEIPTS_PER_EVENT_MAX

-- How many ranges of returned units are taken out at once: a receipt may have as many as it has units. What is left of a receipt
-- that has gone is no part of the state any more, and goes with later calls.
local RANGES_AT_ONCE_MAX = 16

-- The name under which an item's oldest receipts are due.
local OLDEST = "receipts"

-- The ID of a receipt.
function retention.key(sku, first)
  return sku .. " " .. encoding.number(first)
end

-- A member of `receipts`, and the beginning of one of `returned`.
function retention.member(sku, first)
  return sku .. " " .. encoding.digits(first)
end

local receipt_key, serial_member = retention.key, retention.member

-- The first serial of the last receipt or returned range that begins at `serial` or before, and its count.
function retention.last_up_to(set, sku, serial)
  local last = set == "receipts" and "[" .. serial_member(sku, serial) or "(" .. serial_member(sku, serial + 1)
  local member = sets.range(set, "(" .. sku .. " ", last, 1, true)[1]
  if not member then return nil end
  local first, count = string.match(member, "^[^ ]+ (%d+) ?(%d*)$")
  return tonumber(first), tonumber(count)
end

-- When the receipt of a sale that was made at `at` leaves, and the packets of a campaign that was over then. As
-- `StateSettings::receipt_due`.
function retention.due(at)
  local slice = math.max(math.floor(settings.receipt_retention_ms / 720), 1)
  local over = math.min(at + settings.receipt_retention_ms, INTEGER_MAX)
  return math.min(math.ceil(over / slice) * slice, INTEGER_MAX)
end

local due = retention.due

-- Whether the receipt of a serial has left, or its retention is over and it will.
function retention.is_over(sku, item, serial, now)
  if serial <= (item.forgotten_through or 0) then return true end
  local first = retention.last_up_to("receipts", sku, serial)
  local receipt = first and records.get("receipts_of", receipt_key(sku, first))
  return receipt and serial < first + receipt.count and due(receipt.at) <= now
end

-- The oldest receipt of an item that is kept.
local function oldest_receipt(sku, item)
  return records.get("receipts_of", receipt_key(sku, (item.forgotten_through or 0) + 1))
end

-- Notes when the oldest receipts of an item are due.
local function queue_receipts(sku, item)
  local oldest = oldest_receipt(sku, item)
  item.receipts_due = oldest and due(oldest.at) or nil
  if oldest then deadlines.add(item.receipts_due, "sale", sku, OLDEST) end
end

-- Adds the receipt of a sale.
function retention.add(item, event, at, operation)
  local key = receipt_key(event.sku, event.first_serial)
  records.put("receipts_of", key, {
    count = event.quantity, returned = 0, owner = event.owner, at = at, operation = operation,
  })
  sets.add("receipts", serial_member(event.sku, event.first_serial))
  if not item.receipts_due then queue_receipts(event.sku, item) end
end

-- Takes out ranges of receipts that have gone, so many at once. Whether any are left.
local function drop_returned(sku, item)
  if item.returned == 0 or not item.forgotten_through then return false end
  local from, to = "(" .. sku .. " ", "(" .. serial_member(sku, item.forgotten_through + 1)
  local members = sets.range("returned", from, to, RANGES_AT_ONCE_MAX + 1)
  local count = math.min(#members, RANGES_AT_ONCE_MAX)
  for at = 1, count do sets.remove("returned", members[at]) end
  call.ranges_dropped = call.ranges_dropped + count
  return #members > count
end

-- Notes when an item's receipts are due next: they stay due while ranges are left of those that have gone.
local function requeue(sku, item)
  if drop_returned(sku, item) then return end
  if item.receipts_due then deadlines.remove(item.receipts_due, "sale", sku, OLDEST) end
  queue_receipts(sku, item)
end

-- Lets the oldest receipts of an item go whose retention is over. Where there are none, because it was raised since they were
-- noted as due, or only what is left of others goes, that is no event.
local function forget_receipts(sku)
  local item = records.get("stock", sku)
  local through, sold, weight = item.forgotten_through or 0, item.forgotten_sold or 0, 0
  while weight < RECEIPTS_PER_EVENT_MAX do
    local receipt = records.get("receipts_of", receipt_key(sku, through + 1))
    if not receipt or due(receipt.at) > call.now then break end
    through, sold = through + receipt.count, sold + receipt.count - receipt.returned
    weight = weight + 1 + receipt.returned
  end
  if through == (item.forgotten_through or 0) then return requeue(sku, records.change("stock", sku)) end
  emit("stock.receipts_forgotten", { sku = sku, through_serial = through, sold = sold })
end

ends_of.sale = {
  expire = forget_receipts, forget = false,
  is_pending = function(sku)
    local item = records.get("stock", sku)
    return item ~= nil and item.receipts_due ~= nil and item.receipts_due <= call.now
  end,
}

-- An audit counts the receipt where it has not come to it.
local function audit_forgotten(item, first, receipt)
  if not item.audit_horizon or first <= item.audit_through or first > item.audit_horizon then return end
  item.audit_through = first + receipt.count - 1
  item.audit_counted = item.audit_counted + receipt.count - receipt.returned
end

evolve["stock.receipts_forgotten"] = function(event)
  local sku, last, item = event.sku, event.through_serial, records.change("stock", event.sku)
  local serial = (item.forgotten_through or 0) + 1
  while serial <= last do
    local key = receipt_key(sku, serial)
    local receipt = records.get("receipts_of", key)
    audit_forgotten(item, serial, receipt)
    records.remove("receipts_of", key)
    sets.remove("receipts", serial_member(sku, serial))
    serial = serial + receipt.count
  end
  item.forgotten_through, item.forgotten_sold = last, event.sold
  requeue(sku, item)
end
