-- Whether the partition is what it was when it was used last: `meta` has all of its fields, is of the caller's deployment
-- and of this format, and is no older state than the caller has seen. What is found to be lost is noted in `meta`, so that
-- all servers of the deployment refuse, and not only the one that has touched it.

local number = encoding.number

-- What the note of an older state says: the run of the server under which that was found, and the text of the error.
local OLDER = "^older (%x+) (.*)$"

-- The first field that `meta` does not have, and whether `meta` is of the call's deployment.
local missing, is_own = false, false

-- Forgets what a call before this one has found.
function wholeness.clear()
  missing, is_own, call.is_behind = false, false, false
end

-- Notes that `meta` does not have a field.
function wholeness.miss(field)
  missing = missing or field
end

local function incomplete(what)
  error("INCOMPLETE the key " .. records.key("meta") .. " " .. what, 0)
end

-- A partition that was begun says of which deployment it is. What says nothing was deleted, or swapped for other keys.
local function check_meta(deployment)
  local meta = call.meta
  if meta.deployment ~= deployment then
    incomplete(meta.deployment and "is of the deployment " .. meta.deployment or "is gone, or was not written by Scarce")
  end
  if tonumber(meta.format or "0") > constants.FORMAT_VERSION then
    error("FORMAT the partition has format " .. meta.format .. ", and this release reads up to "
      .. number(constants.FORMAT_VERSION), 0)
  end
  local is_older = tonumber(meta.format or "0") < constants.FORMAT_VERSION
  if missing == "format" or meta.format and is_older then incomplete("is of an older release's format; start the servers again to bring it up to date") end
  if missing then incomplete("has lost its field '" .. missing .. "'") end
end

-- The run of the server under which an older state was found, and what was said of it.
local function older_note()
  return string.match(call.meta.lost or "", OLDER)
end

-- Notes what is lost, for all servers. Where it cannot be noted, each finds out by itself.
local function note(text)
  if call.is_reading or not is_own or text == (call.meta.lost or "") or older_note() then return end
  pcall(redis.call, "HSET", records.key("meta"), "lost", text)
end

local function place(epoch, sequence)
  return "event " .. number(sequence) .. " of epoch " .. number(epoch)
end

-- What the caller has seen is still there. Another run of a server may lack what was not replicated or on disk, and begins
-- a new epoch. The same run loses nothing by itself: its data was replaced by older data.
local function check_seen(primary, epoch, sequence, is_same_run)
  local meta = call.meta
  if not epoch or meta.epoch > epoch or (meta.epoch == epoch and meta.sequence >= sequence) then return end
  if is_same_run == 0 then
    call.is_behind = true
    return
  end
  local text = "it ends at " .. place(meta.epoch, meta.sequence) .. ", and ended at " .. place(epoch, sequence)
  note("older " .. primary .. " " .. text)
  error("OLDER " .. text, 0)
end

-- Refuses where something is known to be lost, by whichever server. Another run of a server goes on from older data, and
-- begins a new epoch.
function wholeness.check_note(primary)
  local lost = call.meta.lost
  if not lost then return end
  local run, text = older_note()
  if not run then error("INCOMPLETE " .. lost, 0) end
  if run == primary then error("OLDER " .. text, 0) end
  call.meta.lost, call.is_behind = nil, true
end

-- Checks what a call of a deployment stands on; nothing where it names none, as in tests.
function wholeness.check(deployment, primary, epoch, sequence, is_same_run)
  if not deployment then return end
  check_meta(deployment)
  is_own = true
  check_seen(primary, epoch, sequence, is_same_run)
end

-- Looks at all keys. Whether something that is there again is still noted as lost.
function wholeness.look(primary)
  if older_note() then wholeness.check_note(primary) end
  sizes.check_all()
  if not call.meta.lost then return false end
  note("")
  return call.is_reading
end

-- A partition that has no `meta` has no other key.
local function check_unused()
  for name in pairs(KEY_PLACES) do
    if redis.call("EXISTS", records.key(name)) == 1 then
      error("INCOMPLETE the key " .. records.key(name) .. " is there, and " .. records.key("meta") .. " is gone", 0)
    end
  end
end

-- Begins a partition, which is of a deployment from now on. `adopts` says that one of an older format is brought up to
-- date; `creates`, that there may be none yet.
function wholeness.begin_partition(deployment, adopts, creates)
  local meta, is_there = call.meta, redis.call("EXISTS", records.key("meta")) == 1
  local is_current = meta.format and tonumber(meta.format) >= constants.FORMAT_VERSION
  local is_begun = meta.deployment and (meta.deployment ~= deployment or is_current)
  local may_begin = adopts
  if not is_there then may_begin = creates end
  if is_begun or not may_begin then return check_meta(deployment) end
  if is_there then
    for at = 1, #META_NUMBERS do
      if missing == META_NUMBERS[at] then incomplete("has lost its field '" .. missing .. "'") end
    end
  else
    check_unused()
  end
  if meta.deployment then sizes.check_all() else sizes.begin() end
  lists.begin()
  meta.deployment, meta.format = deployment, number(constants.FORMAT_VERSION)
  call.now = meta.now
  flush.write_all()
end

-- The text of an error, by which a key of another type counts as lost; what is lost is noted.
function wholeness.explained(text)
  if string.find(text, "WRONGTYPE", 1, true) then
    local done, failure = pcall(sizes.check_types)
    if not done then text = flush.reason_of(failure) end
  end
  local lost = string.match(text, "^INCOMPLETE (.*)$")
  if lost then note(lost) end
  return text
end
