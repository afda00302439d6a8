// Figures that arrive by themselves: one connection for all pages, and another way where it is not let through.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { orders } from './sample.js'
import { browser, figure, open, Server, tile, until } from './stage.js'

let chrome
let server

before(async () => {
  chrome = await browser({ isOpen: true })
  server = await Server.start({ hasTables: false })
  await server.api.post('/v1/stock', { sku: 'shirt', quantity: 10_000 })
  await server.api.post('/v1/markets', { market: 'M', tick: 5, lot: 1 })
})

after(async () => {
  await chrome?.close()
  await server?.end()
})

/** What a page asks for under a path. */
function counted(page, path) {
  const seen = { requests: 0 }
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === path) seen.requests += 1
  })
  return seen
}

async function sell(from, count) {
  for (let at = from; at < from + count; at += 1) await server.api.post('/v1/stock/shirt/take', { quantity: 1, owner: `u${at}` })
}

test('one connection carries the figures of all pages, which ask for little', async () => {
  const { page, visit, check, context } = await open(chrome, server, { allowed: [503] })
  const sockets = []
  page.on('websocket', (socket) => sockets.push(socket))
  await visit('stock/shirt')
  await until('the page is connected', async () => sockets.length === 1)
  const asked = counted(page, '/v1/stock/shirt')
  await sell(0, 60)
  await until('the sale is followed', async () => (await figure(page, 'Sold')) === 60 || figure(page, 'Sold'))
  assert.ok(asked.requests <= 3, `${asked.requests} requests for 60 sales`)
  for (const path of ['markets/M', 'accounts', 'stock/shirt', 'markets/M']) await visit(path)
  await server.api.batch(orders(1, 200, 'M'))
  const depth = (await server.api.send('GET', '/v1/markets/M/depth?levels=200')).body
  for (const [name, side] of [['Best bid', 'bids'], ['Best ask', 'asks']]) {
    await until(`${name} is that of the book`, async () => (await figure(page, name)) === depth[side][0].price || figure(page, name))
  }
  const ladder = page.getByRole('table', { name: 'Book' }).locator('tbody[aria-label=Bids] tr')
  const shown = depth.bids.slice(0, 12).map((level) => level.price)
  const levels = async () => (await ladder.locator('td:first-child').allInnerTexts()).map((text) => Number(text.replaceAll(',', '')))
  await until('the book is whole', async () => JSON.stringify(await levels()) === JSON.stringify(shown) || levels())
  // A page that is opened anew has a channel that begins with the last ten trades; the tape has those before them, too.
  await visit('stock/shirt')
  await visit('markets/M')
  const trades = (await server.api.send('GET', '/v1/markets/M/trades?count=100')).body.trades
  assert.ok(trades.length > 12, `${trades.length} trades`)
  const tape = page.getByRole('table', { name: 'Latest trades' }).locator('tbody tr')
  await until('the tape is whole', async () => (await tape.count()) === Math.min(trades.length, 40) || tape.count())
  assert.equal(sockets.length, 1)
  check()
  await context.close()
})

test('without WebSockets the same comes as a stream, and without either it is asked for', async () => {
  for (const [broken, live] of [['WebSocket', true], ['both', false]]) {
    const { page, visit, context, check } = await open(chrome, server, { allowed: [502, 503] })
    await page.routeWebSocket('**/ws', (socket) => socket.close())
    let streams = 0
    await page.route('**/v1/live*', (route) => {
      streams += 1
      return broken === 'both' ? route.fulfill({ status: 502, body: 'a proxy' }) : route.continue()
    })
    await visit('stock/shirt')
    await until('a stream is asked for', async () => streams > 0)
    const before = (await server.api.send('GET', '/v1/stock/shirt')).body.total
    const asked = counted(page, '/v1/stock/shirt')
    await server.api.post('/v1/stock/shirt/restock', { quantity: 7 })
    await until(`${broken}: the figures follow`, async () => (await figure(page, 'Total')) === before + 7 || figure(page, 'Total'))
    if (!live) await until('the page asks', async () => asked.requests > 0)
    check()
    await context.close()
  }
})

test('a page of another origin talks to /ws over TLS only where the settings name it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'scarce-tls-'))
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-subj', '/CN=localhost']
  execFileSync('openssl', [...words, '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const tls = ['--tls-cert', cert, '--tls-key', key]
  const origin = 'https://shop.example'
  const context = await chrome.newContext({ ignoreHTTPSErrors: true })
  await context.route(`${origin}/**`, (route) => route.fulfill({ contentType: 'text/html', body: '<title>shop</title>' }))
  const page = await context.newPage()
  await page.goto(`${origin}/`)
  for (const [more, expected] of [[[], 'closed'], [['--http-origins', origin], 'snapshot']]) {
    const its = await Server.start({ hasTables: false, more: [...tls, ...more] })
    const said = await page.evaluate(
      (url) =>
        new Promise((resolve) => {
          const socket = new WebSocket(url, ['scarce'])
          socket.onopen = () => socket.send(JSON.stringify({ method: 'SUBSCRIBE', params: ['stock.none'], id: 1 }))
          socket.onmessage = ({ data }) => JSON.parse(data).type && resolve(JSON.parse(data).type)
          socket.onclose = () => resolve('closed')
        }),
      `${its.origin.replace('https', 'wss')}/ws`,
    )
    assert.equal(said, expected, more.join(' '))
    await its.end()
  }
  // The console itself, over TLS, has its figures live.
  const its = await Server.start({ hasTables: false, more: tls })
  const own = await open(chrome, its, { ignoreHTTPSErrors: true, allowed: [404, 503] })
  const sockets = []
  own.page.on('websocket', (socket) => sockets.push(socket.url()))
  await own.visit('stock/none')
  await until('the console is connected', async () => sockets.length === 1)
  assert.match(sockets[0], /^wss:/)
  own.check()
  await own.context.close()
  await its.end()
  await context.close()
  rmSync(folder, { recursive: true, force: true })
})

test('a resource that does not exist yet appears when it is created', async () => {
  const { page, visit, context, check } = await open(chrome, server, { allowed: [404, 503] })
  await visit('stock/later')
  await page.getByText('There is none with the name').waitFor()
  await server.api.post('/v1/stock', { sku: 'later', quantity: 9 })
  await tile(page, 'Available').waitFor()
  assert.equal(await figure(page, 'Available'), 9)
  check()
  await context.close()
})
