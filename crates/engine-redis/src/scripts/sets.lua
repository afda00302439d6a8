-- Ordered sets as a call sees them: members that Redis has, less those that the call took out, with those that
-- it added between them.
--
-- Members join words by one blank, which comes before every byte that an id may have: their order as bytes is
-- that of the words.
--
-- A call of many requests reads the same front of a set again and again, and takes out what it finds there. So
-- what Redis has behind a bound is read once (Redis changes at the end only), and what is taken out at its
-- front is stepped over once. What was added is kept in order.

local byte, sub = string.byte, string.sub

-- How many members of Redis are read at least when more are needed.
local PAGE_MIN = 16

-- How many new members are put into their places one by one; more are sorted with all others.
local PLACED_MAX = 16

-- Whether a comes before b, compared as bytes.
function sets.precedes(a, b)
  local at = 1
  while true do
    local a1, a2, a3, a4 = byte(a, at, at + 3)
    local b1, b2, b3, b4 = byte(b, at, at + 3)
    if a1 ~= b1 then return (a1 or -1) < (b1 or -1) end
    if a2 ~= b2 then return (a2 or -1) < (b2 or -1) end
    if a3 ~= b3 then return (a3 or -1) < (b3 or -1) end
    if a4 ~= b4 then return (a4 or -1) < (b4 or -1) end
    if a4 == nil then return false end
    at = at + 4
  end
end

local precedes = sets.precedes

-- Changes -----------------------------------------------------------------------------------------------

-- What a call has changed of a set: members `added` and `removed`; `order` are all that it ever added, the first
-- `ordered` of them in order; `known` are those in `order`; `runs` are what was read of Redis, by the bound that
-- reading began at.
local function changes_of(set)
  local changes = call.set_changes[set]
  if not changes then
    changes = { added = {}, removed = {}, order = {}, ordered = 0, known = {}, runs = {} }
    call.set_changes[set] = changes
  end
  return changes
end

