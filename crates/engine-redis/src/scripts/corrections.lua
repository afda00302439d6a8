-- What the log has changed since a sequence: the rows that its events touch, as they are now. A digest reads the keys in
-- pieces, between which others are served, and is corrected by this to one sequence. An entry names its resource, and
-- every row that its events touch follows from their fields.

-- From how many rows on a call ends, and how many entries of the stream are read at a time.
local ROWS_MAX, ENTRIES_PER_READING = 500, 4

local number, digits = encoding.number, encoding.digits

-- The rows that were found, hash and id by turns; the same by hash; the resource whose rows alone count, if any; and
-- whether something that an event touched cannot be named.
local found, by_hash, only, has_gap

local function note(hash, resource, rest)
  if not resource or only and resource ~= only then return end
  local id = rest and resource .. " " .. rest or resource
  local ids = by_hash[hash]
  if not ids then
    ids = { known = {} }
    by_hash[hash] = ids
  end
  if ids.known[id] then return end
  ids.known[id] = true
  ids[#ids + 1] = id
  found[#found + 1] = hash
  found[#found + 1] = id
end

local function note_account(event)
  local account = event.account
  note("accounts", account)
  note("accounts", event.from)
  note("accounts", event.to)
  if not account then return end
  if event.hold then note("holds", account, event.hold) end
  local record = not only and records.get("accounts", account)
  if record then note("accounts", constants.WORLD_PREFIX .. record.asset) end
end

local function note_stock(event)
  local sku, serial = event.sku, event.first_serial or event.receipt
  note("stock", sku)
  if event.reservation then note("reservations", sku, event.reservation) end
  if event.owner then note("owners", sku, event.owner) end
  if serial then note("receipts_of", sku, number(serial)) end
  if event.receipt then note("returned", sku, number(event.receipt)) end
end

local function note_campaign(event)
  local campaign = event.campaign
  note("campaigns", campaign)
  if event.user then note("claims", campaign, event.user) end
  if not event.first_packet then return end
  for packet = event.first_packet, event.first_packet + event.count - 1 do
    note("packets", campaign, number(packet))
  end
end

local function note_coupon(event)
  local coupon, serial = event.coupon, event.serial
  note("coupons", coupon)
  if not serial then return end
  note("coupon_claims", coupon, number(serial))
  local claim = event.windows and event or records.get("coupon_claims", coupon .. " " .. number(serial))
  if not claim then
    -- It was forgotten since: which counters it was given back to is not known any more.
    has_gap = has_gap or event.given_back and #event.given_back > 0
    return
  end
  for _, key in ipairs(counters.keys_of_claim(coupon, claim)) do
    note("counts", coupon, string.match(key, "^[^ ]+ (.*)$"))
  end
end

local function note_market(event)
  local market = event.market
  note("markets", market)
  if event.trade then note("tape", market, string.match(book.tape_key(market, event.trade), "[^ ]+$")) end
  for _, order in ipairs({ event.order or event.maker_order, event.taker_order }) do note("orders", market, order) end
end

local function note_event(event)
  if event.account or event.from then return note_account(event) end
  if event.sku then return note_stock(event) end
  if event.campaign then return note_campaign(event) end
  if event.coupon then return note_coupon(event) end
  if event.market then note_market(event) end
end

-- Notes what a list of the log touches. Gives its last sequence.
local function note_list(values)
  local at, last = 3, values[2] - 1
  while values[at] ~= nil do
    local count = values[at + 2]
    if count < 0 then
      -- One event of an account, of which the answer says the rest.
      note_account({ account = values[at + 3] })
      at, last, count = at + 5, last + 1, 0
    else
      at, last = at + 3, last + count
    end
    for _ = 1, count do
      local event = {}
      local names = EVENT_FIELDS[values[at]]
      for name in string.gmatch(names, "[^ ]+") do
        at = at + 1
        event[name] = values[at] or nil
      end
      at = at + 1
      note_event(event)
    end
  end
  return last
end

-- Goes through the log from behind a sequence on. Gives the sequence it came to; nil where the log has a gap there.
local function walk(after)
  local key, through = records.key("log"), after
  while through < call.meta.sequence and #found < 2 * ROWS_MAX do
    local entries = redis.call("XRANGE", key, number(through + 1) .. "-0", "+", "COUNT", number(ENTRIES_PER_READING))
    if #entries == 0 then return nil end
    for _, entry in ipairs(entries) do
      local values = cmsgpack.unpack(entry[2][2])
      if values[2] ~= through + 1 then return nil end
      through = note_list(values)
    end
  end
  return through
end

-- The ranges of a receipt that came back: how many units it has, then first serial and count of each.
local function returned_text(id)
  local sku, receipt = string.match(id, "^([^ ]+) (%d+)$")
  local sale, first = records.get("receipts_of", id), tonumber(receipt)
  if not sale then return false end
  local parts = { number(sale.count) }
  local from, to = "[" .. sku .. " " .. digits(first), "(" .. sku .. " " .. digits(first + sale.count)
  for _, member in ipairs(sets.range("returned", from, to, sale.count)) do
    parts[#parts + 1] = string.match(member, "^[^ ]+ (.*)$")
  end
  return table.concat(parts, " ")
end

local function text_of(hash, id)
  if hash == "returned" then return returned_text(id) end
  return records.text_of(hash, id) or false
end

-- The rows that were touched behind a sequence: first the sequence up to which that is all, or -1 where that cannot be
-- told, because the log does not reach back so far, for instance; the stamp of the last event; 1 where an operation has further steps; then hash, id and text
-- of each by turns, an empty text for a row that is gone.
function corrections.since(after, resource)
  found, by_hash, only, has_gap = {}, {}, resource or nil, false
  local through, meta = walk(after), call.meta
  local answer = { number(not has_gap and through or -1), number(meta.at), meta.unfinished and "1" or "0" }
  for hash, ids in pairs(by_hash) do
    if hash ~= "returned" then records.prefetch(hash, ids) end
  end
  for at = 1, #found, 2 do
    local hash, id = found[at], found[at + 1]
    local place = #answer
    answer[place + 1], answer[place + 2], answer[place + 3] = hash, id, text_of(hash, id) or ""
  end
  return answer
end
