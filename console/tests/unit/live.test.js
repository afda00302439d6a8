import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.js'

const { withFields, withLevels, withTrades } = await load('model/merge.ts')

test('fields that changed replace those that are known', () => {
  const known = { sku: 'a', available: 5, sold: 0, ends_at: null }
  assert.deepEqual(withFields(known, { available: 4, sold: 1 }, false), { sku: 'a', available: 4, sold: 1, ends_at: null })
  assert.deepEqual(withFields(known, { sku: 'a', available: 9 }, true), { sku: 'a', available: 9 })
  assert.deepEqual(withFields(null, { sku: 'a' }, false), { sku: 'a' })
  assert.equal(known.available, 5, 'what is known stays as it was')
})

test('a book that follows changes is the book that they are changes of', () => {
  let seed = 11
  const random = (most) => (seed = (seed * 48_271) % 2_147_483_647) % most
  const true_ = { bids: new Map(), asks: new Map() }
  const level = (price, quantity) => ({ price, quantity, orders: quantity === 0 ? 0 : 1 })
  let shown = withLevels(null, { bids: [], asks: [], sequence: 0 }, true)
  for (let turn = 0; turn < 2_000; turn += 1) {
    const delta = {}
    for (const [side, base] of [['bids', 0], ['asks', 40]]) {
      if (random(3) === 0) continue
      delta[side] = [level(base + random(30), random(2) * (1 + random(9)))]
      for (const { price, quantity } of delta[side]) quantity === 0 ? true_[side].delete(price) : true_[side].set(price, quantity)
    }
    shown = withLevels(shown, delta, false)
  }
  const sorted = (side, sign) => [...true_[side]].sort(([one], [other]) => sign * (one - other))
  assert.ok(shown.bids.length > 5 && shown.asks.length > 5)
  assert.deepEqual(shown.bids.map(({ price, quantity }) => [price, quantity]), sorted('bids', -1))
  assert.deepEqual(shown.asks.map(({ price, quantity }) => [price, quantity]), sorted('asks', 1))
})

test('a trade that comes twice is listed once, the latest first', () => {
  const trades = (...numbers) => numbers.map((trade) => ({ trade, price: 100 + trade }))
  const asked = { trades: trades(7, 6, 5) }
  const snapshot = withTrades(asked, { trades: trades(6, 7) })
  assert.deepEqual(snapshot.trades.map(({ trade }) => trade), [7, 6, 5])
  assert.deepEqual(withTrades(snapshot, { trades: trades(8, 9) }).trades.map(({ trade }) => trade), [9, 8, 7, 6, 5])
  const many = withTrades(null, { trades: trades(...Array.from({ length: 500 }, (_, at) => at)) })
  assert.deepEqual([many.trades.length, many.trades[0].trade, many.trades.at(-1).trade], [100, 499, 400])
})
