-- Looking through a book in pieces: a fill-or-kill order counts what it would get before it trades, which may be more
-- levels and orders than one call should visit. What was counted goes back to the caller and comes with the next call,
-- which goes on from there if nothing was logged in between and no other server has taken over. A look changes nothing, so nothing is left where it ends.

-- How many levels and orders one call visits; in tests so few that most looks take several calls.
local VISITS_MAX = IS_TEST and 2 or 256

-- How often a look is begun anew, because others change the partition, before it is taken in one go.
local TRIES_MAX = 4

-- What a look that has to go on in the next call ends with.
local PAUSE = {}

-- The looks of the request that is served, in their order; how many it has taken; at which epoch and sequence, and how
-- often, they were begun; and how many visits the call has made.
local found, count, epoch, sequence, tries, visits = {}, 0, 0, 0, 0, 0

-- Begins a call, with what the one before it has counted.
function looks.begin(text)
  found, count, tries, visits = {}, 0, 0, 0
  if not text then return end
  local values = encoding.from_json(text)
  epoch, sequence, tries = values[1], values[2], values[3]
  for at = 4, #values do
    local total, fillable, after, ahead, queued, passed = unpack(values[at])
    found[at - 3] = {
      total = total, fillable = fillable, after = after, ahead = ahead, queued = queued, passed = passed,
    }
  end
end

-- Begins a further request.
function looks.next_request()
  found, count, tries = {}, 0, 0
end

-- The next look of a request, as far as it came: units of the levels up to `after`, units ahead of an own order up to
-- `queued`, of as many orders as were `passed`, and the total once that is known.
function looks.take()
  if found[1] and (epoch ~= call.meta.epoch or sequence ~= call.meta.sequence) then
    found, tries = {}, tries + 1
  end
  epoch, sequence, count = call.meta.epoch, call.meta.sequence, count + 1
  local look = found[count] or { total = false, fillable = 0, after = false, ahead = 0, queued = false, passed = 0 }
  found[count] = look
  return look
end

-- Notes a visit, or ends the call where it has made as many as it may.
function looks.visit()
  if visits >= VISITS_MAX and tries < TRIES_MAX then error(PAUSE, 0) end
  visits = visits + 1
end

-- Whether an error says that a look has to go on.
function looks.is_pause(failure)
  return failure == PAUSE
end

-- What was counted, for the next call.
function looks.text()
  local values = { epoch, sequence, tries }
  for at = 1, count do
    local look = found[at]
    values[at + 3] = { look.total, look.fillable, look.after, look.ahead, look.queued, look.passed }
  end
  return encoding.json(values)
end
