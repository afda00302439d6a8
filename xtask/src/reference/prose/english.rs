//! The words in English.

use super::Prose;

pub(super) const PROSE: Prose = Prose {
    commands_title: "Commands",
    commands_introduction: COMMANDS,
    access_title: "Access",
    access_introduction: ACCESS,
    glossary_title: "Glossary",
    glossary_introduction: GLOSSARY,
    name: "name",
    scope: "where",
    command: "command",
    resource_kind: "kind",
    codes_title: "Codes",
    codes_introduction: CODES,
    events_title: "Events",
    events_introduction: EVENTS,
    group_suffix: " commands",
    changes_nothing: " Read-only.",
    argument: "argument",
    written: "syntax",
    needed: "required",
    unit: "unit",
    meaning: "meaning",
    yes: "yes",
    no: "no",
    answer: "Answer",
    an_array: ", an array",
    a_map: "a map",
    value: "value",
    outcomes: "Refusals, in the order of the checks",
    common_checks: "after the [common checks](#order-of-checks)",
    events: "Events",
    number: "number",
    code: "code",
    kind: "kind",
    retryable: "retryable",
    facts: "facts",
    fact: "fact",
    cause: "What happened",
    advice: "What to do",
    again: "Retry",
    over_resp: "Over RESP",
    over_http: "Over HTTP",
    answered_by: "Returned by",
    event: "event",
    what_happened: "what happened",
    field: "field",
    public: "public",
    no_fields: "No fields.",
    made_by: "Caused by",
    made_by_time: "the expiry of its deadline",
    made_by_any: "any command that has an operation ID",
    colon: ": ",
    comma: ", ",
};

const COMMANDS: &str = "\
You can send these commands with any Redis client. `STOCK.HELP`, the other help commands and `COMMAND DOCS` show the same usage
lines. For the rules and the reasons for them, see [semantics.md](semantics.md). [中文](zh/commands.md)

**Formats.** An ID is 1 to 64 bytes of `A-Z a-z 0-9 _ . : @ / + = -`. Put the same `{tag}` into the IDs of resources that must be in
the same partition. Amounts, quantities and prices are integers from 1 to 2^53 − 1 in decimal digits, without sign, decimal point,
exponent or leading zeros. Times are milliseconds since the Unix epoch. If an argument has another format, you get the error
`-ERR INVALID`, which names the argument and shows the usage line. Nothing is changed, and the connection stays usable.

**Answers.** A write command answers `[1, values…]` if it was applied and `[0, CODE, facts…]` if it was refused. A refusal is not
an error, so clients raise no exception for it. A read-only command answers a map (RESP3) or alternating names and values (RESP2); its
refusals have the same form as those of write commands.

**Idempotency.** Every write command accepts three options at its end:

