-- The books: per market and side the levels by price, per level a queue of resting orders, and per owner its
-- resting orders, oldest first, with their quantity at each price. As `core/src/markets/book.rs`.
--
-- A side's members are in the order in which they trade: best price first, then oldest first.
--
--   book    market side rank priority order      levels, level_totals    market side rank
--   own     market owner priority order          own_levels              market owner side rank
--
-- A market's record has the totals of its sides. Queues are sets, so entries need no links.

local INTEGER_MAX = constants.INTEGER_MAX

-- How many orders the first reading of a side brings, and how many a later one does at most: most orders meet
-- none or a few.
local PAGE_FIRST, PAGE_MAX = 4, 128

local digits = encoding.digits
local match, sub = string.match, string.sub

local function order_key(market, order)
  return market .. " " .. order
end

book.order_key = order_key

-- The side that an order of a side trades against.
function book.opposite(side)
  return side == "BUY" and "SELL" or "BUY"
end

-- The rank of a price: the best price for an order that trades against the side has the lowest rank.
local function rank_of(side, price)
  return side == "BUY" and INTEGER_MAX - price or price
end

-- The price of a rank: the same turned round.
local price_of = rank_of

local function side_key(market, side)
  return market .. " " .. side
end

local function level_key(market, side, price)
  return side_key(market, side) .. " " .. digits(rank_of(side, price))
end

local function own_level_key(market, owner, side, price)
  return market .. " " .. owner .. " " .. side .. " " .. digits(rank_of(side, price))
end

-- The level at which an order rests. It is noted beside the record's fields, of which it is none, for it is asked
-- for again and again, and given with every member of `book`.
local function level_of(market, record)
  local level = record.level
  if not level then
    level = level_key(market, record.side, record.price)
    record.level = level
  end
  return level
end

