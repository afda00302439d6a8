-- Markets: limit order books with price priority, then time priority by a counter of the market. Trades happen
-- at the maker's price. As `core/src/markets`, but for `book.lua` and `sweep.lua`.
--
-- An order's record has its priority while it rests: it is nil once it ended, and while it is on its way
-- through the book.

local refuse, emit = outcomes.refuse, log.emit

local INTEGER_MAX = constants.INTEGER_MAX

-- How many trades of a market are kept.
local TRADES_KEPT = constants.TRADES_KEPT

local order_key, fmod = book.order_key, math.fmod

-- The market, or the refusal that it does not exist.
local function existing(market)
  return records.get("markets", market) or refuse(codes.MARKET_NOT_FOUND, market)
end

local function is_live(order)
  return order.status == "open" or order.status == "partially_filled"
end

-- The order, unless it ended so long ago that its name is free again.
local function visible(market, order, now)
  local found = records.get("orders", order_key(market, order))
  if found and (is_live(found) or deadlines.is_retained(found.ended_at, now)) then return found end
end

-- The owner's live order, or the refusal that there is none.
local function own_live(market, order, owner, now)
  local found = visible(market, order, now) or refuse(codes.ORDER_NOT_FOUND, order)
  if found.owner ~= owner then refuse(codes.NOT_OWNER) end
  if not is_live(found) then refuse(codes.ORDER_CLOSED, order, found.status) end
  return found
end

local function check_price(rules, price)
  if fmod(price, rules.tick) ~= 0 then refuse(codes.PRICE_INVALID, price, rules.tick) end
end

local function refuse_quantity(rules, quantity)
  refuse(codes.QUANTITY_INVALID, quantity, rules.lot, rules.min_quantity, rules.max_quantity)
end

-- Whether a quantity is a multiple of the lot and within the market's bounds.
local function check_quantity(rules, quantity)
  local is_within = rules.min_quantity <= quantity and quantity <= rules.max_quantity
  if not is_within or fmod(quantity, rules.lot) ~= 0 then refuse_quantity(rules, quantity) end
end

local function check_trading(rules, market)
  if rules.halted == 1 then refuse(codes.MARKET_HALTED, market) end
end

-- Whether `quantity` more may rest beside a side's `total`. Asked before the first fill and for the whole
-- order: what would be left is known only after the sweep, which must not be taken back.
local function check_room(total, quantity)
  if total > INTEGER_MAX - quantity then refuse(codes.OVERFLOW, "quantity") end
end

-- Whether a post-only order would rest as it is; it must not meet an own order either.
local function check_post_only(taker)
  if taker.tif ~= "POST" then return end
  local best = book.best(taker.market, book.opposite(taker.side), taker.price)
  if best then refuse(codes.WOULD_TAKE, best) end
end

-- Markets ------------------------------------------------------------------------------------------------

decide["MARKET.CREATE"] = function(command)
  if records.get("markets", command.market) then refuse(codes.MARKET_EXISTS, command.market) end
  emit("market.created", {
    market = command.market, tick = command.tick, lot = command.lot,
    min_quantity = command.min_quantity, max_quantity = command.max_quantity,
  })
  return { "open" }
end

-- Halting again changes nothing.
decide["MARKET.HALT"] = function(command)
  if existing(command.market).halted == 0 then emit("market.halted", { market = command.market }) end
  return { "halted" }
end

-- Resuming again changes nothing.
decide["MARKET.RESUME"] = function(command)
  if existing(command.market).halted == 1 then emit("market.resumed", { market = command.market }) end
  return { "open" }
end

-- Placing and replacing ----------------------------------------------------------------------------------

decide["ORDER.PLACE"] = function(command, context)
  local market, order, price, quantity = command.market, command.order, command.pricing, command.quantity
  local found = existing(market)
  check_trading(found, market)
  if visible(market, order, context.now) then refuse(codes.ORDER_EXISTS, order) end
  if price then check_price(found, price) end
  check_quantity(found, quantity)
  local taker = {
    market = market, order = order, owner = command.owner, side = command.side, price = price,
    tif = command.tif or (price and "GTC" or "IOC"), stp = command.stp, filled = 0, remaining = quantity,
  }
  if sweep.may_rest(taker) then check_room(book.total(found, taker.side), quantity) end
  check_post_only(taker)
  if taker.tif == "FOK" then sweep.check_fillable(taker) end
  emit("order.placed", {
    market = market, order = order, owner = taker.owner, side = taker.side, price = price,
    quantity = quantity, tif = taker.tif, stp = taker.stp,
  })
  return sweep.step(taker)
end

-- Checks the new price and quantity. The order's own rest does not count against the range, and cannot stand
-- in its way: a book never crosses itself.
local function check_moved(rules, found, moved)
  check_price(rules, moved.price)
  check_quantity(rules, moved.remaining)
  check_room(book.total(rules, found.side) - found.remaining, moved.remaining)
  -- What an order has filled in all stays an exact integer too.
  check_room(found.filled, moved.remaining)
  check_post_only(moved)
end

