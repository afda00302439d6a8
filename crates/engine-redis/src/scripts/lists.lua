-- Lists of resources by name. As `core/src/lists.rs`.
--
-- The names stand in one ordered set, each behind its kind: resources are never removed, so it only grows.

local precedes = sets.precedes

-- Comes after every byte that a name may have.
local BEHIND = "\255"

-- By kind of resource: the hash of its records.
local HASHES = { account = "accounts", stock = "stock", campaign = "campaigns", coupon = "coupons", market = "markets" }

-- Notes the name of a new resource.
function lists.add(kind, id)
  sets.add("names", kind .. " " .. id)
end

-- The names of a kind that a command asks for.
local function names_of(kind, command)
  local front = kind .. " " .. (command.prefix or "")
  local after, first = command.after and kind .. " " .. command.after, "[" .. front
  if after and not precedes(after, front) then first = "(" .. after end
  local members, ids = sets.range("names", first, "(" .. front .. BEHIND, command.count), {}
  for at, member in ipairs(members) do ids[at] = string.sub(member, #kind + 2) end
  return ids
end

-- Answers a command that lists resources of a kind, a row each: `shown` gives its values by the name and the record.
function lists.answer(kind, shown)
  return function(command, now)
    local ids, rows = names_of(kind, command), {}
    records.prefetch(HASHES[kind], ids)
    for at, id in ipairs(ids) do rows[at] = shown(id, records.get(HASHES[kind], id), now) end
    return { rows }
  end
end

-- Notes the names of all resources of a partition that was written by a release that noted none. It takes as long as there
-- are resources, once.
function lists.begin()
  for kind, hash in pairs(HASHES) do
    records.note_type(hash)
    for _, id in ipairs(redis.call("HKEYS", records.key(hash))) do
      if string.sub(id, 1, 1) ~= "$" then lists.add(kind, id) end
    end
  end
end
