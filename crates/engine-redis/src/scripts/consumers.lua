-- Who consumes the log of a partition, and how far each is. A small library of its own: it serves no callers.
--
-- The hash has two fields for each consumer: its name, with epoch, sequence and when that was confirmed; and
-- `lease` and its name, with until when somebody may work under the name, and who.

local function server_clock()
  local time = redis.call("TIME")
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function parts_of(position)
  local epoch, sequence = string.match(position or "", "^(%d+) (%d+) ")
  return tonumber(epoch or "-1"), tonumber(sequence or "-1")
end

local actions = {}

-- 1, or 0 where the consumer is not known.
function actions.lease(key, name, holder, now, ttl)
  if redis.call("HEXISTS", key, name) == 0 then return 0 end
  if tonumber(ttl) == 0 then
    redis.call("HDEL", key, "lease " .. name)
  else
    redis.call("HSET", key, "lease " .. name, string.format("%.0f %s", now + tonumber(ttl), holder))
  end
  return 1
end

function actions.confirm(key, name, _, now, epoch, sequence)
  local known_epoch, known_sequence = parts_of(redis.call("HGET", key, name))
  local is_before = tonumber(epoch) < known_epoch
    or (tonumber(epoch) == known_epoch and tonumber(sequence) < known_sequence)
  if not is_before then
    redis.call("HSET", key, name, string.format("%s %s %.0f", epoch, sequence, now))
  end
  return 1
end

-- What is asked of one consumer: 1 or 0, or as a text who else has the lease.
local function serve(keys, arguments)
  local key, action, name, holder = keys[1], arguments[1], arguments[2], arguments[3]
  if action == "forget" then
    return redis.call("HDEL", key, name, "lease " .. name) > 0 and 1 or 0
  end
  local now = server_clock()
  local stop, other = string.match(redis.call("HGET", key, "lease " .. name) or "", "^(%d+) (.*)$")
  if other and other ~= holder and tonumber(stop) > now then return other end
  return actions[action](key, name, holder, now, arguments[4], arguments[5])
end
