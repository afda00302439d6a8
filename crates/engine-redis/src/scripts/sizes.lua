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

-- The sizes by name of the key, without those that are nothing; nil where the partition was begun without them. The text
-- that says the same, its words, and the place of each name among them; nil where these are not known.
local kept, kept_text, words, places

-- Whether the sizes have changed, and whether the log must exist.
local is_changed, had_log

-- Takes the sizes that `meta` has as text, or those that the last call has left, where that is the same text; nothing is
-- checked without them.
function sizes.load(text, sequence, left)
  is_changed, had_log = false, sequence > 0
  if left and left.text == text then
    kept, kept_text, words, places = left.counts, text, left.words, left.places
    return
  end
  kept, kept_text, words, places = nil, text, nil, nil
  if not text then return end
  kept = {}
  for name, count in string.gmatch(text, "(%S+) (%d+)") do kept[name] = tonumber(count) end
end

-- Leaves the next call what it can go on with.
function sizes.leave(left)
  left.text, left.counts, left.words, left.places = kept_text, kept, words, places
end

-- Whether a key has no row, so that it need not be asked for any.
function sizes.is_empty(name)
  return kept and not kept[name]
end

local function incomplete(key, found, wanted)
  error("INCOMPLETE the key " .. key .. " has " .. number(found) .. " rows, and must have " .. number(wanted), 0)
end

-- The commands that count, by name of the key; false where none does.
local commands_of = {}

local function command_of(name)
  commands_of[name] = name ~= "meta" and COUNTING[records.type_of(name)] or false
  return commands_of[name]
end

local function counted(name, key)
  local command = commands_of[name]
  if command == nil then command = command_of(name) end
  return command and redis_call(command, key)
end

-- Checks a key; gives how many rows it has, where they were counted.
function sizes.check(name, key)
  local found = kept and counted(name, key)
  if not found then return end
  local wanted = kept[name] or 0
  if found ~= wanted then incomplete(key, found, wanted) end
  return found
end

-- Checks that the log is there, of which rows may be trimmed. Gives whether it was looked at.
function sizes.check_log()
  if not kept or not had_log then return false end
  local key = records.key("log")
  -- A log of which all was trimmed is there, and has no entry; a key of another type is an error.
  if redis_call("XLEN", key) == 0 and redis_call("TYPE", key).ok == "none" then
    error("INCOMPLETE the key " .. key .. " is gone", 0)
  end
  return true
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
  for name in pairs(KEY_PLACES) do sizes.check(name, records.key(name)) end
  sizes.check_log()
end

-- Begins to keep the sizes, from those that there are.
function sizes.begin()
  kept, kept_text, is_changed, words, places = {}, nil, true, nil, nil
  for name in pairs(KEY_PLACES) do
    local count = counted(name, records.key(name))
    if count and count > 0 then kept[name] = count end
  end
end

-- Notes what a write has changed, by its words, how many those are, and its answer.
function sizes.note(name, write, length, answer)
  if not kept or answer == 0 or name == "meta" then return end
  local word, grown = write[1], 0
  if GROWTH[word] then
    grown = GROWTH[word] * answer
  elseif word == "RPUSH" then
    grown = length - 2
  elseif word == "LPOP" then
    grown = -#answer
  end
  if grown == 0 then return end
  local before = kept[name]
  local size = (before or 0) + grown
  is_changed, kept_text = true, nil
  if before and size > 0 and places then
    kept[name] = size
    words[places[name]] = name .. " " .. number(size)
  else
    kept[name], places = size > 0 and size or nil, nil
  end
end

-- Writes all words anew, in the order of the names.
local function write_words()
  local names = {}
  words, places = {}, {}
  for name in pairs(kept) do names[#names + 1] = name end
  table.sort(names, sets.precedes)
  for at, name in ipairs(names) do words[at], places[name] = name .. " " .. number(kept[name]), at end
end

-- The sizes as text, where they have changed.
function sizes.text()
  if not is_changed then return nil end
  if not places then write_words() end
  kept_text = table.concat(words, " ")
  return kept_text
end
