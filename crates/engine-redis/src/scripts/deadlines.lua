-- What ends by itself: deadlines of holds and reservations, and when ended records are forgotten. As
-- `core/src/deadlines.rs`.

-- How many ended records are dropped for each event, more than an event makes.
local FORGOTTEN_PER_EVENT_MAX = 20

local INTEGER_MAX = 9007199254740991

-- The stamp at which something of `ttl_ms` started now ends, kept within the range of integers.
function S.deadline_after(now, ttl_ms)
  return math.min(now + ttl_ms, INTEGER_MAX)
end

-- Whether `now` lies within a sale or campaign: from its start up to, not at, its end.
function S.check_times(starts_at, ends_at, now)
  if starts_at and now < starts_at then S.refuse("NOT_STARTED", starts_at, now) end
  if ends_at and now >= ends_at then S.refuse("ENDED", ends_at, now) end
end

-- The same as a word: whether a sale has begun, and whether it is over.
function S.times_status(starts_at, ends_at, now)
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
  return S.digits(deadline) .. " " .. kind .. " " .. resource .. " " .. record
end

local function due_by_member(deadline, kind, resource, record)
  return kind .. " " .. resource .. " " .. S.digits(deadline) .. " " .. record
end

-- Notes that a record ends at `deadline`. Kinds are "hold" and "reservation", due in this order.
function S.add_deadline(deadline, kind, resource, record)
  S.lex_add("due", due_member(deadline, kind, resource, record))
  S.lex_add("due_by", due_by_member(deadline, kind, resource, record))
end

function S.remove_deadline(deadline, kind, resource, record)
  S.lex_remove("due", due_member(deadline, kind, resource, record))
  S.lex_remove("due_by", due_by_member(deadline, kind, resource, record))
end

-- The names of a resource's records that have ended by `now`, oldest first.
function S.due_of(kind, resource, now, limit)
  local front = kind .. " " .. resource .. " "
  local records = {}
  for at, member in ipairs(S.lex_range("due_by", "[" .. front, "(" .. front .. S.digits(now + 1), limit)) do
    records[at] = words_of(member)[4]
  end
  return records
end

-- All records that have ended by `now`, oldest first: lists of deadline, kind, resource and name.
function S.due(now, limit)
  local found = {}
  for at, member in ipairs(S.lex_range("due", "-", "(" .. S.digits(now + 1), limit)) do
    found[at] = words_of(member)
  end
  return found
end

-- Notes that a record ended, to be dropped when the retention window is over.
function S.add_ended(ended_at, kind, resource, record)
  S.lex_add("ended", due_member(ended_at, kind, resource, record))
end

-- Forgets that a record ended, because its name is in use again.
function S.remove_ended(ended_at, kind, resource, record)
  S.lex_remove("ended", due_member(ended_at, kind, resource, record))
end

-- Whether a record that ended at `ended_at` still answers under its name.
function S.is_retained(ended_at, now)
  return ended_at + S.settings.retention_ms > now
end

-- Drops ended records that no command can see any more, in proportion to the events of the call. Whether a
-- record is seen is decided by its stamp alone, never by when it is dropped.
function S.forget()
  local ended_at = S.meta.at - S.settings.retention_ms
  if S.events_logged == 0 then return end
  local limit = FORGOTTEN_PER_EVENT_MAX * S.events_logged
  for _, forget in ipairs(S.forgetters) do forget(S.meta.at, limit) end
  if ended_at < 0 then return end
  -- What ended in this call has its time before it.
  for _, member in ipairs(S.lex_stored("ended", "-", "(" .. S.digits(ended_at + 1), limit)) do
    local words = words_of(member)
    S.forget_record[words[2]](words[3], words[4])
    S.lex_remove("ended", member)
  end
end
