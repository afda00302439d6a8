import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { load } from './load.js'

const { project, thinned } = await load('model/sellout.ts')
const { candles, spanFor } = await load('model/candles.ts')
const { histogram } = await load('model/histogram.ts')
const { commitmentOf } = await load('model/commitment.ts')
const { curve } = await load('model/depth.ts')
const { Seconds } = await load('model/rate.ts')
const { valuesOf, blank, draftOf } = await load('ui/form.ts')
const { en } = await load('i18n/en.ts')
const { zh } = await load('i18n/zh.ts')
const { names } = await load('i18n/names.ts')

test('the end of a sale is projected from its last seconds', () => {
  const points = Array.from({ length: 21 }, (_, at) => ({ at: at * 1_000, available: 1_000 - at * 10 }))
  const { pace, at } = project(points, 20_000)
  assert.equal(pace, 10)
  assert.equal(at, 20_000 + 80_000)
  // Sales that stopped have no end, nor have those that are over.
  assert.deepEqual(project(points, 60_000), { pace: 0, at: null })
  assert.equal(project([{ at: 0, available: 5 }, { at: 1_000, available: 0 }], 1_000).at, null)
  assert.deepEqual(project([], 0), { pace: 0, at: null })
  assert.equal(project([{ at: 0, available: 5 }, { at: 9_000, available: 50 }], 9_500).at, null, 'units came back')
})

test('many points become few, and their ends stay', () => {
  const points = Array.from({ length: 10_000 }, (_, at) => ({ at: at * 3, available: 10_000 - at }))
  const few = thinned(points, 500)
  assert.ok(few.length <= 500 && few.length > 100, String(few.length))
  assert.deepEqual([few[0], few.at(-1)], [points[0], points.at(-1)])
  assert.equal(thinned(few, 500), few)
})

test('trades become candles', () => {
  const trades = [[0, 10, 1], [400, 12, 2], [900, 9, 1], [2_100, 11, 5]].map(([at, price, quantity]) => ({ at, price, quantity }))
  assert.deepEqual(candles(trades, 1_000), [
    { at: 0, open: 10, high: 12, low: 9, close: 9, volume: 4 },
    { at: 2_000, open: 11, high: 11, low: 11, close: 11, volume: 5 },
  ])
  assert.equal(spanFor(trades, 90), 1_000)
  assert.equal(spanFor([{ at: 0 }, { at: 86_400_000 }], 90), 3_600_000)
})

test('amounts are counted in buckets, none twice and none left out', () => {
  const amounts = Array.from({ length: 1_000 }, (_, at) => (at * 7_919) % 503)
  const buckets = histogram(amounts, 24)
  assert.ok(buckets.length <= 24)
  assert.equal(buckets.reduce((sum, bucket) => sum + bucket.count, 0), 1_000)
  assert.deepEqual(histogram([5], 24), [{ from: 5, through: 5, count: 1 }])
  assert.deepEqual(histogram([], 24), [])
})

test('the commitment is the one of the reference', () => {
  const seed = '25456834592ad59e24e32f4ec4f8cd5ffde3be3beb022c1138699ed869871d84'
  const plan = { seed, total: 100, count: 4, method: 'DOUBLE_MEAN', min: 1, max: null }
  assert.equal(commitmentOf(plan), 'efef4c4e377dd58f1f9dd079205ad2e0057230b60eea8289f16ba6e4d934f6ce')
  assert.notEqual(commitmentOf({ ...plan, total: 101 }), commitmentOf(plan))
})

test('a book becomes a curve around its middle', () => {
  const level = (price, quantity) => ({ price, quantity, orders: 1 })
  const depth = { bids: [level(9, 1), level(8, 2)], asks: [level(11, 4), level(12, 1)], sequence: 1 }
  assert.deepEqual(curve(depth), { prices: [8, 9, 11, 12], bids: [3, 1, null, null], asks: [null, null, 4, 5] })
})

test('seconds without anything are there too', () => {
  const seconds = new Seconds(5)
  for (const at of [1_200, 1_900, 4_000]) seconds.add(at)
  assert.deepEqual(seconds.series(6_500), { x: [1, 2, 3, 4, 5], y: [2, 0, 0, 1, 0] })
  assert.deepEqual(seconds.series(60_000).y, [])
})

const integer = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }
const id = { type: 'string', maxLength: 64, pattern: '^[A-Za-z0-9_.:@/+=\\-]*$' }

function read(schema, typed, isRequired = true) {
  const { values, wrong } = valuesOf([{ name: 'x', schema, isRequired }], { x: typed })
  return wrong.length > 0 ? wrong[0].word : values.x
}

test('what is typed becomes a value, or the form says why not', () => {
  assert.equal(read(integer, ' 42 '), 42)
  assert.equal(read(integer, '9007199254740992'), 'form.range')
  assert.equal(read(integer, '1e3'), 'form.integer')
  assert.equal(read(integer, '0'), 'form.range')
  assert.equal(read(integer, ''), 'form.required')
  assert.equal(read(integer, '', false), undefined)
  assert.equal(read(id, 'sku-1'), 'sku-1')
  for (const hostile of ['<b>', 'a b', 'مرحبا', '🫙', '"']) assert.equal(read(id, hostile), 'form.pattern', hostile)
  assert.equal(read(id, 'x'.repeat(65)), 'form.long')
  assert.deepEqual(read({ type: 'array', items: integer }, '5, 1 7'), [5, 1, 7])
})

test('an object is left out where nothing of it is typed', () => {
  const plan = { type: 'object', properties: { total: integer, min: integer }, required: ['total'] }
  assert.equal(read(plan, blank(plan), false), undefined)
  assert.deepEqual(read(plan, { ...blank(plan), total: '5' }), { total: 5 })
  assert.equal(read(plan, { ...blank(plan), min: '5' }), 'form.required')
  const subject = { type: 'object', properties: { user: id }, required: ['user'], additionalProperties: id }
  assert.deepEqual(read(subject, { user: 'u', '+': [{ name: 'device', value: 'd' }] }), { user: 'u', device: 'd' })
  const limits = { type: 'array', items: { type: 'object', properties: { name: id, per: { type: 'array', items: id } } } }
  assert.deepEqual(read(limits, draftOf(limits, [{ name: 'a', per: ['user', 'ip'] }])), [{ name: 'a', per: ['user', 'ip'] }])
})

test('both languages have the same texts with the same blanks', () => {
  const blanks = (text) => [...text.matchAll(/\{\w+\}/g)].map(String).sort()
  assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort())
  for (const [word, text] of Object.entries(en)) {
    assert.deepEqual(blanks(zh[word]), blanks(text), word)
    assert.notEqual(zh[word], '', word)
  }
  for (const [name, both] of Object.entries(names)) assert.ok(both.length === 2 && both.every((text) => text !== ''), name)
})

test('every text is used somewhere', () => {
  const folder = new URL('../../src/', import.meta.url)
  const files = readdirSync(folder, { recursive: true }).filter((name) => /\.(svelte|ts)$/.test(name) && !/^i18n.(en|zh)\.ts$/.test(name))
  const code = files.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n')
  // The menu, the state of a feed and the choices of a filter make their words of a name.
  const unused = Object.keys(en).filter((word) => !/^(nav|live|audit\.(kind|span))\./.test(word) && !code.includes(`'${word}'`))
  assert.deepEqual(unused, [])
})
