// What comes of commands on a calm server: SCARCE_URL=… SCARCE_TLS_URL=… SCARCE_TLS_CA=file SCARCE_KEY=… node --test

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";

import { Scarce, ScarceError, TransportError, VERSION } from "scarce-client";

import { makeTransport as overFetch } from "../dist/transport-fetch.js";

const url = process.env.SCARCE_URL;
const scarce = new Scarce({ url });
const clients = [scarce];
after(() => clients.forEach((client) => client.close()));

const made = (options) => {
  clients.push(new Scarce(options));
  return clients.at(-1);
};
const name = (kind) => `ts-${kind}-${randomUUID()}`;
const item = async (quantity, client = scarce) => {
  const sku = name("sku");
  assert.equal((await client.stock.create({ sku, quantity })).status, "applied");
  return sku;
};

test("a change has values and a receipt, and its duplicate the same again", async () => {
  const sku = await item(3);
  const id = name("order");
  const first = await scarce.stock.take({ sku, quantity: 2, owner: "alice" }, { id });
  assert.deepEqual(first.value, { first_serial: 1, remaining: 1 });
  assert.deepEqual([first.receipt.operation, first.receipt.durability, first.replayed], [id, "synced", false]);
  const again = await scarce.stock.take({ sku, quantity: 2, owner: "alice" }, { id });
  assert.deepEqual(again, { ...first, replayed: true });
  const other = await scarce.stock.take({ sku, quantity: 1, owner: "alice" }, { id });
  assert.deepEqual([other.status, other.code, other.facts.operation], ["refused", "ID_REUSED", id]);
});

test("a refusal is a value with its facts, of reads too", async () => {
  const sku = await item(1);
  const refused = await scarce.stock.take({ sku, quantity: 2, owner: "a" });
  assert.deepEqual([refused.status, refused.code, refused.retryable], ["refused", "INSUFFICIENT_STOCK", true]);
  assert.deepEqual(refused.facts, { available: 1, requested: 2 });
  assert.equal((await scarce.account.get({ account: name("nobody") })).code, "ACCOUNT_NOT_FOUND");
});

test("a new id carries its time, though the clock of this machine is wrong", async () => {
  const sku = await item(2);
  const real = Date.now;
  try {
    for (const wrongMs of [3_600_000, -7 * 86_400_000]) {
      const client = made({ url });
      Date.now = () => real() + wrongMs;
      // A clock that is behind is known from any answer.
      if (wrongMs < 0) await client.stock.get({ sku });
      const taken = await client.stock.take({ sku, quantity: 1, owner: "a" });
      assert.equal(taken.status, "applied");
      const ms = parseInt(taken.receipt.operation.replace(/-/g, "").slice(0, 12), 16);
      assert.ok(Math.abs(ms - real()) < 10_000, `${ms} is not ${real()}`);
    }
  } finally {
    Date.now = real;
  }
});

test("a dry run foretells and changes nothing", async () => {
  const sku = await item(1);
  const told = await scarce.stock.take({ sku, quantity: 1, owner: "a" }, { dryRun: true });
  assert.deepEqual([told.value, told.receipt], [{ first_serial: 1, remaining: 0 }, null]);
  assert.equal((await scarce.stock.get({ sku })).value.available, 1);
});

test("a deadline that has passed is a refusal", async () => {
  const sku = await item(1);
  const late = await scarce.stock.take({ sku, quantity: 1, owner: "a" }, { deadline: Date.now() - 60_000 });
  assert.equal(late.code, "DEADLINE_PASSED");
});

test("lines of a batch have outcomes of their own", async () => {
  const sku = await item(1_200);
  const take = (quantity) => ({ command: "STOCK.TAKE", arguments: { sku, quantity, owner: "a" } });
  const [first, second, third] = await scarce.batch([take(1), take(5_000), { command: "STOCK.GET", arguments: { sku } }]);
  assert.deepEqual([first.value.first_serial, second.code, third.value.available], [1, "INSUFFICIENT_STOCK", 1_199]);
  // More than a request may have.
  const many = await scarce.batch(Array.from({ length: 1_300 }, () => take(1)));
  assert.deepEqual([many.filter((its) => its.status === "applied").length, many.length], [1_199, 1_300]);
  assert.ok(many.slice(1_199).every((its) => its.code === "SOLD_OUT"));
});

