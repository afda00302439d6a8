-- Red packets: a total cut into packets before anybody claims one. As `core/src/packets`, but that nothing
-- is cut here: the amounts of a campaign come with the command that creates it, in pieces of a step each.

local refuse, emit = outcomes.refuse, log.emit

-- A packet by its number, or the piece of amounts that begins with a packet.
local function packet_key(campaign, packet)
  return campaign .. " " .. encoding.number(packet)
end

local function keys_of_packets(campaign, first, last)
  local keys = {}
  for packet = first, last do keys[#keys + 1] = packet_key(campaign, packet) end
  return keys
end

local function claim_key(campaign, user)
  return campaign .. " " .. user
end

-- The campaign, or the refusal that it does not exist.
local function existing(campaign)
  return records.get("campaigns", campaign) or refuse(codes.CAMPAIGN_NOT_FOUND, campaign)
end

-- What a packet holds, or nil.
local function amount_of(campaign, packet)
  local found = records.get("packets", packet_key(campaign, packet))
  return found and found.amount
end

-- The packet that a user has of a campaign, and its amount; or nil.
local function claimed(campaign, user)
  local claim = records.get("claims", claim_key(campaign, user))
  if claim then return claim, amount_of(campaign, claim.packet) end
end

-- Creating and filling -----------------------------------------------------------------------------------

local function numbers_of(piece)
  local numbers = {}
  for number in string.gmatch(piece, "%d+") do numbers[#numbers + 1] = tonumber(number) end
  return numbers
end

-- Lays the next packets ready. Whether all are.
local function fill(campaign, count, laid, piece)
  local amounts = numbers_of(piece)
  emit("packets.filled", {
    campaign = campaign, first_packet = laid + 1, count = #amounts, amounts = amounts,
  })
  return laid + #amounts == count
end

-- Keeps what later calls lay ready, in pieces of as many packets as the first one, but for the last. Unlike all else a
-- decision puts it in, for it stands in no event: like core's memo of the cut it is no part of the state, but nobody could
-- make it again here.
local function remember_cut(campaign, piece_count, pieces)
  for at = 2, #pieces do
    records.add("listed", packet_key(campaign, (at - 1) * piece_count + 1), { amounts = pieces[at] })
  end
end

local function answer_of(campaign)
  return { campaign.count, campaign.total, campaign.commitment or false }
end

decide["PACKET.CREATE"] = function(command, context)
  local campaign = command.campaign
  if records.get("campaigns", campaign) then refuse(codes.CAMPAIGN_EXISTS, campaign) end
  if not context.prepared then refuse(codes.INVALID, "cut", "was not made") end
  local seed, commitment, count, total, pieces = unpack(context.prepared)
  local created = {
    campaign = campaign, asset = command.asset, count = count, total = total,
    starts_at = command.starts_at, ends_at = command.ends_at, commitment = commitment or nil,
    cut = command.cut, min = command.min or 1, max = command.max, seed = seed or nil,
  }
  emit("packets.created", created)
  if fill(campaign, count, 0, pieces[1]) then return answer_of(created) end
  remember_cut(campaign, #log.last_event().amounts, pieces)
  return outcomes.more({ "packets", campaign })
end

-- Lays further packets of a campaign ready.
local function go_on(progress)
  local campaign = progress[2]
  local found = records.get("campaigns", campaign)
  if not found then return {} end
  if found.laid_count == found.count then return answer_of(found) end
  local key = packet_key(campaign, found.laid_count + 1)
  local listed = records.get("listed", key)
  if not listed then records.damaged("listed", key .. " is missing, and with it the amounts of packets") end
  if not fill(campaign, found.count, found.laid_count, listed.amounts) then return outcomes.more(progress) end
  return answer_of(found)
end

-- What the creation is answered before all packets are laid ready, and in a dry run, which lays none ready.
local function foretell(progress)
  return answer_of(records.get("campaigns", progress[2]))
end

steps_of.packets = { go_on = go_on, join = false, foretell = foretell }

-- Claims and the end -------------------------------------------------------------------------------------

-- Whether packets can be had now. A campaign that was closed ended then, and one whose claims have left is over: who has
-- a packet is not known any more.
local function check_open(campaign, now)
  local ends_at = campaign.closed_at or campaign.ends_at
  deadlines.check_times(campaign.starts_at, ends_at, now)
  if campaign.forgotten_through then refuse(codes.ENDED, ends_at, now) end
  if campaign.laid_count < campaign.count then refuse(codes.NOT_STARTED, campaign.starts_at or false, now) end
end

-- What the next packet holds. Claims never come to more than was cut, and all of them come to just that: another sum says that
-- the campaign is not what was written.
local function next_amount(campaign, found, packet)
  local amount = amount_of(campaign, packet)
  local sum = amount and found.claimed_amount + amount
  if not sum or sum > found.total or packet == found.count and sum ~= found.total then
    local number = encoding.number
    records.damaged("campaigns", campaign .. " has " .. number(found.total) .. " in " .. number(found.count)
      .. " packets, and up to packet " .. number(packet) .. " they hold " .. (sum and number(sum) or "nothing known"))
  end
  return amount
end

decide["PACKET.CLAIM"] = function(command, context)
  local campaign, user = command.campaign, command.user
  local found = existing(campaign)
  check_open(found, context.now)
  local claim, has = claimed(campaign, user)
  if claim then refuse(codes.ALREADY_CLAIMED, claim.packet, has) end
  local packet = found.claimed_count + 1
  if packet > found.count then refuse(codes.EXHAUSTED, found.count) end
  local amount = next_amount(campaign, found, packet)
  local left_count = found.count - packet
  emit("packets.claimed", {
    campaign = campaign, user = user, packet = packet, amount = amount, left_count = left_count,
  })
  if left_count == 0 then emit("packets.exhausted", { campaign = campaign }) end
  return { packet, amount }
end

decide["PACKET.CLOSE"] = function(command)
  local found = existing(command.campaign)
  local left_count, left_amount = found.count - found.claimed_count, found.total - found.claimed_amount
  if not found.closed_at then
    emit("packets.closed", {
      campaign = command.campaign, claimed_count = found.claimed_count, claimed_amount = found.claimed_amount,
      left_count = left_count, left_amount = left_amount, seed = found.seed, method = found.method,
      min = found.min, max = found.max,
    })
  end
  return { found.claimed_count, left_count, left_amount, found.seed or false }
end

-- What leaves --------------------------------------------------------------------------------------------

-- The name under which a campaign's packets are due.
local PACKETS = "packets"

-- When the packets of a campaign leave: their retention begins when it is closed or has ended, whichever is first. None
-- leave before all are laid ready.
local function leaves_at(campaign)
  if campaign.laid_count < campaign.count then return nil end
  local closed_at, ends_at = campaign.closed_at, campaign.ends_at
  local over_at = closed_at and ends_at and math.min(closed_at, ends_at) or closed_at or ends_at
  return over_at and (campaign.forgotten_through or 0) < campaign.count and retention.due(over_at) or nil
end

-- Notes when the packets of a campaign are due. When they were before is looked up: another retention may have counted.
local function requeue(id, campaign)
  local before, after = deadlines.first_of("share", id), leaves_at(campaign)
  if before == after then return end
  if before then deadlines.remove(before, "share", id, PACKETS) end
  if after then deadlines.add(after, "share", id, PACKETS) end
end

-- Lets the next packets of a campaign go, those that were claimed first. Where the retention was raised since they were
-- noted as due, they stay.
local function forget_packets(campaign)
  local found = records.get("campaigns", campaign)
  local due = leaves_at(found)
  if not due or due > call.now then return requeue(campaign, found) end
  local before, amount = found.forgotten_through or 0, found.forgotten_amount or 0
  local through = math.min(before + constants.CLAIMS_PER_EVENT_MAX, found.claimed_count)
  records.prefetch("packets", keys_of_packets(campaign, before + 1, through))
  for packet = before + 1, through do amount = amount + amount_of(campaign, packet) end
  if through == found.claimed_count then
    through = math.min(math.max(before, through) + constants.UNCLAIMED_PER_EVENT_MAX, found.count)
  end
  emit("packets.forgotten", { campaign = campaign, through_packet = through, amount = amount })
end

ends_of.share = {
  expire = forget_packets, forget = false,
  is_pending = function(campaign)
    local found = records.get("campaigns", campaign)
    local due = found and leaves_at(found)
    return due and due <= call.now or false
  end,
}

-- Refuses what asks for claims that have left, or that will because their retention is over.
local function check_kept(id, campaign, now)
  local due = leaves_at(campaign)
  if campaign.forgotten_through or due and due <= now then refuse(codes.CLAIMS_EXPIRED, id) end
end

-- Events -------------------------------------------------------------------------------------------------

evolve["packets.created"] = function(event)
  local campaign = {
    asset = event.asset, count = event.count, total = event.total,
    method = event.cut[1] == "PLAN" and event.cut[4] or nil, min = event.min, max = event.max,
    starts_at = event.starts_at, ends_at = event.ends_at, seed = event.seed, commitment = event.commitment,
    laid_count = 0, claimed_count = 0, claimed_amount = 0,
  }
  records.put("campaigns", event.campaign, campaign)
  lists.add("campaign", event.campaign)
end

evolve["packets.filled"] = function(event)
  local campaign, first = event.campaign, event.first_packet
  for at, amount in ipairs(event.amounts) do
    records.add("packets", packet_key(campaign, first + at - 1), { amount = amount })
  end
  local found = records.change("campaigns", campaign)
  found.laid_count = found.laid_count + event.count
  -- The first piece never waited.
  if first > 1 then records.remove("listed", packet_key(campaign, first)) end
  if found.laid_count == found.count then requeue(campaign, found) end
end

evolve["packets.claimed"] = function(event, at)
  local found = records.change("campaigns", event.campaign)
  found.claimed_count, found.claimed_amount = event.packet, found.claimed_amount + event.amount
  records.put("claims", claim_key(event.campaign, event.user), { packet = event.packet, at = at })
  records.add("claimants", packet_key(event.campaign, event.packet), { user = event.user })
end

-- It only reports what another event changed.
evolve["packets.exhausted"] = log.change_nothing

evolve["packets.closed"] = function(event, at)
  local found = records.change("campaigns", event.campaign)
  found.closed_at = at
  requeue(event.campaign, found)
end

evolve["packets.forgotten"] = function(event)
  local campaign, last = event.campaign, event.through_packet
  local found = records.change("campaigns", campaign)
  local first = (found.forgotten_through or 0) + 1
  local claimed = math.min(last, found.claimed_count)
  local keys = keys_of_packets(campaign, first, claimed)
  records.prefetch("claimants", keys)
  for _, key in ipairs(keys) do
    records.remove("claims", claim_key(campaign, records.get("claimants", key).user))
    records.remove("claimants", key)
  end
  for packet = first, last do records.remove("packets", packet_key(campaign, packet)) end
  found.forgotten_through, found.forgotten_amount = last, event.amount
  requeue(campaign, found)
end

-- Queries ------------------------------------------------------------------------------------------------

local function status_of(campaign, now)
  if campaign.closed_at then return "closed" end
  if campaign.laid_count ~= campaign.count or campaign.starts_at and now < campaign.starts_at then
    return "not_started"
  end
  if campaign.ends_at and now >= campaign.ends_at then return "ended" end
  return campaign.claimed_count == campaign.count and "exhausted" or "open"
end

query["PACKET.GET"] = function(command, now)
  local found = existing(command.campaign)
  return {
    command.campaign, found.asset, found.count, found.total, found.claimed_count, found.claimed_amount,
    found.starts_at or false, found.ends_at or false, status_of(found, now), found.commitment or false,
    found.closed_at and found.seed or false,
  }
end

query["PACKET.LIST"] = lists.answer("campaign", function(id, found, now)
  return {
    id, found.asset, found.count, found.total, found.claimed_count, found.claimed_amount, status_of(found, now),
  }
end)

query["PACKET.CLAIMED"] = function(command, now)
  check_kept(command.campaign, existing(command.campaign), now)
  local claim, amount = claimed(command.campaign, command.user)
  if not claim then refuse(codes.CLAIM_NOT_FOUND, command.user) end
  return { command.user, claim.packet, amount, claim.at }
end

-- Reads a page of packets, of who has them and of their claims. Gives the users in the order of the packets.
local function read_page(campaign, first, last)
  local packets, users, claims = keys_of_packets(campaign, first, last), {}, {}
  records.prefetch("packets", packets)
  records.prefetch("claimants", packets)
  for at, packet in ipairs(packets) do
    users[at] = records.get("claimants", packet).user
    claims[at] = claim_key(campaign, users[at])
  end
  records.prefetch("claims", claims)
  return users
end

query["PACKET.CLAIMS"] = function(command, now)
  local found, first = existing(command.campaign), (command.after or 0) + 1
  check_kept(command.campaign, found, now)
  local users = read_page(command.campaign, first, math.min(found.claimed_count, first + command.count - 1))
  local rows = {}
  for at, user in ipairs(users) do
    local claim, amount = claimed(command.campaign, user)
    rows[at] = { user, claim.packet, amount, claim.at }
  end
  return { rows }
end
