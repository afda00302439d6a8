-- Tables that know their names: what is mistyped is an error at once, and not nil later.
--
-- The library is built with `IS_CHECKED` as a Function, which is built once and kept. By EVALSHA it may be built for
-- every call, so there the same text goes without; names that are there cost nothing either way.

local function unknown(what, name)
  error("the library has no " .. what .. " '" .. tostring(name) .. "'", 3)
end

-- Makes a table refuse to be asked for names that it does not have, and to be given further ones.
local function strict(what, members)
  if not IS_CHECKED then return members end
  return setmetatable(members, {
    __index = function(_, name) unknown(what, name) end,
    __newindex = function(_, name) unknown(what, name) end,
  })
end

-- Tables that are filled while the library is built, and what makes them complete.
local is_built, completions = false, {}

-- The table of what one file offers to the others.
local function module(file)
  if not IS_CHECKED then return {} end
  return setmetatable({}, {
    __index = function(_, name) unknown("function in " .. file, name) end,
    __newindex = function(members, name, value)
      if is_built then unknown("function in " .. file, name) end
      rawset(members, name, value)
    end,
  })
end

-- An entry must have each of the parts, and no others.
local function check_parts(what, name, entry, parts)
  local count = 0
  for _ in pairs(entry) do count = count + 1 end
  for _, part in ipairs(parts) do
    if entry[part] == nil then error("the " .. what .. " '" .. name .. "' lacks '" .. part .. "'", 0) end
  end
  if count ~= #parts then error("the " .. what .. " '" .. name .. "' has parts that nobody asks for", 0) end
end

-- A table in which each of the names gets its entry, by any file, and none is left without. An entry is a function,
-- or a table of the parts that are named.
local function registry(what, names, parts)
  if not IS_CHECKED then return {} end
  local members = setmetatable({}, {
    __index = function(_, name) unknown(what, name) end,
    __newindex = function(members, name, value)
      if rawget(names, name) == nil then unknown(what, name) end
      if parts then check_parts(what, name, value, parts) end
      rawset(members, name, value)
    end,
  })
  completions[#completions + 1] = function()
    for name in pairs(names) do
      if rawget(members, name) == nil then error("the library lacks the " .. what .. " '" .. name .. "'", 0) end
    end
  end
  return members
end

-- Ends the building: nothing may be missing, and nothing is added any more.
local function complete()
  for _, check in ipairs(completions) do check() end
  is_built = true
end
