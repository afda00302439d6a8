'use strict';

const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const { createClient } = require('redis');
const { host, port, name, eventsOf } = require('./common.cjs');

for (const RESP of [2, 3]) {
  describe(`node-redis with RESP${RESP}`, () => {
    let client;
    const call = (...words) => client.sendCommand(words.map(String));

    before(async () => {
      client = await createClient({ RESP, socket: { host, port, reconnectStrategy: false } }).connect();
    });
    after(() => client.close());

    async function stock(quantity) {
      const sku = name('sku');
      await call('STOCK.CREATE', sku, quantity);
      return sku;
    }

    test('connects and pings', async () => {
      assert.equal(await client.ping(), 'PONG');
      assert.equal(await client.echo('hello'), 'hello');
    });

    test('reads are maps in RESP3, names and values in RESP2', async () => {
      const sku = await stock(3);
      const item = await call('STOCK.GET', sku);
      if (RESP === 2) return assert.deepEqual(item.slice(0, 6), ['sku', sku, 'total', 3, 'available', 3]);
      const entries = item instanceof Map ? Object.fromEntries(item) : item;
      assert.equal(entries.sku, sku);
      assert.equal(entries.available, 3);
      assert.equal(entries.ends_at, null);
    });

    test('a refusal is an ordinary answer', async () => {
      const sku = await stock(1);
      assert.deepEqual(await call('STOCK.TAKE', sku, 1, 'u1'), [1, 1, 0]);
      assert.deepEqual(await call('STOCK.TAKE', sku, 1, 'u2'), [0, 'SOLD_OUT', 0, 1]);
    });

    test('an error rejects and the connection stays usable', async () => {
      const id = await client.clientId();
      await assert.rejects(call('STOCK.TAKE', 'sku', '1.5', 'u1'), /quantity must be .* Usage: STOCK.TAKE sku quantity/);
      await assert.rejects(call('NO.SUCH'), /unknown command/);
      assert.equal(await client.clientId(), id);
    });

    test('the same id gets the same answer', async () => {
      const [account, operation] = [name('account'), name('operation')];
      await call('ACCOUNT.OPEN', account, 'USD');
      const first = await call('ACCOUNT.CREDIT', account, 100, 'ID', operation);
      await call('ACCOUNT.CREDIT', account, 7);
      assert.deepEqual(first, [1, 100, 100]);
      assert.deepEqual(await call('ACCOUNT.CREDIT', account, 100, 'ID', operation), first);
    });

    test('1000 commands at once are answered in order', async () => {
      const sku = await stock(1000);
      const answers = await Promise.all(Array.from({ length: 1000 }, () => call('STOCK.TAKE', sku, 1, 'u1')));
      assert.deepEqual(answers, Array.from({ length: 1000 }, (_, i) => [1, i + 1, 999 - i]));
    });

    test('a transaction is applied whole', async () => {
      const sku = await stock(10);
      const answers = await client.multi()
        .addCommand(['STOCK.TAKE', sku, '1', 'u1']).addCommand(['STOCK.TAKE', sku, '2', 'u2']).exec();
      assert.deepEqual(answers, [[1, 1, 9], [1, 2, 7]]);
    });

    test('a transaction is refused whole, with one answer per line', async () => {
      const sku = await stock(10);
      const answers = await client.multi()
        .addCommand(['STOCK.TAKE', sku, '1', 'u1']).addCommand(['STOCK.TAKE', sku, '50', 'u1']).exec();
      assert.deepEqual(answers, [[0, 'BATCH_REFUSED', 1, 'INSUFFICIENT_STOCK'], [0, 'INSUFFICIENT_STOCK', 9, 50]]);
    });

    test('events are read after a cursor', async () => {
      const sku = name('sku');
      await call('STOCK.CREATE', sku, 3, 'ID', `make-${sku}`);
      const [made] = await eventsOf(call, `make-${sku}`);
      assert.equal(made.event, 'stock.created');
      assert.equal(made.fields.sku, sku);
    });
  });
}