local function mark(set, changes, member, list, is_there)
  local before = changes[list][member]
  if before == is_there then return end
  changes[list][member] = is_there
  if list == "added" then
    if is_there and not changes.known[member] then
      changes.known[member] = true
      changes.order[#changes.order + 1] = member
    end
  elseif not is_there then
    changes.runs = {}
  end
  local notes = call.notes
  if notes then notes[#notes + 1] = { set = set, member = member, list = list, before = before } end
end

-- Puts a member in one of the lists `added` and `removed`, or takes it out.
function sets.mark(set, member, list, is_there)
  mark(set, changes_of(set), member, list, is_there)
end

-- Adds a member that is not there.
function sets.add(set, member)
  local changes = changes_of(set)
  if changes.removed[member] then
    mark(set, changes, member, "removed", nil)
  else
    mark(set, changes, member, "added", true)
  end
end

-- Takes a member out that is there.
function sets.remove(set, member)
  local changes = changes_of(set)
  if changes.added[member] then
    mark(set, changes, member, "added", nil)
  else
    mark(set, changes, member, "removed", true)
  end
end

-- Bounds ------------------------------------------------------------------------------------------------

-- A bound as of ZRANGEBYLEX: "[word" with the word, "(word" without it, "-" and "+" none.
local function is_before(bound, member)
  local kind, word = sub(bound, 1, 1), sub(bound, 2)
  if kind == "-" then return false end
  if member == word then return kind == "(" end
  return precedes(member, word)
end

local function is_behind(bound, member)
  local kind, word = sub(bound, 1, 1), sub(bound, 2)
  if kind == "+" then return false end
  if member == word then return kind == "(" end
  return precedes(word, member)
end

-- The place of the first of ordered members, of `count`, of which a condition is no longer true.
local function first_place(members, count, is_true)
  local low, high = 1, count + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if is_true(members[middle]) then low = middle + 1 else high = middle end
  end
  return low
end

-- Reading -----------------------------------------------------------------------------------------------

local function read(set, first, last, limit, backward)
  local key, count = records.key(set), encoding.number(limit)
  records.note_type(set)
  if backward then return redis.call("ZREVRANGEBYLEX", key, last, first, "LIMIT", "0", count) end
  return redis.call("ZRANGEBYLEX", key, first, last, "LIMIT", "0", count)
end

-- Whether all up to a bound was read.
local function is_read(run, final)
  local read_to = run.read_to
  if not read_to or read_to == final then return read_to ~= nil end
  local to, word = sub(read_to, 2), sub(final, 2)
  if to == "" or word == "" then return to == "" end
  if run.backward then return precedes(to, word) end
  return precedes(word, to)
end

-- Reads on up to a bound what Redis has.
local function read_on(set, run, final, limit)
  local members, count = run.members, math.max(limit, PAGE_MIN)
  local from = #members > 0 and "(" .. members[#members] or run.bound
  local found
  if run.backward then
    found = read(set, final, from, count, true)
  else
    found = read(set, from, final, count, false)
  end
  for at = 1, #found do members[#members + 1] = found[at] end
  if #found < count then run.read_to = final end
end

-- Goes through what Redis has between the bounds and the call did not take out.
local function stored(set, changes, first, last, limit, backward)
  local bound, is_over = first, is_behind
  local final = last
  if backward then bound, final, is_over = last, first, is_before end
  local key = (backward and "<" or ">") .. bound
  local run = changes.runs[key]
  if not run then
    run = { members = {}, head = 1, bound = bound, backward = backward }
    changes.runs[key] = run
  end
  local members, removed = run.members, changes.removed
  while members[run.head] and removed[members[run.head]] do run.head = run.head + 1 end
  local at = run.head - 1
  return function()
    while true do
      at = at + 1
      if at > #members and not is_read(run, final) then read_on(set, run, final, limit) end
      local member = members[at]
      if not member or is_over(final, member) then return nil end
      if not removed[member] then return member end
    end
  end
end

-- Brings what was added last into its places.
local function put_in_order(changes)
  local order, ordered = changes.order, changes.ordered
  if #order - ordered > PLACED_MAX then
    table.sort(order, precedes)
  else
    for at = ordered + 1, #order do
      local member = order[at]
      local place = first_place(order, at - 1, function(other) return precedes(other, member) end)
      for before = at - 1, place, -1 do order[before + 1] = order[before] end
      order[place] = member
    end
  end
  changes.ordered = #order
end

-- Goes through what the call added between the bounds.
local function added(changes, first, last, backward)
  put_in_order(changes)
  local order, count = changes.order, #changes.order
  local step, at, final, is_over = 1, nil, last, is_behind
  if backward then
    step, final, is_over = -1, first, is_before
    at = first_place(order, count, function(member) return not is_behind(last, member) end)
  else
    at = first_place(order, count, function(member) return is_before(first, member) end) - 1
  end
  return function()
    while true do
      at = at + step
      local member = order[at]
      if not member or is_over(final, member) then return nil end
      if changes.added[member] then return member end
    end
  end
end

-- Up to `limit` members from `first` to `last`, bounds as of ZRANGEBYLEX; the last ones first where `backward`.
function sets.range(set, first, last, limit, backward)
  local changes = call.set_changes[set]
  if not changes then return read(set, first, last, limit, backward) end
  local next_stored = stored(set, changes, first, last, limit, backward)
  local next_added = added(changes, first, last, backward)
  local one, other, members = next_stored(), next_added(), {}
  while #members < limit and (one or other) do
    local is_stored = one and (not other or precedes(one, other) ~= (backward or false))
    members[#members + 1] = is_stored and one or other
    if is_stored then one = next_stored() else other = next_added() end
  end
  return members
end

-- Those of up to `limit` members that Redis has between the bounds that the call did not take out. What it added
-- is not among them.
function sets.stored(set, first, last, limit)
  local members, changes = read(set, first, last, limit, false), call.set_changes[set]
  if not changes then return members end
  local left = {}
  for _, member in ipairs(members) do
    if not changes.removed[member] then left[#left + 1] = member end
  end
  return left
end

-- How many members begin with the word and a blank.
function sets.count(set, word)
  local front = word .. " "
  records.note_type(set)
  local count = redis.call("ZLEXCOUNT", records.key(set), "(" .. front, "(" .. word .. "!")
  local changes = call.set_changes[set]
  if not changes then return count end
  for member in pairs(changes.added) do
    if sub(member, 1, #front) == front then count = count + 1 end
  end
  for member in pairs(changes.removed) do
    if sub(member, 1, #front) == front then count = count - 1 end
  end
  return count
end

-- Up to `limit` members that begin with the word and a blank, those after `after` only where given.
function sets.starting_with(set, word, after, limit)
  local first = after and "(" .. word .. " " .. after or "(" .. word .. " "
  return sets.range(set, first, "(" .. word .. "!", limit)
end
