-- Coupons: claims that are counted in any number of quantity limits. As `core/src/coupons`.
--
-- A limit is { name, max, dimensions, window, offset in minutes or false }, a subject { dimension, value, … }.
-- A limit keeps its place, by which its counters know it; further ones are added at the end.

S.hash_of_argument.coupon = "coupons"

local INTEGER_MAX = 9007199254740991
local LIMITS_MAX = 16

local function claim_key(coupon, serial)
  return coupon .. " " .. S.number(serial)
end

-- The coupon, or the refusal that it does not exist.
local function existing(coupon)
  return S.get("coupons", coupon) or S.refuse("COUPON_NOT_FOUND", coupon)
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
  return S.counter_key(coupon, place, window, values)
end

-- Coupons ------------------------------------------------------------------------------------------------

S.decide["COUPON.CREATE"] = function(command)
  if S.get("coupons", command.coupon) then S.refuse("COUPON_EXISTS", command.coupon) end
  S.emit("coupon.created", {
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
        S.refuse("INVALID", "limits", "keep their dimensions and window; add a limit of another name")
      end
      limits[at] = { name, max, limit[3], limit[4], limit[5] }
      return limit[2] ~= max
    end
  end
  if not has_shape then
    S.refuse("INVALID", "limits", "that are new need PER dimensions|- WINDOW window")
  end
  limits[#limits + 1] = change
  return true
end

-- Changes maxima and adds limits. What was counted stays; changes to what is so already make no event.
S.decide["COUPON.UPDATE"] = function(command)
  local limits, is_changed = {}, false
  for at, limit in ipairs(existing(command.coupon).limits) do limits[at] = limit end
  for _, change in ipairs(command.limits) do is_changed = apply(limits, change) or is_changed end
  if #limits > LIMITS_MAX then S.refuse("INVALID", "limits", "would be more than 16") end
  if is_changed then S.emit("coupon.updated", { coupon = command.coupon, limits = limits }) end
  return { #limits }
end

-- Whether the subject names every dimension that the limit counts by.
local function check_complete(limit, subject)
  for _, dimension in ipairs(limit[3]) do
    if not value_of(subject, dimension) then S.refuse("SUBJECT_INCOMPLETE", limit[1], dimension) end
  end
end

-- The window of a limit that allows one more.
local function check_limit(coupon, place, limit, subject, now)
  local window, ends_at = S.window_at(limit[4], limit[5], now)
  local used = S.used(counter_key(coupon, place, limit, window, subject))
  if not S.is_within(used, 1, limit[2]) then
    S.refuse("LIMIT_REACHED", limit[1], used, limit[2], ends_at or false)
  end
  return window
end

-- The coupon and the window of each of its limits, or the refusal of a claim.
local function admit(coupon, subject, now)
  local found, windows = existing(coupon), {}
  if found.paused == 1 then S.refuse("COUPON_PAUSED", coupon) end
  S.check_times(found.starts_at, found.ends_at, now)
  for _, limit in ipairs(found.limits) do check_complete(limit, subject) end
  for at, limit in ipairs(found.limits) do windows[at] = check_limit(coupon, at - 1, limit, subject, now) end
  if found.serial >= INTEGER_MAX then S.refuse("OVERFLOW", "serial") end
  return found, windows
end

-- Counts one more in every limit and gives a serial.
S.decide["COUPON.CLAIM"] = function(command, context)
  local found, windows = admit(command.coupon, command.subject, context.now)
  local serial = found.serial + 1
  local deadline = found.claim_ttl_ms and S.deadline_after(context.now, found.claim_ttl_ms)
  S.emit("coupon.claimed", {
    coupon = command.coupon, serial = serial, subject = command.subject, windows = windows,
    deadline = deadline,
  })
  return { serial, deadline or false }
end

S.decide["COUPON.PAUSE"] = function(command)
  if existing(command.coupon).paused == 0 then S.emit("coupon.paused", { coupon = command.coupon }) end
  return { "paused" }
end

S.decide["COUPON.RESUME"] = function(command)
  if existing(command.coupon).paused == 1 then S.emit("coupon.resumed", { coupon = command.coupon }) end
  return { "open" }
end

-- Claims -------------------------------------------------------------------------------------------------

-- The status as it is at `now`: past its deadline a claim has ended.
local function status_at(claim, now)
  local is_due = claim.deadline and now >= claim.deadline
  return claim.status == "open" and is_due and "expired" or claim.status
end

-- Whether a claim still answers under its serial.
local function is_visible(claim, now)
  local status = status_at(claim, now)
  if status == "open" then return true end
  return S.is_retained(status == "expired" and claim.deadline or claim.ended_at, now)
end

-- The claim, unless there is none or it ended long ago.
local function visible(coupon, serial, now)
  local claim = S.get("coupon_claims", claim_key(coupon, serial))
  if claim and is_visible(claim, now) then return claim end
  S.refuse("CLAIM_NOT_FOUND", serial)
end

local function check_open(claim, serial, now)
  local status = status_at(claim, now)
  if status == "redeemed" then S.refuse("CLAIM_REDEEMED", serial) end
  if status == "revoked" then S.refuse("CLAIM_REVOKED", serial) end
  if status == "expired" then S.refuse("CLAIM_EXPIRED", serial, claim.deadline) end
end

-- Uses a claim up.
S.decide["COUPON.REDEEM"] = function(command, context)
  local coupon, serial, now = command.coupon, command.serial, context.now
  local claim = visible(coupon, serial, now)
  if value_of(claim.subject, "user") ~= command.user then S.refuse("NOT_OWNER") end
  check_open(claim, serial, now)
  S.emit("coupon.redeemed", { coupon = coupon, serial = serial, user = command.user })
  return { serial }
end

-- The names of the limits whose window a claim was counted in and still runs.
local function running_limits(coupon, claim, now)
  local names, limits = {}, S.get("coupons", coupon).limits
  for at, window in ipairs(claim.windows) do
    local limit = limits[at]
    if S.window_at(limit[4], limit[5], now) == window then names[#names + 1] = limit[1] end
  end
  return names
end

-- Voids an unused claim, and gives it back where asked.
S.decide["COUPON.REVOKE"] = function(command, context)
  local coupon, serial, now = command.coupon, command.serial, context.now
  local claim = visible(coupon, serial, now)
  check_open(claim, serial, now)
  local given_back = command.give_back == 1 and running_limits(coupon, claim, now) or {}
  S.emit("coupon.revoked", { coupon = coupon, serial = serial, given_back = given_back })
  return { #given_back }
end

-- Events -------------------------------------------------------------------------------------------------

S.evolve["coupon.created"] = function(event)
  S.put("coupons", event.coupon, {
    starts_at = event.starts_at, ends_at = event.ends_at, claim_ttl_ms = event.claim_ttl_ms, paused = 0,
    serial = 0, limits = event.limits,
  })
end

S.evolve["coupon.updated"] = function(event) S.change("coupons", event.coupon).limits = event.limits end
S.evolve["coupon.paused"] = function(event) S.change("coupons", event.coupon).paused = 1 end
S.evolve["coupon.resumed"] = function(event) S.change("coupons", event.coupon).paused = 0 end

-- A claim with a deadline is noted as ended from there on, so that no event is needed when it expires.
S.evolve["coupon.claimed"] = function(event, at)
  local coupon, serial = event.coupon, event.serial
  local found = S.change("coupons", coupon)
  for place, window in ipairs(event.windows) do
    local limit = found.limits[place]
    local _, ends_at = S.window_at(limit[4], limit[5], at)
    S.count(counter_key(coupon, place - 1, limit, window, event.subject), 1, ends_at)
  end
  found.serial = serial
  if event.deadline then S.add_ended(event.deadline, "claim", coupon, S.number(serial)) end
  S.add("coupon_claims", claim_key(coupon, serial), {
    at = at, deadline = event.deadline, status = "open", ended_at = 0, windows = event.windows,
    subject = event.subject,
  })
end

-- Marks a claim as used or voided; that, and not its deadline, is its end from now on.
local function end_claim(event, status, at)
  local record = S.number(event.serial)
  local claim = S.change("coupon_claims", claim_key(event.coupon, event.serial))
  if claim.deadline then S.remove_ended(claim.deadline, "claim", event.coupon, record) end
  S.add_ended(at, "claim", event.coupon, record)
  claim.status, claim.ended_at = status, at
end

local function give_back(event)
  local coupon, names = event.coupon, {}
  for _, name in ipairs(event.given_back) do names[name] = true end
  local claim, limits = S.get("coupon_claims", claim_key(coupon, event.serial)), S.get("coupons", coupon).limits
  for place, window in ipairs(claim.windows) do
    local limit = limits[place]
    if names[limit[1]] then S.uncount(counter_key(coupon, place - 1, limit, window, claim.subject), 1) end
  end
end

S.evolve["coupon.redeemed"] = function(event, at) end_claim(event, "redeemed", at) end

S.evolve["coupon.revoked"] = function(event, at)
  give_back(event)
  end_claim(event, "revoked", at)
end

S.forget_record.claim = function(coupon, serial)
  S.remove("coupon_claims", coupon .. " " .. serial)
end

-- Queries ------------------------------------------------------------------------------------------------

S.query["COUPON.CHECK"] = function(command, now)
  admit(command.coupon, command.subject, now)
  return {}
end

S.query["COUPON.CLAIMED"] = function(command, now)
  local claim = visible(command.coupon, command.serial, now)
  return {
    command.serial, value_of(claim.subject, "user"), status_at(claim, now), claim.at, claim.deadline or false,
  }
end

S.query["COUPON.GET"] = function(command, now)
  local found = existing(command.coupon)
  -- Why a claim would be refused whoever claims, in the order in which that is checked.
  local status = found.paused == 1 and "paused" or S.times_status(found.starts_at, found.ends_at, now)
  return {
    command.coupon, status, found.serial, found.starts_at or false, found.ends_at or false,
    found.claim_ttl_ms or false, found.limits,
  }
end
