-- Writing at the end of a call what it has changed. Everything was decided before the first write; should a
-- write fail all the same, those before it are taken back by their inverses.

local TYPES = { meta = "hash", operations_by = "list", log = "stream" }

-- How many rows or members one command writes; `unpack` takes less than 8 000 words.
local ROWS_MAX = 2000

local function type_of(name)
  if TYPES[name] then return TYPES[name] end
  return S.record_fields[name] and "hash" or "zset"
end

local function check_type(name)
  local found = redis.call("TYPE", S.keys[name]).ok
  if found ~= "none" and found ~= type_of(name) then
    error("the key " .. S.keys[name] .. " is a " .. found .. " and must be a " .. type_of(name), 0)
  end
end

-- A command that writes to a key, and one or two that take it back.
local function add_step(plan, name, write, inverse, second_inverse)
  plan[#plan + 1] = { name = name, write = write, inverses = { inverse or second_inverse, inverse and second_inverse } }
end

-- Hands rows on in pieces that one command can write.
local function each_piece(rows, plan_piece)
  for first = 1, #rows, ROWS_MAX do
    local piece = {}
    for at = first, math.min(first + ROWS_MAX - 1, #rows) do piece[#piece + 1] = rows[at] end
    plan_piece(piece)
  end
end

local function command(name, key, words)
  if #words > 0 then return { name, key, unpack(words) } end
end

-- The commands that give fields these texts; false takes a field out.
local function set_and_delete(key, ids, text_of)
  local set, removed = {}, {}
  for _, id in ipairs(ids) do
    local text = text_of(id)
    if text then
      set[#set + 1], set[#set + 2] = id, text
    else
      removed[#removed + 1] = id
    end
  end
  return command("HSET", key, set), command("HDEL", key, removed)
end

local function plan_hash(plan, kind)
  local key, rows, before = S.keys[kind], S.rows[kind], S.texts[kind]
  local set, removed, texts = {}, {}, {}
  for id in pairs(S.dirty[kind]) do
    texts[id] = rows[id] and S.pack(kind, rows[id])
    if texts[id] ~= before[id] then
      local list = texts[id] and set or removed
      list[#list + 1] = id
    end
  end
  for _, ids in ipairs({ set, removed }) do
    each_piece(ids, function(piece)
      local write, delete = set_and_delete(key, piece, function(id) return texts[id] end)
      local back, take_out = set_and_delete(key, piece, function(id) return before[id] end)
      add_step(plan, kind, write or delete, back, take_out)
    end)
  end
end

local function with_scores(members)
  local words = {}
  for _, member in ipairs(members) do words[#words + 1], words[#words + 2] = "0", member end
  return words
end

local function plan_set(plan, name, changes)
  local key, added, removed = S.keys[name], {}, {}
  for member in pairs(changes.added) do added[#added + 1] = member end
  for member in pairs(changes.removed) do removed[#removed + 1] = member end
  each_piece(added, function(piece)
    add_step(plan, name, command("ZADD", key, with_scores(piece)), command("ZREM", key, piece))
  end)
  each_piece(removed, function(piece)
    add_step(plan, name, command("ZREM", key, piece), command("ZADD", key, with_scores(piece)))
  end)
end

local function plan_all()
  local plan = {}
  for kind, dirty in pairs(S.dirty) do
    if next(dirty) then plan_hash(plan, kind) end
  end
  for name, changes in pairs(S.sets) do plan_set(plan, name, changes) end
  S.plan_operations(plan, add_step, each_piece)
  S.plan_meta(plan, add_step)
  -- An id of a stream is never given again, not even after XDEL: nothing that could fail comes after it.
  S.plan_log(plan, add_step)
  return plan
end

local function take_back(plan, last, failure)
  for at = last, 1, -1 do
    for _, inverse in ipairs(plan[at].inverses) do
      local done, second = pcall(redis.call, unpack(inverse))
      if not done then
        error("DAMAGED " .. S.reason(failure) .. "; it could not be taken back: " .. S.reason(second), 0)
      end
    end
  end
end

local function carry_out(plan)
  for at, one in ipairs(plan) do
    local done, failure = pcall(redis.call, unpack(one.write))
    if not done then
      take_back(plan, at - 1, failure)
      error(failure, 0)
    end
  end
end

-- The text of a failure, which `redis.call` raises as a table.
function S.reason(failure)
  return type(failure) == "table" and failure.err or tostring(failure)
end

function S.flush()
  S.forget()
  local plan = plan_all()
  for _, one in ipairs(plan) do check_type(one.name) end
  carry_out(plan)
end
