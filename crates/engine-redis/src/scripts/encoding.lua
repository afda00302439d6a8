-- Numbers as text and values as JSON.
--
-- Numbers are doubles, exact up to 2^53 - 1; they become text by %d only, which takes integers of 64 bits.

local format, byte, gsub, concat = string.format, string.byte, string.gsub, table.concat

-- How many texts of numbers are kept: a call needs most of its numbers more than once.
local NUMBERS_KEPT = 1024

-- The function that gives an integer's text by another one. The number that each place has is kept with its text.
local function memoized(text_of)
  local numbers, texts = {}, {}
  return function(number)
    local place = number % NUMBERS_KEPT + 1
    if numbers[place] == number then return texts[place] end
    local text = text_of(number)
    numbers[place], texts[place] = number, text
    return text
  end
end

-- The last three digits of numbers, and those of numbers that have no more.
local last_digits, first_digits = {}, {}
for low = 0, 999 do last_digits[low], first_digits[low] = format("%03d", low), format("%d", low) end

encoding.last_digits, encoding.first_digits = last_digits, first_digits

-- The last three digits with a character behind them.
function encoding.last_digits_with(character)
  return setmetatable({}, {
    __index = function(known, low)
      known[low] = last_digits[low] .. character
      return rawget(known, low)
    end,
  })
end

-- The digits of numbers of thousands, without the last three.
local thousands_text = memoized(function(thousands) return format("%d", thousands) end)

encoding.thousands = thousands_text

-- An integer in digits. To join two texts costs half of a format.
encoding.number = memoized(function(number)
  if number < 1000 then return first_digits[number] or format("%d", number) end
  local low = number % 1000
  return thousands_text((number - low) / 1000) .. last_digits[low]
end)

-- A number as 16 digits, whose order as bytes is that of the numbers.
encoding.digits = memoized(function(number) return format("%016d", number) end)

local number_text = encoding.number

-- Values as `cmsgpack` packs them, one by one: to join their texts costs a fraction of packing a list.

-- What stands before a packed text, by how many bytes that has.
local fronts = setmetatable({}, {
  __index = function(known, length)
    known[length] = string.sub(cmsgpack.pack(string.rep("x", length)), 1, -length - 1)
    return rawget(known, length)
  end,
})

encoding.packed_fronts = fronts

-- A packed text.
function encoding.packed_text(text)
  return fronts[#text] .. text
end

local packed_large = memoized(cmsgpack.pack)

-- Packed numbers below 1000, as far as they were asked for, and any number.
local packed_small = {}

encoding.packed_small = packed_small

function encoding.packed_number(number)
  local text = packed_small[number]
  if text then return text end
  text = packed_large(number)
  if number >= 0 and number < 1000 then packed_small[number] = text end
  return text
end

-- What is packed in place of nothing.
encoding.packed_nothing = cmsgpack.pack(false)

-- What stands before the values of a packed list of so many.
function encoding.packed_list_front(count)
  if count < 16 then return string.char(144 + count) end
  if count < 65536 then return string.char(220, math.floor(count / 256), count % 256) end
  local high, low = math.floor(count / 65536), count % 65536
  return string.char(221, math.floor(high / 256), high % 256, math.floor(low / 256), low % 256)
end

local function escaped(character)
  return format("\\u%04x", byte(character))
end

-- Adds to the pieces of a text a value as JSON: nothing, a number, a text, a list of them, or what is JSON already:
-- the `parts` of a list. Gives how many pieces there are then.
local function encode_into(pieces, count, value)
  local kind = type(value)
  if kind == "number" then
    pieces[count + 1] = number_text(value)
    return count + 1
  elseif kind == "string" then
    pieces[count + 1] = '"' .. gsub(value, '[%c"\\]', escaped) .. '"'
    return count + 1
  elseif not value then
    pieces[count + 1] = "null"
    return count + 1
  end
  local parts = value.parts
  pieces[count + 1] = "["
  count = count + 1
  for at = 1, #(parts or value) do
    if at > 1 then
      count = count + 1
      pieces[count] = ","
    end
    if parts then
      count = count + 1
      pieces[count] = parts[at]
    else
      count = encode_into(pieces, count, value[at])
    end
  end
  pieces[count + 1] = "]"
  return count + 1
end

-- A value as JSON behind a text, joined in one go: Lua reads all bytes of each text that it makes.
function encoding.json_behind(text, value)
  local pieces = { text }
  return concat(pieces, "", 1, encode_into(pieces, 1, value))
end

-- A value as JSON.
function encoding.json(value)
  local pieces = {}
  return concat(pieces, "", 1, encode_into(pieces, 0, value))
end

local function without_null(value)
  if value == cjson.null then return false end
  if type(value) == "table" then
    for at = 1, #value do value[at] = without_null(value[at]) end
  end
  return value
end

-- The value of a text in JSON.
function encoding.from_json(text)
  return without_null(cjson.decode(text))
end
