-- An order on its way through the book, and what a fill-or-kill order would get there. As
-- `core/src/markets/sweep.rs` and `fillable.rs`.
--
-- A step reads the book as it stands and lists what happens in events; the book changes when they are
-- applied. An order that goes on has left nothing of the makers behind it: the next one is the next in the
-- queue.

local refuse, emit = outcomes.refuse, log.emit

-- How many trades an answer lists, the first ones. The events have all.
local FILLS_MAX = constants.FILLS_MAX

-- An order on its way: market, order, owner, side, price (nil: any), tif, stp, filled, remaining.
function sweep.taker_of(market, order, record)
  return {
    market = market, order = order, owner = record.owner, side = record.side, price = record.price,
    tif = record.tif, stp = record.stp, filled = record.filled, remaining = record.remaining,
  }
end

-- Whether a rest goes on the book.
function sweep.may_rest(taker)
  return taker.tif == "GTC" or taker.tif == "POST"
end

-- The event of an order that ends with a rest.
function sweep.emit_cancelled(market, order, owner, remaining, reason)
  emit("order.cancelled", {
    market = market, order = order, owner = owner, remaining = remaining, reason = reason,
  })
end

-- Fill or kill -------------------------------------------------------------------------------------------

-- How many orders of the owner there may be, and how many may come before the first of them at its price: core looks at them
-- one by one.
local LOOKED_MAX = constants.LOOKED_MAX

local function check_looked(count)
  if count > LOOKED_MAX then refuse(codes.STEP_LIMIT, LOOKED_MAX) end
end

-- Whether it stops where it meets an order of its owner.
local function stops_at_own(taker)
  return taker.stp == "CANCEL_TAKER" or taker.stp == "CANCEL_BOTH" or taker.stp == "DECREMENT"
end

-- The units of a level that stand ahead of the first own order, at most `wanted`.
local function ahead_of_own(taker, level, wanted, look)
  for name, order in book.queue(taker.market, level, look.queued) do
    if order.owner == taker.owner or look.ahead >= wanted then break end
    looks.visit()
    look.passed = look.passed + 1
    check_looked(look.passed)
    look.ahead, look.queued = look.ahead + order.remaining, encoding.digits(order.priority) .. " " .. name
  end
  return math.min(look.ahead, wanted)
end

-- The units that it would trade, at most those that it asks for. Visits each level; a queue is walked only where an own
-- order stands in it and stops the order.
local function fillable_of(taker, look)
  local market, against = taker.market, book.opposite(taker.side)
  local owned = taker.stp ~= "NONE" and book.count_of(market, taker.owner) or 0
  for price, level, key in book.crossing(market, against, taker.price, look.after) do
    check_looked(owned)
    if look.fillable >= taker.remaining then break end
    looks.visit()
    local own = owned > 0 and book.own_quantity(market, taker.owner, against, price) or 0
    if own > 0 and stops_at_own(taker) then
      return look.fillable + ahead_of_own(taker, key, taker.remaining - look.fillable, look)
    end
    look.fillable, look.after = look.fillable + level.quantity - own, key
  end
  return math.min(look.fillable, taker.remaining)
end

-- Refuses an order that could not be filled whole.
function sweep.check_fillable(taker)
  local look = looks.take()
  local fillable = look.total or fillable_of(taker, look)
  look.total = fillable
  if fillable < taker.remaining then refuse(codes.WOULD_NOT_FILL, fillable, taker.remaining) end
end

-- Meeting makers -----------------------------------------------------------------------------------------

-- A step in the making is the taker with `trade`, the number of the last trade; `fills`; and `cancelled`,
-- whether an own order cancelled it.

