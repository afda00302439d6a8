-- Who consumes the log of a partition, and how far each is. A small library of its own: it serves no callers.
--
-- The hash has two fields for each consumer: its name, with epoch, sequence and when that was confirmed, and where the
-- consumer holds or has abandoned another history also `diverged` or `abandoned` and the epoch and sequence there; and
-- `lease` and its name, with until when somebody may work under the name, and who.

local function server_clock()
  local time = redis.call("TIME")
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function parts_of(position)
  local epoch, sequence = string.match(position or "", "^(%d+) (%d+) ")
  return tonumber(epoch or "-1"), tonumber(sequence or "-1")
end

local function is_before(epoch, sequence, other_epoch, other_sequence)
  return epoch < other_epoch or (epoch == other_epoch and sequence < other_sequence)
end

-- Epoch and first sequence of the entry of the log that holds a sequence, or of the first one after it.
local function entry_from(log, sequence)
  local found = redis.call("XRANGE", log, string.format("%.0f-0", sequence), "+", "COUNT", 1)[1]
  if not found then return nil end
  local values = cmsgpack.unpack(found[2][2])
  return values[1], values[2]
end

-- Whether another epoch than this one wrote an event that was trimmed. Each was written by one leadership, from one place
-- on; the oldest that is known may have begun earlier. Nothing is said where a release that notes no epochs has written.
local function is_lost(keys, epoch, sequence)
  local words, oldest, newest, at, own = redis.call("HGETALL", keys[4]), nil, nil, nil, nil
  local epochs = {}
  for place = 1, #words, 2 do
    local first = tonumber(words[place])
    epochs[first] = tonumber(words[place + 1])
    oldest, newest = math.min(oldest or first, first), math.max(newest or first, first)
    if first <= sequence then at = math.max(at or first, first) end
    if epochs[first] == epoch then own = first end
  end
  local is_noted = at ~= newest or epochs[at] == tonumber(redis.call("HGET", keys[3], "epoch") or "0")
  if at and epochs[at] > 0 and is_noted then return epochs[at] ~= epoch end
  return not at and own ~= nil and own ~= oldest
end

-- Whether the log has a position: true or false, or nothing where the event was trimmed and is not of another history for
-- certain. An epoch of 0 is not compared.
local function has_position(keys, epoch, sequence)
  local log, meta = keys[2], keys[3]
  if sequence == 0 then return true end
  local last = tonumber(redis.call("HGET", meta, "sequence") or "0")
  if sequence > last then return false end
  if epoch == 0 then return true end
  local found_epoch, found_first = entry_from(log, sequence)
  if found_epoch == epoch and found_first <= sequence + 1 then return true end
  if found_epoch and found_first <= sequence then return false end
  if is_lost(keys, epoch, sequence) then return false end
  return nil
end

-- The last sequence that the log no longer has.
local function last_trimmed(log, meta)
  local _, first = entry_from(log, 0)
  return first and first - 1 or tonumber(redis.call("HGET", meta, "sequence") or "0")
end

local actions = {}

-- 1, or 0 where the consumer is not known.
function actions.lease(keys, name, holder, now, ttl)
  local key = keys[1]
  if redis.call("HEXISTS", key, name) == 0 then return 0 end
  if tonumber(ttl) == 0 then
    redis.call("HDEL", key, "lease " .. name)
  else
    redis.call("HSET", key, "lease " .. name, string.format("%.0f %s", now + tonumber(ttl), holder))
  end
  return 1
end

-- 1, or -1 where the log does not have the position, or no longer has it and the consumer had not confirmed it.
function actions.confirm(keys, name, _, now, epoch, sequence)
  local key = keys[1]
  epoch, sequence = tonumber(epoch), tonumber(sequence)
  local known_epoch, known_sequence = parts_of(redis.call("HGET", key, name))
  local is_earlier = is_before(epoch, sequence, known_epoch, known_sequence)
  local is_confirmed = is_earlier or (epoch == known_epoch and sequence == known_sequence)
  local is_here = has_position(keys, epoch, sequence)
  if is_here == false or (is_here == nil and not is_confirmed) then return -1 end
  if not is_earlier then
    local text = string.format("%.0f %.0f %.0f", epoch, sequence, now)
    -- Until it has gone on, its own store may still say the position that it has abandoned.
    local abandoned = string.match(redis.call("HGET", key, name) or "", " abandoned .*$")
    if is_confirmed and abandoned then text = text .. abandoned end
    redis.call("HSET", key, name, text)
  end
  return 1
end

