-- Lists of resources by name. As `core/src/lists.rs`.
--
-- The names stand in one ordered set, each behind its kind: resources are never removed, so it only grows.

-- By kind of resource: the hash of its records.
local HASHES = { account = "accounts", stock = "stock", campaign = "campaigns", coupon = "coupons", market = "markets" }

-- Notes the name of a new resource.
function lists.add(kind, id)
  sets.add("names", kind .. " " .. id)
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
