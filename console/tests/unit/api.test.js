import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.js'

const { messages } = await load('api/messages.ts')
const { parse, quantile, growth, by, sum } = await load('api/metrics.ts')
const readiness = await load('api/readiness.ts')
const { commandsOf, requestOf, wordsOf } = await load('api/command.ts')
const { snippets, quoted } = await load('api/snippets.ts')

test('a stream is read in whole messages, wherever it is cut', () => {
  const text = 'id: a\ndata: {"n":1}\n\n: still here\n\nid: b\nevent: problem\ndata: {\ndata: "n":2}\n\nid: c\nda'
  const { whole, rest } = messages(text)
  assert.deepEqual(whole, [
    { id: 'a', event: 'message', data: '{"n":1}' },
    { id: null, event: 'message', data: '' },
    { id: 'b', event: 'problem', data: '{\n"n":2}' },
  ])
  assert.equal(rest, 'id: c\nda')
  for (let cut = 0; cut <= text.length; cut += 1) {
    const first = messages(text.slice(0, cut))
    const second = messages(first.rest + text.slice(cut))
    assert.deepEqual([...first.whole, ...second.whole], whole, `cut at ${cut}`)
  }
})

test('metrics are read with their labels, and compared', () => {
  const before = parse('# HELP x\nx_bucket{le="0.001"} 10\nx_bucket{le="0.01"} 10\nx_bucket{le="+Inf"} 10\nn{c="A",o="it\\"s"} 4\nn{c="B"} 1\n')
  const after = parse('x_bucket{le="0.001"} 60\nx_bucket{le="0.01"} 109\nx_bucket{le="+Inf"} 110\nn{c="A",o="it\\"s"} 9\nn{c="B"} 0\nplain 7\n')
  assert.equal(after.get('n')[0].labels.o, 'it"s')
  assert.deepEqual([...growth(by(before, 'n', 'c'), by(after, 'n', 'c'))], [['A', 5], ['B', 0]])
  assert.equal(quantile(before, after, 'x', 0.5), 0.001)
  assert.ok(quantile(before, after, 'x', 0.9) > 0.001 && quantile(before, after, 'x', 0.9) < 0.01)
  assert.equal(quantile(after, after, 'x', 0.5), null)
  assert.deepEqual([sum(after, 'plain'), sum(after, 'none')], [7, null])
})

test('health names what failed and what needs attention', () => {
  const { isReady, checks } = readiness.parse('[+] a ok\n[!] b waits\n[-] c failed: disk <b>\nnot ready\n', 503)
  assert.equal(isReady, false)
  assert.deepEqual(checks.map((check) => check.mark), ['ok', 'notice', 'failed'])
  assert.deepEqual(readiness.parse('the journal is read: 3 of 9\n', 503).checks, [{ mark: 'failed', text: 'the journal is read: 3 of 9' }])
})

const argument = (name, token, fields = [name]) => ({ name, token, fields })
const integer = { type: 'integer' }
const text = { type: 'string' }

/** A description with one command. */
function described(path, properties, args) {
  const schema = { type: 'object', properties, required: [] }
  const operation = {
    summary: 's',
    parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: text })),
    requestBody: { content: { 'application/json': { schema } } },
    'x-command': 'A.B',
    'x-arguments': args,
  }
  operation.parameters.push({ $ref: '#/components/parameters/IdempotencyKey' })
  return commandsOf({ info: { version: '0' }, paths: { [path]: { post: operation } }, components: { schemas: {} } })[0]
}

test('a command is sent as JSON and as words', () => {
  const take = described('/v1/stock/{sku}/take', { owner: text, quantity: integer }, [argument('sku', null), argument('quantity', null), argument('owner', null)])
  assert.deepEqual(take.fields.map((field) => field.name), ['sku', 'quantity', 'owner'])
  assert.equal(take.isWrite, true)
  const values = { sku: 'a/b', quantity: 2, owner: 'u1' }
  assert.deepEqual(requestOf(take, values), { path: '/v1/stock/a%2Fb/take', request: { method: 'POST', query: {}, body: { quantity: 2, owner: 'u1' } } })
  assert.deepEqual(wordsOf(take, values), ['A.B', 'a/b', '2', 'u1'])
  const [curl, redis] = snippets(take, values, 'op-1', { origin: 'http://localhost:7380', hasKey: false })
  assert.match(curl.text, /^curl -X POST http:\/\/localhost:7380\/v1\/stock\/a%2Fb\/take -H 'Idempotency-Key: op-1'/)
  assert.equal(redis.text, 'redis-cli -p 7379 A.B a/b 2 u1 ID op-1')
})

test('arguments of several words are written as the port takes them', () => {
  const args = [
    argument('cut', null, ['plan', 'amounts']), argument('min', 'MIN', []), argument('pricing', null, ['type', 'price']),
    argument('limits', null), argument('subject', 'USER'), argument('keep_rest', 'KEEPREST'), argument('overdraft', 'OVERDRAFT'),
  ]
  const command = described('/x', {}, args)
  const words = (values) => wordsOf(command, values).join(' ')
  assert.equal(words({ plan: { total: 10, count: 2, method: 'EVEN', min: 1 }, type: 'MARKET' }), 'A.B PLAN 10 2 EVEN MIN 1 MARKET')
  assert.equal(words({ amounts: [5, 1], type: 'LIMIT', price: 7, keep_rest: true, overdraft: 0 }), 'A.B AMOUNTS 2 5 1 LIMIT 7 KEEPREST OVERDRAFT 0')
  const limits = [{ name: 'all', max: 3 }, { name: 'd', max: 1, per: ['user', 'ip'], window: 'DAY', offset_minutes: 480 }, { name: 'h', max: 2, window_ms: 5 }]
  const written = 'LIMIT all 3 PER - WINDOW none LIMIT d 1 PER user,ip WINDOW day OFFSET 480 LIMIT h 2 PER - WINDOW 5'
  assert.equal(words({ plan: { total: 1, count: 1, method: 'EVEN' }, type: 'MARKET', limits }), `A.B PLAN 1 1 EVEN MARKET ${written}`)
  assert.match(words({ type: 'MARKET', subject: { user: 'u', device: 'd' } }), /USER u device d$/)
})

test('a shell takes a word as it was meant', () => {
  assert.equal(quoted("it's $(rm) `x`"), `'it'\\''s $(rm) \`x\`'`)
  assert.equal(quoted('a:b@c'), 'a:b@c')
})
