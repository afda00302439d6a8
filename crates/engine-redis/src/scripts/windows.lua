-- The windows in which limits count, and when each ends. As `core/src/windows.rs`, which says how they are
-- numbered.

local INTEGER_MAX = constants.INTEGER_MAX

local MINUTE_MS, HOUR_MS, DAY_MS = constants.MINUTE_MS, constants.HOUR_MS, constants.DAY_MS
local DAYS_SINCE_MONDAY, ERA_DAYS = constants.DAYS_SINCE_MONDAY, constants.ERA_DAYS
local ERA_MONTHS, DAYS_TO_1970 = constants.ERA_MONTHS, constants.DAYS_TO_1970
local MONTHS_TO_1970 = constants.MONTHS_TO_1970

local floor = math.floor

-- The month, counted from January 1970, of a day counted from 1970-01-01.
local function month_of_day(day)
  day = day + DAYS_TO_1970
  local era = floor(day / ERA_DAYS)
  day = day % ERA_DAYS
  local year = floor((day - floor(day / 1460) + floor(day / 36524) - floor(day / 146096)) / 365)
  day = day - (365 * year + floor(year / 4) - floor(year / 100))
  return era * ERA_MONTHS + year * 12 + floor((5 * day + 2) / 153) - MONTHS_TO_1970
end

-- The first day, counted from 1970-01-01, of a month counted from January 1970.
local function first_day_of_month(month)
  month = month + MONTHS_TO_1970
  local era = floor(month / ERA_MONTHS)
  local year = floor(month % ERA_MONTHS / 12)
  month = month % 12
  local days = 365 * year + floor(year / 4) - floor(year / 100) + floor((153 * month + 2) / 5)
  return era * ERA_DAYS + days - DAYS_TO_1970
end

-- The units of the calendar: how to find the index of a local time, by how many whole units of `unit_ms` lie
-- before it, and the local time at which a window begins.
local CALENDAR = {
  HOUR = {
    unit_ms = HOUR_MS,
    index = function(hours) return hours end,
    start = function(index) return index * HOUR_MS end,
  },
  DAY = {
    unit_ms = DAY_MS,
    index = function(days) return days end,
    start = function(index) return index * DAY_MS end,
  },
  WEEK = {
    unit_ms = DAY_MS,
    index = function(days) return floor((days + DAYS_SINCE_MONDAY) / 7) end,
    start = function(index) return (index * 7 - DAYS_SINCE_MONDAY) * DAY_MS end,
  },
  MONTH = {
    unit_ms = DAY_MS,
    index = month_of_day,
    start = function(index) return first_day_of_month(index) * DAY_MS end,
  },
}

-- The index of the window that holds `at`, and when the next one begins: nil where there is no window, and
-- kept within the range of integers. `window` is NONE, a unit of the calendar, or milliseconds.
function windows.window_at(window, offset_minutes, at)
  if window == "NONE" then return 0, nil end
  local unit = CALENDAR[window]
  if not unit then
    local index = floor(at / window)
    return index, math.min((index + 1) * window, INTEGER_MAX)
  end
  local offset_ms, unit_ms = offset_minutes * MINUTE_MS, unit.unit_ms
  -- Stamp and offset might sum to more than a number holds; the rests of both do not.
  local units = floor(at / unit_ms) + floor((at % unit_ms + offset_ms) / unit_ms)
  local index = unit.index(units)
  local ends_at = unit.start(index + 1) - offset_ms
  return index, math.max(0, math.min(ends_at, INTEGER_MAX))
end
