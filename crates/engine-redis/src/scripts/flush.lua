-- Writing at the end of a call what it has changed. Everything was decided before the first write; should a
-- write fail all the same, those before it are taken back by their inverses. Inverses that fail too, because a user
-- was deprived of rights, are noted in `meta`, and are carried out before anything else is served.

local redis_call = redis.call

-- How many rows or members one command writes; `unpack` takes less than 8 000 words.
local ROWS_MAX = 2000

-- Checks the type of a key that is planned to be written to. What the call has read is of its type, or it would not have
-- come so far.
function flush.check_type(name)
  if records.is_typed(name) then return end
  if name ~= "log" or not sizes.check_log() then
    sizes.check_type(name, redis_call("TYPE", records.key(name)).ok)
  end
  records.note_type(name)
end

local check_type = flush.check_type

-- What is to be written: for each step the name of the key, the command's words and how many those are, what is done for
-- such a step, and what it needs for that. A table for each would cost more than most steps.
--
-- `back` gives the commands that take the step back, from its words, how many those are and what it needs. `complete` adds
-- to the words what the steps before have come to, and gives how many there are then; there may be nothing to write.
local plan, plan_length = {}, 0
local STEP_VALUES = 5

local function add_step(name, write, length, kind, needed)
  local at = plan_length
  plan[at + 1] = name
  plan[at + 2] = write
  plan[at + 3] = length
  plan[at + 4] = kind
  plan[at + 5] = needed or false
  plan_length = at + STEP_VALUES
end

