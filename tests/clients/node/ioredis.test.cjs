'use strict';

const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const { Redis } = require('ioredis');
const { host, port, name, eventsOf } = require('./common.cjs');

let client;
const call = (...words) => client.call(...words.map(String));

before(() => {
  client = new Redis({ host, port, lazyConnect: false, maxRetriesPerRequest: 1 });
});
after(() => client.quit());

async function stock(quantity) {
  const sku = name('sku');
  await call('STOCK.CREATE', sku, quantity);
  return sku;
}

test('ioredis connects and pings', async () => {
  assert.equal(await client.ping(), 'PONG');
  assert.equal(await client.echo('hello'), 'hello');
});

test('ioredis: a refusal is an ordinary answer', async () => {
  const sku = await stock(1);
  assert.deepEqual(await call('STOCK.TAKE', sku, 1, 'u1'), [1, 1, 0]);
  assert.deepEqual(await call('STOCK.TAKE', sku, 1, 'u2'), [0, 'SOLD_OUT', 0, 1]);
});

test('ioredis: an error rejects and the connection stays usable', async () => {
  const id = await client.client('ID');
  await assert.rejects(call('STOCK.TAKE', 'sku', '1.5', 'u1'), /quantity must be .* Usage: STOCK.TAKE sku quantity/);
  await assert.rejects(call('NO.SUCH'), /unknown command/);
  assert.equal(await client.client('ID'), id);
});

test('ioredis: the same id gets the same answer', async () => {
  const [account, operation] = [name('account'), name('operation')];
  await call('ACCOUNT.OPEN', account, 'USD');
  const first = await call('ACCOUNT.CREDIT', account, 100, 'ID', operation);
  await call('ACCOUNT.CREDIT', account, 7);
  assert.deepEqual(first, [1, 100, 100]);
  assert.deepEqual(await call('ACCOUNT.CREDIT', account, 100, 'ID', operation), first);
});

test('ioredis: a pipeline of 1000 is answered in order', async () => {
  const sku = await stock(1000);
  const pipeline = client.pipeline();
  for (let i = 0; i < 1000; i += 1) pipeline.call('STOCK.TAKE', sku, '1', 'u1');
  const answers = await pipeline.exec();
  assert.deepEqual(answers, Array.from({ length: 1000 }, (_, i) => [null, [1, i + 1, 999 - i]]));
});

test('ioredis: a transaction is applied whole', async () => {
  const sku = await stock(10);
  const answers = await client.multi().call('STOCK.TAKE', sku, '1', 'u1').call('STOCK.TAKE', sku, '2', 'u2').exec();
  assert.deepEqual(answers, [[null, [1, 1, 9]], [null, [1, 2, 7]]]);
});

test('ioredis: a transaction is refused whole, with one answer per line', async () => {
  const sku = await stock(10);
  const answers = await client.multi()
    .call('STOCK.TAKE', sku, '1', 'u1').call('STOCK.TAKE', sku, '50', 'u1').call('STOCK.TAKE', sku, '1', 'u1').exec();
  const others = [null, [0, 'BATCH_REFUSED', 1, 'INSUFFICIENT_STOCK']];
  assert.deepEqual(answers, [others, [null, [0, 'INSUFFICIENT_STOCK', 9, 50]], others]);
  assert.equal((await call('STOCK.GET', sku))[5], 10);
});

test('ioredis: events are read after a cursor', async () => {
  const sku = name('sku');
  await call('STOCK.CREATE', sku, 3, 'ID', `make-${sku}`);
  const [made] = await eventsOf(call, `make-${sku}`);
  assert.equal(made.event, 'stock.created');
  assert.equal(made.fields.quantity, 3);
});