-- Notes that a consumer holds a position which the log does not have. Where no confirmed position of the log is known,
-- everything that is there is kept.
function actions.diverge(keys, name, _, epoch, sequence)
  local key, log, meta = keys[1], keys[2], keys[3]
  local known = redis.call("HGET", key, name) or ""
  local known_epoch, known_sequence = parts_of(known)
  local at = tonumber(string.match(known, "^%d+ %d+ (%d+)") or "0")
  local is_held = known_epoch == tonumber(epoch) and known_sequence == tonumber(sequence)
  if known_epoch < 0 or is_held or has_position(keys, known_epoch, known_sequence) == false then
    known_epoch, known_sequence, at = 0, last_trimmed(log, meta), 0
  end
  local text = string.format(
    "%.0f %.0f %.0f diverged %.0f %.0f", known_epoch, known_sequence, at, tonumber(epoch), tonumber(sequence)
  )
  redis.call("HSET", key, name, text)
  redis.call("HDEL", key, "lease " .. name)
  return 1
end

-- Sets a consumer onto a position of the log, and ends its divergence. When it confirmed something stays known: it may be
-- asked again what was lost since. 1, or -1 where the log does not have the position.
function actions.rebase(keys, name, now, epoch, sequence)
  local key = keys[1]
  local known_epoch, known_sequence = parts_of(redis.call("HGET", key, name))
  local is_confirmed = tonumber(epoch) == known_epoch and tonumber(sequence) == known_sequence
  local is_here = has_position(keys, tonumber(epoch), tonumber(sequence))
  if is_here == false or (is_here == nil and not is_confirmed) then return -1 end
  local known = redis.call("HGET", key, name) or ""
  local _, held = string.match(known, " (%a+) (%d+ %d+)$")
  local confirmed_at = string.match(known, "^%d+ %d+ (%d+)") or string.format("%.0f", now)
  local text = string.format("%s %s %s", epoch, sequence, confirmed_at)
  redis.call("HSET", key, name, held and text .. " abandoned " .. held or text)
  redis.call("HDEL", key, "lease " .. name)
  return 1
end

local function diverge_where_lost(keys, fields)
  for at = 1, #fields, 2 do
    local name, text = fields[at], fields[at + 1]
    local epoch, sequence = parts_of(text)
    if string.sub(name, 1, 6) ~= "lease " and has_position(keys, epoch, sequence) == false then
      actions.diverge(keys, name, 0, epoch, sequence)
    end
  end
end

-- Trims the log up to `through` at most, in so many entries at most. Nothing goes that a consumer has not confirmed. A
-- confirmed position counts only if it is of this log: after a failover that lost events, the same sequence is another
-- event. The last entry stays, by which a reader that has it can see that the log is the same.
local function trim(keys, through, limit)
  local key, log, meta = keys[1], keys[2], keys[3]
  diverge_where_lost(keys, redis.call("HGETALL", key))
  local floor = math.min(tonumber(through), tonumber(redis.call("HGET", meta, "sequence") or "0") - 1)
  local fields = redis.call("HGETALL", key)
  for at = 1, #fields, 2 do
    local _, sequence = parts_of(fields[at + 1])
    if string.sub(fields[at], 1, 6) ~= "lease " then floor = math.min(floor, sequence) end
  end
  if floor < 1 then return 0 end
  return redis.call("XTRIM", log, "MINID", "~", string.format("%.0f-0", floor + 1), "LIMIT", limit)
end

-- What is asked of one consumer: 1, 0 or -1; as a text who else has the lease; as a list the epoch and sequence that it
-- holds, where it has diverged.
local function serve(keys, arguments)
  local key, action, name, holder = keys[1], arguments[1], arguments[2], arguments[3]
  if action == "trim" then return trim(keys, arguments[2], arguments[3]) end
  if action == "forget" then
    return redis.call("HDEL", key, name, "lease " .. name) > 0 and 1 or 0
  end
  local now = server_clock()
  if action == "diverge" or action == "rebase" then
    return actions[action](keys, name, now, arguments[3], arguments[4])
  end
  local held_epoch, held_sequence = string.match(redis.call("HGET", key, name) or "", " diverged (%d+) (%d+)$")
  if held_epoch then return { held_epoch, held_sequence } end
  local stop, other = string.match(redis.call("HGET", key, "lease " .. name) or "", "^(%d+) (.*)$")
  if other and other ~= holder and tonumber(stop) > now then return other end
  return actions[action](keys, name, holder, now, arguments[4], arguments[5])
end