- `ID operation-id`: however often you send the command with this ID, it is applied once. A duplicate gets the first answer.
- `DEADLINE ms`: at this time and later, the command is not applied.
- `DURABILITY memory`, `replicated` or `synced`: the durability that the change must reach before you get an answer; see
  [semantics.md](semantics.md#durability).

**Atomic batches.** The commands between `MULTI` and `EXEC` are applied all or not at all. The first line may be
`BATCH.ID id [DEADLINE ms] [DURABILITY level]`, `BATCH.DEADLINE ms` or `BATCH.DURABILITY level`. `EXEC` answers an array with one
reply for each line, never nil. If a line was refused, its reply is `[0, CODE, facts…]`, and the reply of every other line is
`[0, \"BATCH_REFUSED\", index, CODE]`, where the index counts commands from 0.

## Order of checks

The first check that fails determines the answer. Read-only commands go through check 1 and then their own checks. Commands without an
ID skip checks 3, 4 and 6.

1. [`INVALID`](codes.md#invalid): the format of the arguments.
2. [`CROSS_PARTITION`](codes.md#cross_partition): a transfer, a capture to another account or a batch names resources in
   different partitions.
3. The ID is known: the first answer again, [`ID_REUSED`](codes.md#id_reused) if the content differs, or
   [`RESOLVED_ABSENT`](codes.md#resolved_absent).
4. [`ID_EXPIRED`](codes.md#id_expired): the ID carries a time from before the window.
5. [`DEADLINE_PASSED`](codes.md#deadline_passed).
6. [`OVERLOADED`](codes.md#overloaded): no more IDs can be remembered.
7. The command's own refusals, in the order listed with the command.

## Commands by group

";

const GLOSSARY: &str = "\
What the words of Scarce mean: first the ideas, then every name in commands, answers, codes and events. `scarce explain NAME` prints the same. [中文](zh/glossary.md)

| word | meaning |
|---|---|
| resource | what there is not enough of: an account, a stock item, a campaign of red packets, a coupon, a market |
| operation, operation ID | one thing that a caller wants done, and the name that the caller gives it. The same ID gets the first answer again |
| applied, refused, failed | it was done; the rules forbid it, and nothing changed; it is not known, or was not accepted |
| partition | a part of the resources with a log and a thread of its own |
| tag | the part of a name in braces, `{show-42}A-12`: names with the same tag are in the same partition |
| batch | several commands of one partition that are all applied, or none of them |
| event, log, sequence | what has changed; all of that in order; its number, without gaps |
| epoch | a number that a start raises; with the sequence, it names a place in the log for good |
| snapshot | all of the state at one sequence |
| digest | sixteen bytes that are the same for the same state |
| hold, reservation | money, or units, that are set aside until a deadline |
| receipt | what an applied operation answered, and what is kept of a sale |
| serial | the number of a unit, a packet or a claim, counted from 1 |
| world | the account that money comes from and goes to, one for each asset, so that all balances sum to zero |
| consumer, position, lag | a reader of the log; how far it is; how far it is behind |
| projection, mirror | the log as SQL tables; the state in a Redis for readers |
| durability | where a change is when it is answered: `memory`, `replicated` or `synced` |

## Names

A name with something in the second column has this meaning there only: in a command, an event, a code, a shape of JSON, or a group of commands.
";

const ACCESS: &str = "\
What the scopes of a [key](keys.md) must allow for each command and each route of a history. A row with several marks needs one of them. The kind `*` stands for
all kinds, and for `OPERATION.GET` and `OPERATION.RESOLVE` for any. `ACCOUNT.WORLD` needs all resources, and so does `OPERATION.RESOLVE` in a [namespace](keys.md#operation-ids) that keys with
other scopes share. [中文](zh/access.md)

What is not in the command table needs this:

- `operate`: `EVENTS`, `CONSUMER`, `SNAPSHOT`, `SLOWLOG`, `CONFIG`, `GET /v1/events`, `GET /v1/audit`, `GET /v1/settings`, `GET /v1/keys`, `POST /v1/reconciliations`, all of `/v1/webhooks`,
  `/v1/deliveries` and `/v1/settlements`; all of `INFO`.
- `*`: `POST /v1/keys`, `POST /v1/keys/{key}/rotate` and `…/revoke`.
- `read` of all kinds: `GET /v1/consumers`, `GET /v1/reconciliations`, `GET /metrics`.
- of the kind `script`, by the script's name: `take` for `FCALL`, `EVALSHA` and `POST /v1/scripts/{script}/run`; `read` for `FCALL_RO`, `EVALSHA_RO`, `SCRIPT` and
  `GET /v1/scripts`; `administrate` for `POST` and `DELETE /v1/scripts/{script}`.
- any key: `PING`, `ECHO`, `HELLO`, `SELECT`, `RESET`, `QUIT`, `CLIENT`, `COMMAND`, the first part of `INFO`, `POST /v1/packet-previews`. `SUBSCRIBE`, `/ws` and `GET /v1/live` need for each [channel](push.md#channels) what its command needs. `MULTI`, `DRYRUN` and
  `POST /v1/batch` need what the commands in them need.

";

const CODES: &str = "\
Every command ends with one of these codes. Numbers and names never change their meaning. On the RESP port a refusal is an ordinary
array `[0, CODE, facts…]`, never an error. Over HTTP it is a problem document with the status listed here. `scarce explain CODE` shows
the same text on the command line. [中文](zh/codes.md)

- **applied**: the command took effect.
- **refusal**: the rules do not allow it now. This is an ordinary answer. Refusals of account and order commands are remembered under
  the operation ID, others are not.
- **rejected**: the request itself is wrong or came too late. Nothing was changed and nothing is remembered.
- **failure**: the engine could not decide the command. Retry with the same ID.

*retryable* says whether the same command may succeed later, when the state has changed or time has passed.

";

const EVENTS: &str = "\
Every change of state is an event. Within a partition, events are numbered without gaps by `(epoch, sequence)`. `EVENTS`, event streams
and the journal consist of these events. Numbers and names never change, and new fields are added only at the end. A field that is
not public is in the journal and the state, but never in an event stream. [中文](zh/events.md)

`EVENTS partition epoch sequence [COUNT n] [KIND kind] [RESOURCE id] [NAME event] [JSON]` answers the events after that cursor, each as
`[partition, epoch, sequence, at, operation ID or nil, name, [field, value, …]]`, or with `JSON` as a text in the format of
[`GET /v1/events`](http.md#events). Epoch 0 means any epoch. See [EVENTS](resp.md#events).

";