test("an atomic batch is applied whole or not at all", async () => {
  const tag = `{${name("tag")}}`;
  const [sku, payer, shop] = [`s${tag}`, `p${tag}`, `q${tag}`];
  await scarce.stock.create({ sku, quantity: 1 });
  for (const account of [payer, shop]) await scarce.account.open({ account, asset: "EUR" });
  await scarce.account.credit({ account: payer, amount: 1_000 });
  const lines = [
    { command: "ACCOUNT.TRANSFER", arguments: { from: payer, to: shop, amount: 100 } },
    { command: "STOCK.TAKE", arguments: { sku, quantity: 1, owner: "a" } },
  ];
  const done = await scarce.atomic(lines, { id: name("order") });
  assert.deepEqual(done.value.results.map((its) => Object.keys(its)[0]), ["from_available", "first_serial"]);
  const refused = await scarce.atomic(lines);
  assert.deepEqual([refused.code, refused.facts.index, refused.facts.code], ["BATCH_REFUSED", 1, "SOLD_OUT"]);
  assert.equal((await scarce.account.get({ account: payer })).value.balance, 900);
});

test("a mistake of the program is an error that says what to do", async () => {
  const mistake = scarce.stock.take({ sku: "no spaces", quantity: 1, owner: "a" });
  await assert.rejects(mistake, (error) => error instanceof ScarceError && error.code === "INVALID" && error.facts.argument === "sku");
});

test("a server that is away is an error, since nothing was sent", async () => {
  const nobody = made({ url: "http://127.0.0.1:9", timeoutMs: 300 });
  await assert.rejects(nobody.stock.take({ sku: "s", quantity: 1, owner: "a" }), { code: "UNREACHABLE" });
});

test("an unanswered change is undecided, until the server is asked", async () => {
  const [sku, inner, calls] = [await item(2), overFetch(), { arrive: true, answer: false }];
  const send = async (...request) => {
    const answer = calls.arrive ? await inner.send(...request) : null;
    if (calls.answer) return answer;
    throw new TransportError("lost", "the answer was lost");
  };
  const client = made({ url, timeoutMs: 200, transport: { send, stream: inner.stream, close() {} } });
  const take = () => client.stock.take({ sku, quantity: 1, owner: "a" });
  const applied = await take();
  assert.deepEqual([applied.status, applied.reason.code], ["undecided", "LOST"]);
  calls.arrive = false;
  const never = await take();
  Object.assign(calls, { arrive: true, answer: true });
  const asked = await applied.ask();
  assert.deepEqual([asked.status, asked.value.first_serial, asked.replayed], ["applied", 1, true]);
  assert.deepEqual([(await never.ask()).status, (await never.ask()).reason.code], ["undecided", "OPERATION_NOT_FOUND"]);
  assert.deepEqual(await never.resolve(), { status: "absent", operation: never.operation });
  assert.equal((await never.retry()).code, "RESOLVED_ABSENT");
  assert.equal((await scarce.stock.get({ sku })).value.sold, 1);
  await assert.rejects(scarce.stock.get({ sku }, { signal: AbortSignal.abort() }), { code: "ABORTED" });
});

test("TLS and a key are used, and a wrong one is an error", async () => {
  const tls = { ca: readFileSync(process.env.SCARCE_TLS_CA, "utf8") };
  const [address, key] = [process.env.SCARCE_TLS_URL, process.env.SCARCE_KEY];
  await item(1, made({ url: address, key, tls }));
  const stranger = made({ url: address, tls });
  await assert.rejects(stranger.stock.get({ sku: "s" }), { code: "UNAUTHENTICATED", status: 401 });
  const started = performance.now();
  await assert.rejects(made({ url: address, key }).stock.get({ sku: "s" }), { code: "UNREACHABLE" });
  assert.ok(performance.now() - started < 10_000, "a certificate that is not trusted is not tried again");
});

test("fetch serves as well, for browsers", async () => {
  const client = made({ url, transport: overFetch() });
  const sku = await item(1, client);
  const updates = client.live([`stock.${sku}`]);
  assert.equal((await updates.next()).value.data.available, 1);
  await updates.return();
  assert.match(VERSION, /^\d+\.\d+\.\d+$/);
});
