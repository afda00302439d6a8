//! The words in English.

use super::Prose;

pub(super) const PROSE: Prose = Prose {
    commands_title: "Commands",
    commands_introduction: COMMANDS,
    codes_title: "Codes",
    codes_introduction: CODES,
    events_title: "Events",
    events_introduction: EVENTS,
    group_suffix: " commands",
    changes_nothing: " Changes nothing.",
    argument: "argument",
    written: "written",
    needed: "needed",
    unit: "unit",
    meaning: "what it is",
    yes: "yes",
    no: "no",
    answer: "Answer",
    an_array: ", an array",
    a_map: "a map",
    value: "value",
    outcomes: "Refusals, the first that holds is answered",
    common_checks: "after the [common checks](#order-of-checks)",
    events: "Events",
    number: "number",
    code: "code",
    kind: "kind",
    retryable: "later?",
    facts: "facts",
    fact: "fact",
    cause: "What happened",
    advice: "What to do",
    again: "Try again",
    over_resp: "Over RESP",
    over_http: "Over HTTP",
    answered_by: "Answered by",
    event: "event",
    what_happened: "what happened",
    field: "field",
    public: "public",
    no_fields: "No fields.",
    made_by: "Made by",
    made_by_time: "the passing of its deadline",
    made_by_any: "any command that carries an id",
    colon: ": ",
    comma: ", ",
};

const COMMANDS: &str = "\
Any Redis client sends these. The usage lines are those that `STOCK.HELP` and its like and `COMMAND DOCS` show. What the
rules are and why is in [semantics.md](semantics.md). [中文](zh/commands.md)

**Shapes.** An id is 1 to 64 bytes of `A-Z a-z 0-9 _ . : @ / + = -`, with one `{tag}` where resources are to live
together. Amounts, quantities and prices are integers from 1 to 2^53 − 1 in decimal digits, without sign, point, exponent
or leading zeros. Times are milliseconds since the Unix epoch. What has another shape is answered by an error `-ERR INVALID` that
names the argument and shows the usage line; nothing is changed, and the connection stays usable.

**Answers.** Commands that change something answer `[1, values…]` when they were applied and `[0, CODE, facts…]` when they were
refused. A refusal is no error, so clients raise no exception for it. Commands that only read answer a map (RESP3) or
names and values in turn (RESP2), and a refusal in the same way as all others.

**Every command that changes something** takes `ID operation-id` at its end, under which it is applied once however often it is
sent: a copy gets the first answer again. And `DEADLINE ms`: at or after that stamp it is not applied any more. And
`DURABILITY memory`, `replicated` or `synced`: how safe the change must be before it is answered; see
[semantics.md](semantics.md#durability).

**Atomic batches.** Lines between `MULTI` and `EXEC` are applied all or not at all; the first may be
`BATCH.ID id [DEADLINE ms] [DURABILITY level]`, `BATCH.DEADLINE ms` or `BATCH.DURABILITY level`. `EXEC` answers an array with one reply per line, never nil. Where a line was refused, that line's reply is
`[0, CODE, facts…]` and each of the others `[0, \"BATCH_REFUSED\", index, CODE]`, the index counting commands from 0.

## Order of checks

The first that holds is answered. Commands that only read pass 1 and then their own; those without an id pass
over 3, 4 and 6.

1. [`INVALID`](codes.md#invalid): the shape of the arguments.
2. [`CROSS_PARTITION`](codes.md#cross_partition): a transfer, a capture to another account or a batch that names resources of
   different partitions.
3. What is remembered under the id: the first answer again, [`ID_REUSED`](codes.md#id_reused) where the content differs,
   [`RESOLVED_ABSENT`](codes.md#resolved_absent).
4. [`ID_EXPIRED`](codes.md#id_expired): the id carries a time from before the window.
5. [`DEADLINE_PASSED`](codes.md#deadline_passed).
6. [`OVERLOADED`](codes.md#overloaded): no room to remember one more id.
7. The command's own refusals, in the order listed with it.

## By group

";

const CODES: &str = "\
Every command ends with one of these codes. Numbers and words never change their meaning. On the RESP port a refusal is
an ordinary array `[0, CODE, facts…]`, never an error; over HTTP it is a problem document with the status given here.
`scarce explain CODE` says the same on the command line. [中文](zh/codes.md)

- **applied**: the command was carried out.
- **refusal**: the rules forbid it now; an ordinary answer. Those of account and order commands are remembered under the
  operation id, the others are not.
- **rejected**: the request itself is wrong or came too late; nothing was changed and nothing is remembered.
- **failure**: the engine could not decide; send the command again with the same id.

*later?* says whether the same command may succeed when the state has changed or time has passed.

";

const EVENTS: &str = "\
Every change of state is an event. Events of a partition are numbered without gaps by `(epoch, sequence)`, and are what
`EVENTS`, streams and the journal are made of. Numbers and names never change; a field is added at the end only. A field
that is not public is in the journal and in the state, and in no stream. [中文](zh/events.md)

`EVENTS partition epoch sequence [COUNT n]` answers the events after that cursor, each as
`[partition, epoch, sequence, at, operation id or nil, name, [field, value, …]]`. Epoch 0 stands for any.

";