-- At its price and with less than it has an order keeps its place; otherwise it leaves the book and comes as
-- if it were new, with what it has filled.
decide["ORDER.REPLACE"] = function(command, context)
  local market, order, price, quantity = command.market, command.order, command.price, command.quantity
  local rules = existing(market)
  local found = own_live(market, order, command.owner, context.now)
  local keeps_priority = found.price == price and quantity < found.remaining
  if not keeps_priority then check_trading(rules, market) end
  local moved = sweep.taker_of(market, order, found)
  moved.price, moved.remaining = price, quantity
  check_moved(rules, found, moved)
  emit("order.replaced", {
    market = market, order = order, owner = command.owner, price = price, quantity = quantity,
    keeps_priority = keeps_priority and 1 or 0,
  })
  if keeps_priority then return { found.status, found.filled, quantity, {} } end
  -- The sweep walks the other side of the book, so it does not matter that the order's own entry is still
  -- there while this is decided.
  return sweep.step(moved)
end

-- Cancelling and reducing; they go on while a market is halted --------------------------------------------

decide["ORDER.CANCEL"] = function(command, context)
  local market, order, owner = command.market, command.order, command.owner
  existing(market)
  local remaining = own_live(market, order, owner, context.now).remaining
  sweep.emit_cancelled(market, order, owner, remaining, "requested")
  return { remaining }
end

-- By what remains of it or more, the order is cancelled. Gives status and remaining, which of a cancelled
-- order is what will never be filled.
decide["ORDER.REDUCE"] = function(command, context)
  local market, order, owner, by = command.market, command.order, command.owner, command.by
  local rules = existing(market)
  local found = own_live(market, order, owner, context.now)
  if by >= found.remaining then
    sweep.emit_cancelled(market, order, owner, found.remaining, "requested")
    return { "cancelled", found.remaining }
  end
  if fmod(by, rules.lot) ~= 0 then refuse_quantity(rules, by) end
  local remaining = found.remaining - by
  emit("order.reduced", {
    market = market, order = order, owner = owner, by = by, remaining = remaining, by_self_trade = 0,
  })
  return { found.status, remaining }
end

