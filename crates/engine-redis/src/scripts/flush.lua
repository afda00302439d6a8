-- Writing at the end of a call what it has changed. Everything was decided before the first write; should a
-- write fail all the same, those before it are taken back by their inverses. Inverses that fail too, because a user
-- was deprived of rights, are noted in `meta`, and are carried out before anything else is served.

local redis_call = redis.call

-- How many rows or members one command writes; `unpack` takes less than 8 000 words.
local ROWS_MAX = 2000

-- What the call has read is of its type, or it would not have come so far.
local function check_type(name)
  if records.is_typed(name) then return end
  local found = redis_call("TYPE", records.key(name)).ok
  sizes.check_type(name, found)
  if name == "log" and found == "none" then sizes.check_log() end
  records.note_type(name)
end

-- A command that writes to a key, and what gives those that take it back. `complete` adds to it what the steps before
-- have come to, and says whether there is anything to write.
local function add_step(plan, name, write, inverses, complete)
  plan[#plan + 1] = { name = name, write = write, inverses = inverses, complete = complete }
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

-- The commands that give fields the texts that they had before; false takes a field out.
local function put_back(key, ids, before)
  local set, removed = {}, {}
  for _, id in ipairs(ids) do
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

-- A HSET whose fields are added to it: the command and how many words it has.
local function add_set_step(plan, hash)
  local write = { "HSET", hash.key }
  add_step(plan, hash.kind, write, function()
    local ids = {}
    for at = 3, #write, 2 do ids[#ids + 1] = write[at] end
    return put_back(hash.key, ids, hash.texts)
  end)
  return write, 2
end

-- Plans to add what stands in place of nothing.
local function plan_added(plan, hash)
  local write = hash.write
  add_step(plan, hash.kind, write, function()
    local ids = {}
    for at = 3, hash.write_length, 2 do ids[#ids + 1] = write[at] end
    return { command("HDEL", hash.key, ids) }
  end)
end

-- Reads what nothing asked for and is to be written over.
local function read_before(hash)
  local before, unread = hash.texts, {}
  for id in pairs(hash.dirty) do
    if before[id] == nil then unread[#unread + 1] = id end
  end
  records.prefetch(hash.kind, unread)
end

local function plan_hash(plan, hash)
  if hash.write_length > 2 then plan_added(plan, hash) end
  if not next(hash.dirty) then return end
  read_before(hash)
  local rows, before, pack = hash.rows, hash.texts, hash.pack
  local removed, write, length = {}, nil, 0
  for id, text in pairs(hash.dirty) do
    if text == true then text = rows[id] and pack(rows[id]) end
    if text ~= before[id] then
      if text then
        if not write or length > 2 * ROWS_MAX then write, length = add_set_step(plan, hash) end
        write[length + 1] = id
        write[length + 2] = text
        length = length + 2
      elseif before[id] then
        removed[#removed + 1] = id
      end
    end
  end
  each_piece(removed, function(piece)
    add_step(plan, hash.kind, command("HDEL", hash.key, piece), function()
      return put_back(hash.key, piece, before)
    end)
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

local function plan_set(plan, name, changes)
  local key, added, removed = records.key(name), {}, {}
  for member in pairs(changes.added) do added[#added + 1] = member end
  for member in pairs(changes.removed) do removed[#removed + 1] = member end
  each_piece(added, function(piece)
    local function inverses() return { command("ZREM", key, piece) } end
    add_step(plan, name, command("ZADD", key, with_scores(piece)), inverses)
  end)
  each_piece(removed, function(piece)
    local function inverses() return { command("ZADD", key, with_scores(piece)) } end
    add_step(plan, name, command("ZREM", key, piece), inverses)
  end)
end

local function plan_all()
  local plan = {}
  records.each_hash(function(hash) plan_hash(plan, hash) end)
  for name, changes in pairs(call.set_changes) do plan_set(plan, name, changes) end
  operations.plan(plan, add_step, each_piece)
  main.plan_histories(plan, add_step)
  main.plan_meta(plan, add_step)
  -- An id of a stream is never given again, not even after XDEL: nothing that could fail comes after it.
  log.plan(plan, add_step)
  return plan
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

local function take_back(plan, last, failure)
  local inverses, cause = {}, flush.reason_of(failure)
  for at = last, 1, -1 do
    for _, inverse in ipairs(plan[at].inverses()) do inverses[#inverses + 1] = inverse end
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

local function carry_out(plan)
  for at = 1, #plan do
    local step = plan[at]
    if not step.complete or step.complete() then
      local done, answer = pcall(redis_call, unpack(step.write))
      if not done then
        local failure = explained(answer, step.name, step.write)
        take_back(plan, at - 1, failure)
        error(failure, 0)
      end
      sizes.note(step.name, step.write, answer)
    end
  end
end

-- Writes what the call has changed.
function flush.write_all()
  deadlines.forget()
  local plan = plan_all()
  for at = 1, #plan do check_type(plan[at].name) end
  carry_out(plan)
end
