-- Quantity limits: how many a subject has had within a window. As `core/src/limits.rs`. The limit per owner
-- of stock has no window, and counts in rows of its own.
--
-- A counter's id joins resource, place of the limit, window and subject by blanks; the set `counts_by` has
-- those of windows that end, behind the end, so that ended ones are forgotten in that order.

local INTEGER_MAX = constants.INTEGER_MAX

local number, concat = encoding.number, table.concat

-- The counter of a subject, which is the values of the limit's dimensions, in one window of a limit.
function counters.key(resource, place, window, values)
  return resource .. " " .. number(place) .. " " .. number(window) .. " " .. concat(values, "|")
end

-- Whether `quantity` more stay within `max`.
function counters.is_within(used, quantity, max)
  return used <= math.min(max, INTEGER_MAX) - quantity
end

-- How many were counted.
function counters.used(key)
  local counter = records.get("counts", key)
  return counter and counter.used or 0
end

local function end_member(ends_at, key)
  return encoding.digits(ends_at) .. " " .. key
end

-- Counts `quantity` more, in a window that ends at `ends_at`.
function counters.count(key, quantity, ends_at)
  local counter = records.change("counts", key)
  if counter then
    counter.used = counter.used + quantity
    return
  end
  if ends_at then sets.add("counts_by", end_member(ends_at, key)) end
  records.put("counts", key, { used = quantity, ends_at = ends_at })
end

-- Gives `quantity` back. What stands at nought is not kept.
function counters.uncount(key, quantity)
  local counter = records.change("counts", key)
  if not counter then return end
  counter.used = math.max(counter.used - quantity, 0)
  if counter.used > 0 then return end
  if counter.ends_at then sets.remove("counts_by", end_member(counter.ends_at, key)) end
  records.remove("counts", key)
end

-- Drops up to `count_max` counters whose window has ended by `now`.
forgetters[#forgetters + 1] = function(now, count_max)
  if sizes.is_empty("counts_by") then return end
  local members = sets.stored("counts_by", "-", "(" .. encoding.digits(now + 1), count_max)
  for _, member in ipairs(members) do
    sets.remove("counts_by", member)
    records.remove("counts", string.match(member, "^%d+ (.*)$"))
  end
end
