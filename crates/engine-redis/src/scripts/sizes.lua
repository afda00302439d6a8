-- How many rows, members and elements each key must have. `meta` says it, so that what was evicted or deleted behind
-- the library's back is noticed before anything is decided by what is left.
--
-- A key is checked when a call first reads or writes it, which takes one command that counts in no time. The counts go
-- by what Redis answers to the call's own writes.

local redis_call = redis.call
local number = encoding.number

local COUNTING = { hash = "HLEN", zset = "ZCARD", list = "LLEN" }

-- What an answer to a write says of the key's size: rows that are new, or that are gone.
local GROWTH = { HSET = 1, ZADD = 1, HDEL = -1, ZREM = -1 }

-- The sizes by name of the key, without those that are nothing; nil where the partition was begun without them. And
-- whether the log must exist.
local kept, is_changed, had_log

-- The text that says the same as `kept`: mostly the next call finds what this one has left.
local kept_text

-- Takes the sizes that `meta` has as text; nothing is checked without them.
function sizes.load(text, sequence)
  is_changed, had_log = false, sequence > 0
  if text and text == kept_text then return end
  kept, kept_text = nil, text
  if not text then return end
  kept = {}
  for name, count in string.gmatch(text, "(%S+) (%d+)") do kept[name] = tonumber(count) end
end

-- Whether a key has no row, so that it need not be asked for any.
function sizes.is_empty(name)
  return kept and not kept[name]
end

local function incomplete(key, found, wanted)
  error("INCOMPLETE the key " .. key .. " has " .. number(found) .. " rows, and must have " .. number(wanted), 0)
end

local function counted(name)
  local command = name ~= "meta" and COUNTING[records.type_of(name)]
  return command and redis_call(command, records.key(name))
end

-- Checks a key; gives how many rows it has, where they were counted.
function sizes.check(name)
  local found = kept and counted(name)
  if not found then return end
  local wanted = kept[name] or 0
  if found ~= wanted then incomplete(records.key(name), found, wanted) end
  return found
end

-- Checks that the log is there, of which rows may be trimmed.
function sizes.check_log()
  if not kept or not had_log then return end
  local key = records.key("log")
  local found = redis_call("TYPE", key).ok
  if found == "none" then error("INCOMPLETE the key " .. key .. " is gone", 0) end
  sizes.check_type("log", found)
end

-- Checks that a key is of its type, or is not there.
function sizes.check_type(name, found)
  local wanted = records.type_of(name)
  if found == "none" or found == wanted then return end
  error("INCOMPLETE the key " .. records.key(name) .. " is a " .. found .. " and must be a " .. wanted, 0)
end

-- Checks the types of all keys.
function sizes.check_types()
  for name in pairs(KEY_PLACES) do sizes.check_type(name, redis_call("TYPE", records.key(name)).ok) end
end

-- Checks all keys.
function sizes.check_all()
  for name in pairs(KEY_PLACES) do sizes.check(name) end
  sizes.check_log()
end

-- Begins to keep the sizes, from those that there are.
function sizes.begin()
  kept, kept_text, is_changed = {}, nil, true
  for name in pairs(KEY_PLACES) do
    local count = counted(name)
    if count and count > 0 then kept[name] = count end
  end
end

-- Notes what a write has changed, by its words and its answer.
function sizes.note(name, write, answer)
  if not kept or name == "meta" then return end
  local word, grown = write[1], 0
  if word == "RPUSH" then
    grown = #write - 2
  elseif word == "LPOP" then
    grown = -#answer
  elseif GROWTH[word] then
    grown = GROWTH[word] * answer
  end
  if grown == 0 then return end
  local size = (kept[name] or 0) + grown
  kept[name], kept_text, is_changed = size > 0 and size or nil, nil, true
end

-- The sizes as text, where they have changed.
function sizes.text()
  if not is_changed then return nil end
  local words = {}
  for name, count in pairs(kept) do words[#words + 1] = name .. " " .. number(count) end
  kept_text = table.concat(words, " ")
  return kept_text
end
