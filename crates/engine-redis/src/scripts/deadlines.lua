-- What ends by itself: deadlines of holds and reservations, and when ended records are forgotten. As
-- `core/src/deadlines.rs`.

-- How many ended records are dropped for each event, more than an event makes.
local FORGOTTEN_PER_EVENT_MAX = constants.FORGOTTEN_PER_EVENT_MAX

local INTEGER_MAX = constants.INTEGER_MAX

-- The stamp at which something of `ttl_ms` started now ends, kept within the range of integers.
function deadlines.after(now, ttl_ms)
  return math.min(now + ttl_ms, INTEGER_MAX)
end

-- Whether `now` lies within a sale or campaign: from its start up to, not at, its end.
function deadlines.check_times(starts_at, ends_at, now)
  if starts_at and now < starts_at then outcomes.refuse(codes.NOT_STARTED, starts_at, now) end
  if ends_at and now >= ends_at then outcomes.refuse(codes.ENDED, ends_at, now) end
end

-- The same as a word: whether a sale has begun, and whether it is over.
function deadlines.times_status(starts_at, ends_at, now)
  if starts_at and now < starts_at then return "not_started" end
  if ends_at and now >= ends_at then return "ended" end
  return "open"
end

-- The words of a member.
local function words_of(member)
  local words = {}
  for word in string.gmatch(member, "[^ ]+") do words[#words + 1] = word end
  return words
end

local function due_member(deadline, kind, resource, record)
  return encoding.digits(deadline) .. " " .. kind .. " " .. resource .. " " .. record
end

local function due_by_member(deadline, kind, resource, record)
  return kind .. " " .. resource .. " " .. encoding.digits(deadline) .. " " .. record
end

-- Notes that a record ends at `deadline`. Kinds are "hold" and "reservation", due in this order.
function deadlines.add(deadline, kind, resource, record)
  sets.add("due", due_member(deadline, kind, resource, record))
  sets.add("due_by", due_by_member(deadline, kind, resource, record))
end

-- Forgets that a record ends at `deadline`.
function deadlines.remove(deadline, kind, resource, record)
  sets.remove("due", due_member(deadline, kind, resource, record))
  sets.remove("due_by", due_by_member(deadline, kind, resource, record))
end

-- The names of a resource's records that have ended by `now`, oldest first.
function deadlines.due_of(kind, resource, now, limit)
  local front = kind .. " " .. resource .. " "
  local names = {}
  for at, member in ipairs(sets.range("due_by", "[" .. front, "(" .. front .. encoding.digits(now + 1), limit)) do
    names[at] = words_of(member)[4]
  end
  return names
end

-- When the first of a resource's records ends, or nil.
function deadlines.first_of(kind, resource)
  local front = kind .. " " .. resource .. " "
  local member = sets.range("due_by", "[" .. front, "(" .. front .. ":", 1)[1]
  return member and tonumber(words_of(member)[3])
end

-- All records that have ended by `now`, oldest first: lists of deadline, kind, resource and name.
function deadlines.due(now, limit)
  local found = {}
  for at, member in ipairs(sets.range("due", "-", "(" .. encoding.digits(now + 1), limit)) do
    found[at] = words_of(member)
  end
  return found
end

-- Notes that a record ended, to be dropped when the retention window is over.
function deadlines.add_ended(ended_at, kind, resource, record)
  sets.add("ended", due_member(ended_at, kind, resource, record))
end

-- Forgets that a record ended, because its name is in use again.
function deadlines.remove_ended(ended_at, kind, resource, record)
  sets.remove("ended", due_member(ended_at, kind, resource, record))
end

-- Whether a record that ended at `ended_at` still answers under its name.
function deadlines.is_retained(ended_at, now)
  return ended_at + settings.retention_ms > now
end

-- Whether a record still answers under its name: it is open, or ended not long ago.
function deadlines.is_visible(record, now)
  return record.status == "open" or deadlines.is_retained(record.ended_at, now)
end

-- The status as it is at `now`: past its deadline a record has ended, whether or not that was noted.
function deadlines.status_at(record, now)
  local is_due = record.deadline and now >= record.deadline
  return record.status == "open" and is_due and "expired" or record.status
end

-- Drops ended records that no command can see any more, in proportion to the events of the call. Whether a
-- record is seen is decided by its stamp alone, never by when it is dropped.
function deadlines.forget()
  local ended_at = call.meta.at - settings.retention_ms
  if call.events_logged == 0 then return end
  local limit = FORGOTTEN_PER_EVENT_MAX * call.events_logged
  for _, forget in ipairs(forgetters) do forget(call.meta.at, limit) end
  if ended_at < 0 or sizes.is_empty("ended") then return end
  -- What ended in this call has its time before it.
  for _, member in ipairs(sets.stored("ended", "-", "(" .. encoding.digits(ended_at + 1), limit)) do
    local words = words_of(member)
    ends_of[words[2]].forget(words[3], words[4])
    sets.remove("ended", member)
  end
end