-- What an owner has at the level: the level's key with the owner in it.
local function own_level_of(market, record)
  return market .. " " .. record.owner .. sub(level_of(market, record), #market + 1)
end

local function book_member(market, order, record)
  return level_of(market, record) .. " " .. digits(record.priority) .. " " .. order
end

local function own_member(market, order, record)
  return market .. " " .. record.owner .. " " .. digits(record.priority) .. " " .. order
end

local function total_field(side)
  return side == "BUY" and "bids_total" or "asks_total"
end

-- All units that rest on a side.
function book.total(found, side)
  return found[total_field(side)]
end

-- Where a trade stands on the tape, whose places are used in turn.
function book.tape_key(market, trade)
  return market .. " " .. encoding.number(math.fmod(trade, constants.TRADES_KEPT))
end

-- Reading ------------------------------------------------------------------------------------------------

-- Goes through what a set has of a side, best first, down to a limit (nil: all), a page at a time, of which the
-- first has so many; behind a member, where one is given. Gives places in the lists that `read_page` makes of each
-- page's members.
local function walk(set, market, side, limit, page, read_page, after)
  local front = side_key(market, side)
  local first = "(" .. (after or front .. " ")
  local last = "(" .. front .. (limit and " " .. digits(rank_of(side, limit) + 1) or "!")
  local count, at, asked = 0, 0, 0
  return function()
    at = at + 1
    if at > count and count == asked then
      if asked > 0 then page = math.min(page * 4, PAGE_MAX) end
      local members = sets.range(set, first, last, page)
      count, at, asked = #members, 1, page
      if count > 0 then first = "(" .. members[count] end
      read_page(members)
    end
    if at <= count then return at end
  end
end

local function words_of_maker(member)
  return match(member, "^([^ ]+ [^ ]+ (%d+)) %d+ (.*)$")
end

-- Reads what the orders of a page are and, where they leave the book, what their owners have beside them.
local function read_makers(market, keys, levels)
  local owned = {}
  records.prefetch("orders", keys)
  for at = 1, #keys do
    local record = records.get("orders", keys[at])
    record.level = levels[at]
    owned[at] = own_level_of(market, record)
  end
  records.prefetch("own_levels", owned)
end

-- The orders of a side, in the order in which they trade: gives name, record and price. `wanted` is how many
-- will surely be asked for, where that is known.
function book.makers(market, side, limit, wanted)
  local names, ranks, keys
  local next_place = walk("book", market, side, limit, wanted or PAGE_FIRST, function(members)
    local levels = {}
    names, ranks, keys = {}, {}, {}
    for at = 1, #members do
      levels[at], ranks[at], names[at] = words_of_maker(members[at])
      keys[at] = order_key(market, names[at])
    end
    read_makers(market, keys, levels)
  end)
  return function()
    local at = next_place()
    if at then return names[at], records.get("orders", keys[at]), price_of(side, tonumber(ranks[at])) end
  end
end

-- The levels of a side, best first, down to a limit (nil: all), those behind the key `after` where one is given: gives
-- price, record and key.
function book.crossing(market, side, limit, after)
  local keys
  local next_place = walk("levels", market, side, limit, after and PAGE_MAX or PAGE_FIRST, function(members)
    keys = members
    records.prefetch("level_totals", keys)
  end, after)
  return function()
    local at = next_place()
    if not at then return nil end
    local key = keys[at]
    return price_of(side, tonumber(match(key, "%d+$"))), records.get("level_totals", key), key
  end
end

-- The best price of a side that an order with the price `limit` (nil: any price) would trade at.
function book.best(market, side, limit)
  local front = side_key(market, side)
  local last = "(" .. front .. (limit and " " .. digits(rank_of(side, limit) + 1) or "!")
  local key = sets.range("levels", "(" .. front .. " ", last, 1)[1]
  return key and price_of(side, tonumber(match(key, "%d+$")))
end

-- The orders of a level in the order of time, those behind `after` where that is given: gives name and record.
function book.queue(market, level, after)
  local names, at = {}, 0
  return function()
    at = at + 1
    if at > #names and (at == 1 or #names == PAGE_MAX) then
      names, at = sets.starting_with("book", level, after, PAGE_MAX), 1
      local keys = {}
      for place, member in ipairs(names) do
        local _, _, order = words_of_maker(member)
        keys[place], names[place] = order_key(market, order), order
        after = match(member, " (%d+ [^ ]+)$")
      end
      records.prefetch("orders", keys)
    end
    local order = names[at]
    if order then return order, records.get("orders", order_key(market, order)) end
  end
end

-- How many orders of an owner rest in a market.
function book.count_of(market, owner)
  return sets.count("own", market .. " " .. owner)
end

-- The units that an owner has at a price.
function book.own_quantity(market, owner, side, price)
  local found = records.get("own_levels", own_level_key(market, owner, side, price))
  return found and found.quantity or 0
end

-- The names of up to `limit` of an owner's resting orders, oldest first.
function book.orders_of(market, owner, limit)
  local names, keys = {}, {}
  for at, member in ipairs(sets.starting_with("own", market .. " " .. owner, nil, limit)) do
    names[at] = match(member, " ([^ ]+)$")
    keys[at] = order_key(market, names[at])
  end
  records.prefetch("orders", keys)
  return names
end

-- Listing ------------------------------------------------------------------------------------------------

local LOOKED_MAX = constants.LOOKED_MAX

-- Refuses where so many members lie between two bounds that core would not pass them one by one.
local function check_passed(set, first, last)
  if #sets.range(set, first, last, LOOKED_MAX + 1) > LOOKED_MAX then
    outcomes.refuse(codes.STEP_LIMIT, LOOKED_MAX)
  end
end

-- The order of a place, if it still rests there.
local function order_at(market, place)
  local record = records.get("orders", order_key(market, place.order))
  if record and record.priority == place.priority then return record end
end

-- The bound behind which an owner's orders go on after a place.
local function own_bound(market, owner, place)
  local front = market .. " " .. owner .. " "
  local bound = front .. digits(place.priority) .. "!"
  local record = order_at(market, place)
  if not record or record.owner ~= owner then check_passed("own", "(" .. front, "(" .. bound) end
  return bound
end

-- The same for all orders.
local function book_bound(market, place)
  local front = level_key(market, place.side, place.price) .. " "
  local bound = front .. digits(place.priority) .. "!"
  local record = order_at(market, place)
  if not record or record.side ~= place.side or record.price ~= place.price then
    check_passed("book", "(" .. front, "(" .. bound)
  end
  return bound
end

-- The names of up to `count` resting orders behind a place: an owner's, oldest first, or all in the order in which they
-- trade, bids first.
function book.list(market, owner, place, count)
  local set, front = owner and "own" or "book", owner and market .. " " .. owner or market
  local bound = front .. " "
  if place then bound = owner and own_bound(market, owner, place) or book_bound(market, place) end
  local names, keys = {}, {}
  for at, member in ipairs(sets.range(set, "(" .. bound, "(" .. front .. "!", count)) do
    names[at] = match(member, " ([^ ]+)$")
    keys[at] = order_key(market, names[at])
  end
  records.prefetch("orders", keys)
  return names
end

-- Changing -----------------------------------------------------------------------------------------------

-- Adds to what an owner has at a price; a row is there as long as it has something.
local function add_own(market, record, change)
  local key = own_level_of(market, record)
  local found = records.change("own_levels", key)
  if not found then
    records.put("own_levels", key, { quantity = change })
  elseif found.quantity + change == 0 then
    records.remove("own_levels", key)
  else
    found.quantity = found.quantity + change
  end
end

-- Adds to a level; it is there as long as it has orders.
local function add_level(market, record, quantity, orders)
  local key = level_of(market, record)
  local level = records.change("level_totals", key)
  if not level then
    records.put("level_totals", key, { quantity = quantity, orders = orders })
    sets.add("levels", key)
    return
  end
  level.quantity, level.orders = level.quantity + quantity, level.orders + orders
  if level.orders == 0 then
    records.remove("level_totals", key)
    sets.remove("levels", key)
  end
end

local function add(market, record, quantity, orders)
  add_level(market, record, quantity, orders)
  add_own(market, record, quantity)
  local found, field = records.change("markets", market), total_field(record.side)
  found[field] = found[field] + quantity
  found.orders = found.orders + orders
end

-- Puts an order on the book, behind all others of its price.
function book.rest(market, order, record)
  sets.add("book", book_member(market, order, record))
  sets.add("own", own_member(market, order, record))
  add(market, record, record.remaining, 1)
end

-- Takes an order off the book.
function book.take_off(market, order, record)
  sets.remove("book", book_member(market, order, record))
  sets.remove("own", own_member(market, order, record))
  add(market, record, -record.remaining, -1)
  record.level = nil
end

-- Makes a resting order smaller; it stays where it is.
function book.shrink(market, record, by)
  add(market, record, -by, 0)
end
