-- Quantity limits: how many a subject has had within a window. As `core/src/limits.rs`. The limit per owner
-- of stock has no window, and counts in rows of its own.
--
-- A counter's id joins resource, place of the limit, window and subject by blanks; the set `counts_by` has
-- those of windows that end, behind the end, so that ended ones are forgotten in that order.

local INTEGER_MAX = 9007199254740991

-- The counter of a subject, which is the values of the limit's dimensions, in one window of a limit.
function S.counter_key(resource, place, window, values)
  return resource .. " " .. S.number(place) .. " " .. S.number(window) .. " " .. table.concat(values, "|")
end

-- Whether `quantity` more stay within `max`.
function S.is_within(used, quantity, max)
  return used <= math.min(max, INTEGER_MAX) - quantity
end

-- How many were counted.
function S.used(key)
  local counter = S.get("counts", key)
  return counter and counter.used or 0
end

local function end_member(ends_at, key)
  return S.digits(ends_at) .. " " .. key
end

-- Counts `quantity` more, in a window that ends at `ends_at`.
function S.count(key, quantity, ends_at)
  local counter = S.change("counts", key)
  if counter then
    counter.used = counter.used + quantity
    return
  end
  if ends_at then S.lex_add("counts_by", end_member(ends_at, key)) end
  S.put("counts", key, { used = quantity, ends_at = ends_at })
end

-- Gives `quantity` back. What stands at nought is not kept.
function S.uncount(key, quantity)
  local counter = S.change("counts", key)
  if not counter then return end
  counter.used = math.max(counter.used - quantity, 0)
  if counter.used > 0 then return end
  if counter.ends_at then S.lex_remove("counts_by", end_member(counter.ends_at, key)) end
  S.remove("counts", key)
end

-- Drops up to `count_max` counters whose window has ended by `now`.
S.forgetters[#S.forgetters + 1] = function(now, count_max)
  local members = S.lex_stored("counts_by", "-", "(" .. S.digits(now + 1), count_max)
  for _, member in ipairs(members) do
    S.lex_remove("counts_by", member)
    S.remove("counts", string.match(member, "^%d+ (.*)$"))
  end
end
