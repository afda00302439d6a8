// A ledger outside of the server, while it is killed and its connections are lost and delayed:
// SCARCE_UNSTEADY_URL=… node --test

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { Scarce } from "scarce-client";

const WORKERS = 8;
const ROUNDS = 80;
const options = { url: process.env.SCARCE_UNSTEADY_URL, attemptTimeoutMs: 400, timeoutMs: 2_000, pauseMsMax: 300 };

/** The outcome of a change, by as many questions as it takes. */
async function settled(call) {
  let outcome = await call;
  while (outcome.status === "undecided") outcome = await outcome.resolve();
  return outcome;
}

/** Calls again while nothing gets through, which changes nothing. */
async function through(call) {
  for (;;) {
    try {
      return await settled(call());
    } catch (error) {
      if (!["UNREACHABLE", "LOST", "UNAVAILABLE", "OVERLOADED", "UNKNOWN"].includes(error.code)) throw error;
    }
  }
}

test("each debit and each unit is taken once, and none is lost", { timeout: 100_000 }, async () => {
  const scarce = new Scarce(options);
  const [account, sku] = [`ts-${randomUUID()}`, `ts-${randomUUID()}`];
  await through(() => scarce.account.open({ account, asset: "EUR" }, { id: randomUUID() }));
  const ledger = { credited: 1_500, debited: 0, restocked: 5, taken: 0, refused: 0, replayed: 0 };
  await through(() => scarce.account.credit({ account, amount: ledger.credited }, { id: `credit-${account}` }));
  await through(() => scarce.stock.create({ sku, quantity: ledger.restocked }, { id: `create-${sku}` }));

  const note = (outcome, column, amount) => {
    if (outcome.status === "applied") ledger[column] += amount;
    if (outcome.status === "refused") ledger.refused += 1;
    if (outcome.replayed) ledger.replayed += 1;
  };
  const work = async (worker) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const amount = 1 + (round % 3);
      note(await through(() => scarce.account.debit({ account, amount })), "debited", amount);
      note(await through(() => scarce.stock.take({ sku, quantity: 1, owner: "a" })), "taken", 1);
      // The item is sold out again and again: a copy that arrives late must not find the next units.
      if (round % WORKERS === worker) note(await through(() => scarce.stock.restock({ sku, quantity: 3 })), "restocked", 3);
      if (round % 10 === 0) {
        const line = { command: "ACCOUNT.DEBIT", arguments: { account, amount: 1 } };
        for (const outcome of await scarce.batch([line, line])) {
          if (outcome.status !== "failed") note(await settled(outcome), "debited", 1);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));

  const { value: kept } = await through(() => scarce.account.get({ account }));
  const { value: shown } = await through(() => scarce.stock.get({ sku }));
  console.log("ledger", JSON.stringify(ledger));
  assert.equal(kept.balance, ledger.credited - ledger.debited);
  assert.deepEqual([shown.sold, shown.total], [ledger.taken, ledger.restocked]);
  assert.ok(ledger.replayed > 0 && ledger.refused > 0, "answers were lost, and some commands refused");
  scarce.close();
});

test("what is followed ends as what is read", { timeout: 100_000 }, async () => {
  const scarce = new Scarce(options);
  const [market, account] = [`ts-${randomUUID()}`, `ts-${randomUUID()}`];
  await through(() => scarce.market.create({ market }));
  await through(() => scarce.account.open({ account, asset: "EUR" }));
  const end = new AbortController();
  const seen = { depth: null, balance: null, trades: [], updates: 0, snapshots: 0, channels: new Set() };
  let changed = () => undefined;
  const following = (async () => {
    const channels = [`market.${market}.depth200`, `market.${market}.trades`, `account.${account}`];
    for await (const { channel, data, type } of scarce.live(channels, end)) {
      seen.updates += 1;
      seen.channels.add(channel);
      if (type === "snapshot") seen.snapshots += 1;
      if (channel === channels[0]) seen.depth = { bids: data.bids, asks: data.asks };
      if (channel === channels[1]) seen.trades.push(...data.trades.map((its) => its.trade));
      if (channel === channels[2]) seen.balance = data.balance;
      changed();
    }
  })();
  // What is traded before a channel is followed is not in its snapshot.
  while (seen.channels.size < 3) await new Promise((resolve) => (changed = resolve));
  for (let order = 0; order < 150; order += 1) {
    const side = order % 2 === 0 ? "BUY" : "SELL";
    const price = 100 + ((order * 7) % 11) + (side === "SELL" ? 2 : 0);
    await through(() =>
      scarce.order.place({ market, order: `o${order}`, owner: `u${order}`, side, type: "LIMIT", price, quantity: 1 + (order % 4) }),
    );
    if (order % 10 === 0) await through(() => scarce.account.credit({ account, amount: 5 }));
  }
  const { value: depth } = await through(() => scarce.market.depth({ market, levels: 200 }));
  const { value: trades } = await through(() => scarce.market.trades({ market, count: 1 }));
  const wanted = { bids: depth.bids, asks: depth.asks };
  const isThere = () => JSON.stringify(seen.depth) === JSON.stringify(wanted) && seen.balance === 75;
  while (!isThere()) await new Promise((resolve) => (changed = resolve));
  while (seen.trades.at(-1) !== trades.trades[0].trade) await new Promise((resolve) => (changed = resolve));
  end.abort();
  await following;
  console.log("seen", seen.updates, "updates,", seen.snapshots, "snapshots");
  assert.deepEqual(seen.trades, Array.from({ length: trades.trades[0].trade }, (_, at) => at + 1));
  scarce.close();
});
