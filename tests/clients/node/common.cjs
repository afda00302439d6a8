'use strict';

const crypto = require('node:crypto');

const [host, port] = (process.env.SCARCE_RESP || '127.0.0.1:7379').split(':');

/** A name that no other test uses. */
const name = (kind) => `node-${kind}-${crypto.randomUUID().slice(0, 13)}`;

/** The sequences and fields of an answer to EVENTS. */
const readEvents = (events) =>
  events.map(([partition, epoch, sequence, at, operation, event, fields]) => ({
    partition, epoch, sequence, at, operation, event,
    fields: Object.fromEntries(Array.from({ length: fields.length / 2 }, (_, i) => [fields[2 * i], fields[2 * i + 1]])),
  }));

/** All events under an operation id, read page by page. */
async function eventsOf(call, operation) {
  let cursor = 0;
  let found = [];
  for (;;) {
    const events = readEvents(await call('EVENTS', '0', '0', String(cursor), 'COUNT', '500'));
    if (events.length === 0) return found;
    found = found.concat(events.filter((event) => event.operation === operation));
    cursor = events.at(-1).sequence;
  }
}

module.exports = { host, port: Number(port), name, eventsOf };
