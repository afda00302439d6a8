-- Whether a partition is as its `meta` says, in one short call: what `wholeness.look` finds, without the library, which
-- takes longer to build than to look. Answers epoch and sequence where all is well, and nothing otherwise: then
-- the library looks, and says what is wrong.
--
-- ARGV: deployment, format, the epoch and sequence that the caller has seen, how many fields `meta` must have, their names;
-- then for each key the command that counts its rows, or nothing.

local function glance(keys, arguments)
  local deployment, format = arguments[1], arguments[2]
  local epoch_seen, sequence_seen, field_count = tonumber(arguments[3]), tonumber(arguments[4]), tonumber(arguments[5])
  local meta = {}
  local texts = redis.call("HMGET", keys[1], unpack(arguments, 6, 5 + field_count))
  for at = 1, field_count do
    if not texts[at] then return false end
    meta[arguments[5 + at]] = texts[at]
  end
  if meta.deployment ~= deployment or meta.format ~= format or meta.lost ~= "" or meta.damaged ~= "" then return false end
  local epoch, sequence = tonumber(meta.epoch), tonumber(meta.sequence)
  if epoch < epoch_seen or (epoch == epoch_seen and sequence < sequence_seen) then return false end
  local sizes = {}
  for name, count in string.gmatch(meta.sizes, "(%S+) (%d+)") do sizes[name] = tonumber(count) end
  for at, key in ipairs(keys) do
    local command, name = arguments[5 + field_count + at], string.match(key, "}:(.*)$")
    if command ~= "" and redis.call(command, key) ~= (sizes[name] or 0) then return false end
    if name == "log" and sequence > 0 and redis.call("TYPE", key).ok ~= "stream" then return false end
  end
  return { meta.epoch, meta.sequence }
end
