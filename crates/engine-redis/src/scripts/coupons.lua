-- Coupons: claims that are counted in any number of quantity limits. As `core/src/coupons`.
--
-- A limit is { name, max, dimensions, window, offset in minutes or false }, a subject { dimension, value, … }.
-- A limit keeps its place, by which its counters know it; further ones are added at the end.

local refuse, emit = outcomes.refuse, log.emit
local status_at = deadlines.status_at

local INTEGER_MAX = constants.INTEGER_MAX
local LIMITS_MAX = constants.LIMITS_MAX

local function claim_key(coupon, serial)
  return coupon .. " " .. encoding.number(serial)
end

-- The coupon, or the refusal that it does not exist.
local function existing(coupon)
  return records.get("coupons", coupon) or refuse(codes.COUPON_NOT_FOUND, coupon)
end

-- The value of a subject's dimension, or nil.
local function value_of(subject, dimension)
  for at = 1, #subject, 2 do
    if subject[at] == dimension then return subject[at + 1] end
  end
end

-- The counter of a subject in one window of the limit in the `place`, counted from 0.
local function counter_key(coupon, place, limit, window, subject)
  local values = {}
  for at, dimension in ipairs(limit[3]) do values[at] = value_of(subject, dimension) end
  return counters.key(coupon, place, window, values)
end

-- The counters in which a claim counted.
function counters.keys_of_claim(coupon, claim)
  local found, keys = records.get("coupons", coupon), {}
  for place, window in ipairs(claim.windows) do
    keys[place] = counter_key(coupon, place - 1, found.limits[place], window, claim.subject)
  end
  return keys
end

-- Coupons ------------------------------------------------------------------------------------------------

