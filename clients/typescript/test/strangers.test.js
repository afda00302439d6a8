// What comes of commands if something else than the server answers, as a proxy or a login page on the way does.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, test } from "node:test";

import { Scarce, ScarceError } from "scarce-client";

import { makeTransport as overFetch } from "../dist/transport-fetch.js";

/** Nothing in these says whether a change was applied. */
const SAYS_NOTHING = {
  "a page": [200, {}, "<html>"],
  "another object": [200, {}, '{"ok":true,"available":5,"balance":5}'],
  "the receipt of another operation": [200, {}, '{"available":5,"balance":5,"receipt":{"operation":"x"}}'],
  "a list": [200, {}, "[]"],
  null: [200, {}, "null"],
  "half of it": [200, { "content-length": "100" }, '{"receipt":{"operation":"'],
  "another service": [502, {}, '{"code":500,"status":"error"}'],
  "a refusal of another status": [502, {}, '{"code":"ACCOUNT_NOT_FOUND","status":404,"title":"t","advice":"a","retryable":false}'],
};

/** Here it was certainly not taken. */
const NOT_TAKEN = {
  elsewhere: [302, { location: "/elsewhere" }, ""],
  "elsewhere, with the body": [307, { location: "/elsewhere" }, ""],
  "in a year": [429, { "retry-after": "31536000" }, ""],
  never: [429, { "retry-after": "9".repeat(400) }, ""],
  "a refusal that lacks its words": [404, {}, '{"code":"ACCOUNT_NOT_FOUND","status":404}'],
};

let says = [200, {}, ""];
let isFollowed = false;
const server = createServer((incoming, outgoing) => {
  isFollowed ||= incoming.url === "/elsewhere";
  const [status, headers, body] = says;
  incoming.resume().on("end", () => {
    outgoing.writeHead(status, headers).write(body, () => ("content-length" in headers ? outgoing.destroy() : outgoing.end()));
  });
}).listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${server.address().port}`;
const clients = [{}, { transport: overFetch() }].map((more) => new Scarce({ url, timeoutMs: 500, ...more }));
after(() => {
  clients.forEach((client) => client.close());
  server.closeAllConnections();
  server.close();
});

const debit = { account: "a", amount: 5 };
const line = { command: "ACCOUNT.DEBIT", arguments: debit };

for (const [what, answer] of Object.entries(SAYS_NOTHING)) {
  test(`a change is undecided after ${what}`, async () => {
    says = answer;
    for (const client of clients) {
      assert.equal((await client.account.debit(debit)).status, "undecided");
      assert.deepEqual((await client.batch([line, line])).map(({ status }) => status), ["undecided", "undecided"]);
      assert.equal((await client.atomic([line])).status, "undecided");
    }
  });
}

for (const [what, answer] of Object.entries(NOT_TAKEN)) {
  test(`a change was not taken after ${what}`, async () => {
    says = answer;
    for (const client of clients) {
      await assert.rejects(client.account.debit(debit), ScarceError);
      assert.equal((await client.batch([line]))[0].status, "failed");
    }
    assert.ok(!isFollowed);
  });
}
