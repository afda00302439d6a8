-- What the files offer to each other, a table for each, and where resources register what they do.

local encoding = module("encoding.lua")
local records = module("records.lua")
local sets = module("sets.lua")
local sizes = module("sizes.lua")
local flush = module("flush.lua")
local operations = module("operations.lua")
local deadlines = module("deadlines.lua")
local outcomes = module("outcomes.lua")
local log = module("log.lua")
local machine = module("machine.lua")
local dry_run = module("dry_run.lua")
local requests = module("requests.lua")
local corrections = module("corrections.lua")
local looks = module("looks.lua")
local wholeness = module("wholeness.lua")
local plain = module("plain.lua")
local main = module("main.lua")
local windows = module("windows.lua")
local counters = module("counters.lua")
local retention = module("retention.lua")
local lists = module("lists.lua")
local book = module("book.lua")
local sweep = module("sweep.lua")

-- By name of the command: what it decides, and what it answers.
local decide = registry("decision", WRITES)
local query = registry("query", READS)

-- By name of the event: what it changes.
local evolve = registry("event", events)

-- By name of the command, where it is common: `decide` decides and applies it, and gives its event as the log has it, which
-- is so many `values`.
local carry_out = {}

-- What a run of common commands is begun and finished with: `begin` and `finish`.
local runs = {}

-- By kind of progress: `go_on` takes the next step, `join` joins what the steps so far have answered, `foretell`
-- gives what the last one would, where a dry run need not take them. What is not needed is false.
local steps_of = registry("kind of progress", PROGRESS_KINDS, { "go_on", "join", "foretell" })

-- By kind of record: `expire` emits what a deadline makes, `forget` drops an ended record, `is_pending` says whether
-- a resource has records that may be due. What is not needed is false.
local ends_of = registry("kind of record", RECORD_KINDS, { "expire", "forget", "is_pending" })

-- What drops, once a call, what time has made useless.
local forgetters = {}

-- What the call under way is told, and what it has come to. What is not known yet is false.
local call = strict("value of a call", {
  clock = false, now = false, is_reading = false, meta = false, events_logged = 0,
  -- How many ranges of returned units were taken out without an event.
  ranges_dropped = 0,
  -- Whether a campaign was created whose packets are not all laid ready.
  has_unprepared = false,
  -- Whether an older state of the partition was found, so that a new epoch must begin.
  is_behind = false,
  -- Where the call begins an epoch: the one before, and the first sequence of the new one.
  epoch_begun = false,
  -- What changes of sets, by set; and what is to be taken back, while that is noted.
  set_changes = {}, notes = false,
})