decide["COUPON.CREATE"] = function(command)
  if records.get("coupons", command.coupon) then refuse(codes.COUPON_EXISTS, command.coupon) end
  emit("coupon.created", {
    coupon = command.coupon, limits = command.limits, starts_at = command.starts_at,
    ends_at = command.ends_at, claim_ttl_ms = command.claim_ttl_ms,
  })
  return { #command.limits }
end

local function is_same_shape(limit, change)
  if limit[4] ~= change[4] or limit[5] ~= change[5] then return false end
  return table.concat(limit[3], ",") == table.concat(change[3], ",")
end

-- Changes the limit that has the name, or adds one. Whether that changes anything.
local function apply(limits, change)
  local name, max, has_shape = change[1], change[2], change[3] ~= nil
  for at, limit in ipairs(limits) do
    if limit[1] == name then
      if has_shape and not is_same_shape(limit, change) then
        refuse(codes.INVALID, "limits", "keep their dimensions and window; add a limit of another name")
      end
      limits[at] = { name, max, limit[3], limit[4], limit[5] }
      return limit[2] ~= max
    end
  end
  if not has_shape then
    refuse(codes.INVALID, "limits", "that are new need PER dimensions|- WINDOW window")
  end
  limits[#limits + 1] = change
  return true
end

-- Changes maxima and adds limits. What was counted stays; changes to what is so already make no event.
decide["COUPON.UPDATE"] = function(command)
  local limits, is_changed = {}, false
  for at, limit in ipairs(existing(command.coupon).limits) do limits[at] = limit end
  for _, change in ipairs(command.limits) do is_changed = apply(limits, change) or is_changed end
  if #limits > LIMITS_MAX then refuse(codes.INVALID, "limits", "would be more than 16") end
  if is_changed then emit("coupon.updated", { coupon = command.coupon, limits = limits }) end
  return { #limits }
end

-- Whether the subject names every dimension that the limit counts by.
local function check_complete(limit, subject)
  for _, dimension in ipairs(limit[3]) do
    if not value_of(subject, dimension) then refuse(codes.SUBJECT_INCOMPLETE, limit[1], dimension) end
  end
end

-- The window of a limit that allows one more.
local function check_limit(coupon, place, limit, subject, now)
  local window, ends_at = windows.window_at(limit[4], limit[5], now)
  local used = counters.used(counter_key(coupon, place, limit, window, subject))
  if not counters.is_within(used, 1, limit[2]) then
    refuse(codes.LIMIT_REACHED, limit[1], used, limit[2], ends_at or false)
  end
  return window
end

-- The coupon and the window of each of its limits, or the refusal of a claim.
local function admit(coupon, subject, now)
  local found, indices = existing(coupon), {}
  if found.paused == 1 then refuse(codes.COUPON_PAUSED, coupon) end
  deadlines.check_times(found.starts_at, found.ends_at, now)
  for _, limit in ipairs(found.limits) do check_complete(limit, subject) end
  for at, limit in ipairs(found.limits) do indices[at] = check_limit(coupon, at - 1, limit, subject, now) end
  if found.serial >= INTEGER_MAX then refuse(codes.OVERFLOW, "serial") end
  return found, indices
end

-- Counts one more in every limit and gives a serial.
decide["COUPON.CLAIM"] = function(command, context)
  local found, indices = admit(command.coupon, command.subject, context.now)
  local serial = found.serial + 1
  local deadline = found.claim_ttl_ms and deadlines.after(context.now, found.claim_ttl_ms)
  emit("coupon.claimed", {
    coupon = command.coupon, serial = serial, subject = command.subject, windows = indices,
    deadline = deadline,
  })
  return { serial, deadline or false }
end

decide["COUPON.PAUSE"] = function(command)
  if existing(command.coupon).paused == 0 then emit("coupon.paused", { coupon = command.coupon }) end
  return { "paused" }
end

decide["COUPON.RESUME"] = function(command)
  if existing(command.coupon).paused == 1 then emit("coupon.resumed", { coupon = command.coupon }) end
  return { "open" }
end

-- Claims -------------------------------------------------------------------------------------------------

-- Whether a claim still answers under its serial.
local function is_visible(claim, now)
  local status = status_at(claim, now)
  if status == "open" then return true end
  return deadlines.is_retained(status == "expired" and claim.deadline or claim.ended_at, now)
end

-- The claim, unless there is none or it ended long ago.
local function visible(coupon, serial, now)
  local claim = records.get("coupon_claims", claim_key(coupon, serial))
  if claim and is_visible(claim, now) then return claim end
  refuse(codes.CLAIM_NOT_FOUND, serial)
end

local function check_open(claim, serial, now)
  local status = status_at(claim, now)
  if status == "redeemed" then refuse(codes.CLAIM_REDEEMED, serial) end
  if status == "revoked" then refuse(codes.CLAIM_REVOKED, serial) end
  if status == "expired" then refuse(codes.CLAIM_EXPIRED, serial, claim.deadline) end
end

-- Uses a claim up.
decide["COUPON.REDEEM"] = function(command, context)
  local coupon, serial, now = command.coupon, command.serial, context.now
  local claim = visible(coupon, serial, now)
  if value_of(claim.subject, "user") ~= command.user then refuse(codes.NOT_OWNER) end
  check_open(claim, serial, now)
  emit("coupon.redeemed", { coupon = coupon, serial = serial, user = command.user })
  return { serial }
end

-- The names of the limits whose window a claim was counted in and still runs.
local function running_limits(coupon, claim, now)
  local names, limits = {}, records.get("coupons", coupon).limits
  for at, window in ipairs(claim.windows) do
    local limit = limits[at]
    if windows.window_at(limit[4], limit[5], now) == window then names[#names + 1] = limit[1] end
  end
  return names
end

-- Voids an unused claim, and gives it back where asked.
decide["COUPON.REVOKE"] = function(command, context)
  local coupon, serial, now = command.coupon, command.serial, context.now
  local claim = visible(coupon, serial, now)
  check_open(claim, serial, now)
  local given_back = command.give_back == 1 and running_limits(coupon, claim, now) or {}
  emit("coupon.revoked", { coupon = coupon, serial = serial, given_back = given_back })
  return { #given_back }
end

-- Events -------------------------------------------------------------------------------------------------

evolve["coupon.created"] = function(event)
  records.put("coupons", event.coupon, {
    starts_at = event.starts_at, ends_at = event.ends_at, claim_ttl_ms = event.claim_ttl_ms, paused = 0,
    serial = 0, limits = event.limits,
  })
  lists.add("coupon", event.coupon)
end

evolve["coupon.updated"] = function(event) records.change("coupons", event.coupon).limits = event.limits end
evolve["coupon.paused"] = function(event) records.change("coupons", event.coupon).paused = 1 end
evolve["coupon.resumed"] = function(event) records.change("coupons", event.coupon).paused = 0 end

-- A claim with a deadline is noted as ended from there on, so that no event is needed when it expires.
evolve["coupon.claimed"] = function(event, at)
  local coupon, serial = event.coupon, event.serial
  local found = records.change("coupons", coupon)
  for place, window in ipairs(event.windows) do
    local limit = found.limits[place]
    local _, ends_at = windows.window_at(limit[4], limit[5], at)
    counters.count(counter_key(coupon, place - 1, limit, window, event.subject), 1, ends_at)
  end
  found.serial = serial
  if event.deadline then deadlines.add_ended(event.deadline, "claim", coupon, encoding.number(serial)) end
  records.add("coupon_claims", claim_key(coupon, serial), {
    at = at, deadline = event.deadline, status = "open", ended_at = 0, windows = event.windows,
    subject = event.subject,
  })
end

-- Marks a claim as used or voided; that, and not its deadline, is its end from now on.
local function end_claim(event, status, at)
  local record = encoding.number(event.serial)
  local claim = records.change("coupon_claims", claim_key(event.coupon, event.serial))
  if claim.deadline then deadlines.remove_ended(claim.deadline, "claim", event.coupon, record) end
  deadlines.add_ended(at, "claim", event.coupon, record)
  claim.status, claim.ended_at = status, at
end

local function give_back(event)
  local coupon, names = event.coupon, {}
  for _, name in ipairs(event.given_back) do names[name] = true end
  local claim = records.get("coupon_claims", claim_key(coupon, event.serial))
  local limits = records.get("coupons", coupon).limits
  for place, window in ipairs(claim.windows) do
    local limit = limits[place]
    if names[limit[1]] then counters.uncount(counter_key(coupon, place - 1, limit, window, claim.subject), 1) end
  end
end

evolve["coupon.redeemed"] = function(event, at) end_claim(event, "redeemed", at) end

evolve["coupon.revoked"] = function(event, at)
  give_back(event)
  end_claim(event, "revoked", at)
end

local function forget(coupon, serial)
  records.remove("coupon_claims", coupon .. " " .. serial)
end

-- A claim expires without an event.
ends_of.claim = { expire = false, forget = forget, is_pending = false }

-- Queries ------------------------------------------------------------------------------------------------

query["COUPON.CHECK"] = function(command, now)
  admit(command.coupon, command.subject, now)
  return {}
end

query["COUPON.CLAIMED"] = function(command, now)
  local claim = visible(command.coupon, command.serial, now)
  return {
    command.serial, value_of(claim.subject, "user"), status_at(claim, now), claim.at, claim.deadline or false,
  }
end

-- Why every claim would be refused, in the order in which that is checked.
local function status_of(coupon, now)
  return coupon.paused == 1 and "paused" or deadlines.times_status(coupon.starts_at, coupon.ends_at, now)
end

query["COUPON.GET"] = function(command, now)
  local found = existing(command.coupon)
  return {
    command.coupon, status_of(found, now), found.serial, found.starts_at or false, found.ends_at or false,
    found.claim_ttl_ms or false, found.limits,
  }
end

query["COUPON.LIST"] = lists.answer("coupon", function(id, found, now)
  return { id, status_of(found, now), found.serial }
end)