-- Cancels an owner's orders, oldest first, as many as one step may touch; `so_far` were cancelled before.
local function cancel_some(market, owner, so_far)
  local touched_max = math.max(settings.step_max, 1)
  local names = book.orders_of(market, owner, touched_max + 1)
  local count = math.min(#names, touched_max)
  for at = 1, count do
    local remaining = records.get("orders", order_key(market, names[at])).remaining
    sweep.emit_cancelled(market, names[at], owner, remaining, "requested")
  end
  if #names > touched_max then return outcomes.more({ "cancel_all", market, owner, so_far + count }) end
  return { so_far + count }
end

decide["ORDER.CANCELALL"] = function(command)
  existing(command.market)
  return cancel_some(command.market, command.owner, 0)
end

local function go_on(progress)
  return cancel_some(progress[2], progress[3], progress[4])
end

steps_of.cancel_all = { go_on = go_on, join = false, foretell = false }

local function forget(market, order)
  records.remove("orders", order_key(market, order))
end

-- An order has no deadline.
ends_of.order = { expire = false, forget = forget, is_pending = false }

-- Events -------------------------------------------------------------------------------------------------

evolve["market.created"] = function(event)
  records.put("markets", event.market, {
    tick = event.tick, lot = event.lot, min_quantity = event.min_quantity, max_quantity = event.max_quantity,
    halted = 0, trades = 0, priority = 0, orders = 0, bids_total = 0, asks_total = 0,
  })
  lists.add("market", event.market)
end

evolve["market.halted"] = function(event) records.change("markets", event.market).halted = 1 end
evolve["market.resumed"] = function(event) records.change("markets", event.market).halted = 0 end

evolve["order.placed"] = function(event)
  local key = order_key(event.market, event.order)
  local before = records.get("orders", key)
  if before then deadlines.remove_ended(before.ended_at, "order", event.market, event.order) end
  records.put("orders", key, {
    owner = event.owner, side = event.side, price = event.price, remaining = event.quantity, filled = 0,
    tif = event.tif, stp = event.stp, status = "open", ended_at = 0,
  })
end

-- Sets what remains of a live order, also on the book where it rests.
local function shrink(market, order, remaining)
  local record = records.change("orders", order_key(market, order))
  if record.priority then book.shrink(market, record, record.remaining - remaining) end
  record.remaining = remaining
end

-- Takes an order off the book, where it rests.
local function take_off(market, order)
  local record = records.change("orders", order_key(market, order))
  if record.priority then
    book.take_off(market, order, record)
    record.priority = nil
  end
end

-- Marks an order as ended.
local function close(market, order, status, reason, at)
  local record = records.change("orders", order_key(market, order))
  record.status, record.reason, record.ended_at = status, reason, at
  deadlines.add_ended(at, "order", market, order)
end

local function fill(market, order, quantity, remaining, at)
  local record = records.change("orders", order_key(market, order))
  record.filled = record.filled + quantity
  if remaining > 0 then
    if record.priority then book.shrink(market, record, record.remaining - remaining) end
    record.remaining, record.status = remaining, "partially_filled"
    return
  end
  if record.priority then book.take_off(market, order, record) end
  record.priority, record.remaining = nil, 0
  record.status, record.reason, record.ended_at = "filled", nil, at
  deadlines.add_ended(at, "order", market, order)
end

evolve["order.traded"] = function(event, at)
  local market, quantity = event.market, event.quantity
  records.change("markets", market).trades = event.trade
  records.put("tape", book.tape_key(market, event.trade), {
    trade = event.trade, price = event.price, quantity = quantity, taker_side = event.taker_side, at = at,
  })
  fill(market, event.maker_order, quantity, event.maker_remaining, at)
  fill(market, event.taker_order, quantity, event.taker_remaining, at)
end

evolve["order.cancelled"] = function(event, at)
  take_off(event.market, event.order)
  close(event.market, event.order, "cancelled", event.reason, at)
end

evolve["order.reduced"] = function(event) shrink(event.market, event.order, event.remaining) end

evolve["order.rested"] = function(event)
  local market = records.change("markets", event.market)
  local record = records.change("orders", order_key(event.market, event.order))
  market.priority = market.priority + 1
  record.priority = market.priority
  book.rest(event.market, event.order, record)
end

evolve["order.replaced"] = function(event)
  if event.keeps_priority == 1 then return shrink(event.market, event.order, event.quantity) end
  take_off(event.market, event.order)
  local record = records.change("orders", order_key(event.market, event.order))
  record.price, record.remaining = event.price, event.quantity
end

-- Queries ------------------------------------------------------------------------------------------------

local function status_of(market)
  return market.halted == 1 and "halted" or "open"
end

query["MARKET.GET"] = function(command)
  local id = command.market
  local market = existing(id)
  return {
    id, status_of(market), market.tick, market.lot, market.min_quantity,
    market.max_quantity, book.best(id, "BUY") or false, book.best(id, "SELL") or false, market.orders,
    market.trades,
  }
end

-- Up to `count` levels of a side, best first: price, quantity, orders.
local function levels_of(market, side, count)
  local rows = {}
  for price, level in book.crossing(market, side) do
    if #rows == count then break end
    rows[#rows + 1] = { price, level.quantity, level.orders }
  end
  return rows
end

-- The last trade, the best prices with their quantities, and the sequence of the last event that they show.
query["MARKET.TICKER"] = function(command)
  local id = command.market
  local market = existing(id)
  local last = market.trades > 0 and records.get("tape", book.tape_key(id, market.trades))
  local bid, ask = levels_of(id, "BUY", 1)[1], levels_of(id, "SELL", 1)[1]
  return {
    id, last and last.price, last and last.quantity, last and last.taker_side, last and last.at, bid and bid[1] or false,
    bid and bid[2] or false, ask and ask[1] or false, ask and ask[2] or false, market.trades, call.meta.sequence,
  }
end

query["MARKET.LIST"] = lists.answer("market", function(id, market)
  local bid, ask = book.best(id, "BUY"), book.best(id, "SELL")
  return { id, status_of(market), bid or false, ask or false, market.orders, market.trades }
end)

query["MARKET.DEPTH"] = function(command)
  existing(command.market)
  local bids, asks = levels_of(command.market, "BUY", command.levels), levels_of(command.market, "SELL", command.levels)
  return { bids, asks, call.meta.sequence }
end

-- The last trades, the latest first: trade, price, quantity, side of the taker, at.
query["MARKET.TRADES"] = function(command)
  local last, rows, keys = existing(command.market).trades, {}, {}
  local count = math.min(command.count, TRADES_KEPT, last)
  for at = 1, count do keys[at] = book.tape_key(command.market, last + 1 - at) end
  records.prefetch("tape", keys)
  for at = 1, count do
    local trade = records.get("tape", keys[at])
    rows[at] = { trade.trade, trade.price, trade.quantity, trade.taker_side, trade.at }
  end
  return { rows }
end

-- A place as a word: side, price, priority, order.
local function place_text(side, price, priority, order)
  return side .. "-" .. encoding.number(price) .. "-" .. encoding.number(priority) .. "-" .. order
end

local function place_of(text)
  local side, price, priority, order = string.match(text, "^(%u+)%-(%d+)%-(%d+)%-(.+)$")
  return { side = side, price = tonumber(price), priority = tonumber(priority), order = order }
end

query["ORDER.LIST"] = function(command)
  local market, rows = command.market, {}
  existing(market)
  local after = command.after and place_of(command.after)
  for at, name in ipairs(book.list(market, command.owner, after, command.count)) do
    local order = records.get("orders", order_key(market, name))
    rows[at] = {
      name, order.owner, order.side, order.price, order.remaining, order.filled, order.tif, order.stp, order.status,
      place_text(order.side, order.price, order.priority, name),
    }
  end
  return { rows }
end

query["ORDER.GET"] = function(command, now)
  existing(command.market)
  local id = command.order
  local found = visible(command.market, id, now) or refuse(codes.ORDER_NOT_FOUND, id)
  return {
    id, found.owner, found.side, found.price or false, found.remaining, found.filled, found.tif, found.stp,
    found.status, found.reason or false,
  }
end