local function trade(walk, name, maker, price)
  local quantity = math.min(walk.remaining, maker.remaining)
  local maker_remaining = maker.remaining - quantity
  walk.trade = walk.trade + 1
  walk.remaining = walk.remaining - quantity
  walk.filled = walk.filled + quantity
  emit("order.traded", {
    market = walk.market, trade = walk.trade, price = price, quantity = quantity, taker_side = walk.side,
    maker_order = name, maker_owner = maker.owner, maker_remaining = maker_remaining,
    taker_order = walk.order, taker_owner = walk.owner, taker_remaining = walk.remaining,
  })
  walk.fills[#walk.fills + 1] = { walk.trade, name, price, quantity, maker_remaining }
end

local function cancel_taker(walk, reason)
  walk.cancelled = true
  sweep.emit_cancelled(walk.market, walk.order, walk.owner, walk.remaining, reason)
end

local function cancel_maker(walk, name, maker)
  sweep.emit_cancelled(walk.market, name, maker.owner, maker.remaining, "self_trade")
end

-- Reduces an own order, whichever of the two it is.
local function reduce(walk, name, by, remaining)
  emit("order.reduced", {
    market = walk.market, order = name, owner = walk.owner, by = by, remaining = remaining, by_self_trade = 1,
  })
end

-- The smaller of the two is cancelled and the larger reduced by it; of equals, both are cancelled.
local function decrement(walk, name, maker)
  local taker, resting = walk.remaining, maker.remaining
  if taker < resting then
    reduce(walk, name, taker, resting - taker)
  else
    cancel_maker(walk, name, maker)
  end
  if taker > resting then
    walk.remaining = taker - resting
    reduce(walk, walk.order, resting, taker - resting)
  else
    cancel_taker(walk, "self_trade")
  end
end

local meet_own = {
  NONE = trade,
  CANCEL_TAKER = function(walk) cancel_taker(walk, "self_trade") end,
  CANCEL_MAKER = cancel_maker,
  CANCEL_BOTH = function(walk, name, maker)
    cancel_maker(walk, name, maker)
    cancel_taker(walk, "self_trade")
  end,
  DECREMENT = decrement,
}

-- What is left rests, where the order may. Gives the status.
local function rest(walk)
  if walk.cancelled then return "cancelled" end
  if walk.remaining == 0 then return "filled" end
  if walk.price and sweep.may_rest(walk) then
    emit("order.rested", {
      market = walk.market, order = walk.order, price = walk.price, remaining = walk.remaining,
    })
    return walk.filled == 0 and "open" or "partially_filled"
  end
  cancel_taker(walk, "unfilled")
  return "cancelled"
end

-- What the steps before a step have answered stands in rows of `steps` until the last one, for it may be much:
-- the first trades of each as JSON. `so_far` is a progress with how many steps and trades that is, or nil.

-- The trades that an answer has room for, as JSON without the outer brackets.
local function text_of(fills, count)
  local parts, number = {}, encoding.number
  for at = 1, math.min(#fills, FILLS_MAX - count) do
    local fill = fills[at]
    parts[at] = "[" .. number(fill[1]) .. "," .. encoding.json(fill[2]) .. "," .. number(fill[3]) .. ","
      .. number(fill[4]) .. "," .. number(fill[5]) .. "]"
  end
  return table.concat(parts, ",")
end

-- The trades of all steps, of which the last has these.
local function all_fills(so_far, fills)
  if not so_far then return fills end
  local names, parts = {}, {}
  for at = 1, so_far[4] do names[at] = encoding.number(at) end
  records.prefetch("steps", names)
  for at, name in ipairs(names) do
    parts[at] = records.get("steps", name).fills
    records.remove("steps", name)
  end
  parts[#parts + 1] = text_of(fills, so_far[5])
  if parts[#parts] == "" then parts[#parts] = nil end
  return { parts = parts }
end

local function join(step, so_far)
  local fills, steps, count = step[4], so_far and so_far[4] or 0, so_far and so_far[5] or 0
  local text = text_of(fills, count)
  if text ~= "" then
    steps, count = steps + 1, math.min(count + #fills, FILLS_MAX)
    records.add("steps", encoding.number(steps), { fills = text })
  end
  return { "sweep", step[2], step[3], steps, count }
end

-- Lets an order meet as many makers as one step may touch, and ends it where it meets no more. `so_far` is the
-- progress of its earlier steps. Gives status, filled, remaining, fills.
function sweep.step(taker, so_far)
  local walk, touched = taker, 0
  walk.trade, walk.fills, walk.cancelled = records.get("markets", taker.market).trades, {}, false
  -- A step that could touch nothing would never end.
  local touched_max = math.max(settings.step_max, 1)
  -- One more than it may touch tells whether it goes on.
  local wanted = so_far and touched_max + 1
  for name, maker, price in book.makers(taker.market, book.opposite(taker.side), taker.price, wanted) do
    if walk.cancelled or walk.remaining == 0 then break end
    if touched >= touched_max then return outcomes.more({ "sweep", walk.market, walk.order, walk.fills }) end
    touched = touched + 1
    local meet = maker.owner == walk.owner and meet_own[walk.stp] or trade
    meet(walk, name, maker, price)
  end
  local status = rest(walk)
  return { status, walk.filled, walk.remaining, all_fills(so_far, walk.fills) }
end

-- Takes the next step of an order on its way.
local function go_on(progress)
  local market, order = progress[2], progress[3]
  local record = records.get("orders", book.order_key(market, order))
  if not record then return {} end
  return sweep.step(sweep.taker_of(market, order, record), progress)
end

steps_of.sweep = { go_on = go_on, join = join, foretell = false }