-- Hands rows on in pieces that one command can write.
local function each_piece(rows, plan_piece)
  if #rows > 0 and #rows <= ROWS_MAX then return plan_piece(rows) end
  for first = 1, #rows, ROWS_MAX do
    local piece = {}
    for at = first, math.min(first + ROWS_MAX - 1, #rows) do piece[#piece + 1] = rows[at] end
    plan_piece(piece)
  end
end

local function command(name, key, words)
  if #words > 0 then return { name, key, unpack(words) } end
end

-- The commands that give the fields of a write, which are so many words apart, the texts that they had before; false takes
-- a field out.
local function put_back(write, length, before, apart)
  local key, set, removed = write[2], {}, {}
  for at = 3, length, apart do
    local id = write[at]
    if before[id] then
      set[#set + 1] = id
      set[#set + 1] = before[id]
    else
      removed[#removed + 1] = id
    end
  end
  local put, take_out = command("HSET", key, set), command("HDEL", key, removed)
  return { put or take_out, put and take_out }
end

local CHANGING = { back = function(write, length, before) return put_back(write, length, before, 2) end }
local REMOVING = { back = function(write, length, before) return put_back(write, length, before, 1) end }

-- Adding what stands in place of nothing.
local NOTHING_BEFORE = {}
local ADDING = { back = function(write, length) return put_back(write, length, NOTHING_BEFORE, 2) end }

-- Reads what nothing asked for and is to be written over.
local function read_before(hash)
  local before, unread, count = hash.texts, nil, 0
  for id in pairs(hash.dirty) do
    if before[id] == nil then
      unread, count = unread or {}, count + 1
      unread[count] = id
    end
  end
  if unread then records.prefetch(hash.kind, unread, count) end
end

local function plan_hash(hash)
  local kind, before = hash.kind, hash.texts
  if hash.write_length > 2 then
    check_type(kind)
    add_step(kind, hash.write, hash.write_length, ADDING)
  end
  if next(hash.dirty) == nil then return end
  read_before(hash)
  local rows, pack, removed, write, length = hash.rows, hash.pack, nil, nil, 2
  for id, text in pairs(hash.dirty) do
    if text == true then text = rows[id] and pack(rows[id]) end
    if text ~= before[id] then
      if text then
        if length > 2 * ROWS_MAX then
          add_step(kind, write, length, CHANGING, before)
          write, length = nil, 2
        end
        write = write or { "HSET", hash.key }
        write[length + 1] = id
        write[length + 2] = text
        length = length + 2
      elseif before[id] then
        removed = removed or {}
        removed[#removed + 1] = id
      end
    end
  end
  if write then add_step(kind, write, length, CHANGING, before) end
  if not removed then return end
  each_piece(removed, function(piece)
    add_step(kind, command("HDEL", hash.key, piece), #piece + 2, REMOVING, before)
  end)
end

local function with_scores(members)
  local words = {}
  for at = 1, #members do
    words[2 * at - 1] = "0"
    words[2 * at] = members[at]
  end
  return words
end

local MEMBERS_ADDED = { back = function(write, _, members) return { command("ZREM", write[2], members) } end }
local MEMBERS_REMOVED = {
  back = function(write, _, members) return { command("ZADD", write[2], with_scores(members)) } end,
}

local function plan_set(name, changes)
  check_type(name)
  local key, added, removed = records.key(name), {}, {}
  for member in pairs(changes.added) do added[#added + 1] = member end
  for member in pairs(changes.removed) do removed[#removed + 1] = member end
  each_piece(added, function(piece)
    add_step(name, command("ZADD", key, with_scores(piece)), 2 * #piece + 2, MEMBERS_ADDED, piece)
  end)
  each_piece(removed, function(piece)
    add_step(name, command("ZREM", key, piece), #piece + 2, MEMBERS_REMOVED, piece)
  end)
end

local function plan_all()
  plan_length = 0
  records.each_hash(plan_hash)
  for name, changes in pairs(call.set_changes) do plan_set(name, changes) end
  operations.plan(add_step, each_piece)
  main.plan_histories(add_step)
  main.plan_meta(add_step, plan_length > 0)
  -- An id of a stream is never given again, not even after XDEL: nothing that could fail comes after it.
  log.plan(add_step)
end

-- The text of a failure, which `redis.call` raises as a table.
function flush.reason_of(failure)
  return type(failure) == "table" and failure.err or tostring(failure)
end

-- Carries out inverses, also those behind one that fails. Gives those that failed, and why the first did.
local function attempt_all(inverses)
  local left, reason = {}, nil
  for _, words in ipairs(inverses) do
    local done, failure = pcall(redis_call, unpack(words))
    if not done then
      left[#left + 1] = words
      reason = reason or flush.reason_of(failure)
    end
  end
  return left, reason
end

-- Ends the call: what it has written in part is still there, and the partition serves nothing.
local function stop_damaged(cause, left, reason)
  local text = cause .. "; " .. encoding.number(#left) .. " commands that take it back are left: " .. reason
  error("DAMAGED " .. text, 0)
end

-- Notes in `meta` the commands that still have to be carried out, and that nothing is served until then. A user may
-- have the right to one of the commands that can do it.
local function note_damage(cause, left)
  local text = cmsgpack.pack({ cause, left })
  for _, word in ipairs({ "HSET", "HMSET" }) do
    if pcall(redis_call, word, records.key("meta"), "damaged", text) then return true end
  end
end

-- Takes the steps before a place back, the last one first.
local function take_back(behind, failure)
  local inverses, cause = {}, flush.reason_of(failure)
  for at = behind - STEP_VALUES, 1, -STEP_VALUES do
    local back = plan[at + 3].back(plan[at + 1], plan[at + 2], plan[at + 4])
    for _, inverse in ipairs(back) do inverses[#inverses + 1] = inverse end
  end
  local left, reason = attempt_all(inverses)
  if #left == 0 then return end
  if note_damage(cause, left) then stop_damaged(cause, left, reason) end
  error("UNMENDED " .. cause .. "; it could not be taken back: " .. reason, 0)
end

-- Takes the rest of an earlier call back, which that could not: no call serves anything before.
function flush.mend(text)
  local cause, left = unpack(cmsgpack.unpack(text))
  if call.is_reading then stop_damaged(cause, left, "a call that only reads takes nothing back") end
  -- What is taken back must not be so twice: without the right to say what is left, nothing is begun.
  if not note_damage(cause, left) then stop_damaged(cause, left, "'meta' cannot be written") end
  local failed, reason = attempt_all(left)
  if #failed > 0 then
    note_damage(cause, failed)
    stop_damaged(cause, failed, reason)
  end
  redis_call("HSET", records.key("meta"), "damaged", "")
end

-- A script that lacks a right is not told which: what it was about to do.
local function explained(failure, name, write)
  local reason = flush.reason_of(failure)
  if not string.find(reason, "user executing the script", 1, true) then return failure end
  return "NOPERM no right to run '" .. string.lower(write[1]) .. "' on " .. records.key(name) .. ": " .. reason
end

-- The place of the step that is carried out.
local reached

local function write_steps()
  local steps, note = plan, sizes.note
  for at = 1, plan_length, STEP_VALUES do
    reached = at
    local write, length, complete = steps[at + 1], steps[at + 2], steps[at + 3].complete
    if complete then
      length = complete(write, length)
      steps[at + 2] = length
    end
    if length > 2 then note(steps[at], write, length, redis_call(unpack(write, 1, length))) end
  end
end

-- Writes what the call has changed.
function flush.write_all()
  deadlines.forget()
  plan_all()
  local done, failure = pcall(write_steps)
  if done then return end
  failure = explained(failure, plan[reached], plan[reached + 1])
  take_back(reached, failure)
  error(failure, 0)
end
