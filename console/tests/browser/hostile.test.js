// What nobody means well: markup in names, giant numbers, long lists, a wrong clock, files that are not there.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { browser, figure, open, Server, until } from './stage.js'

const MARKUP = `<img src=x onerror="alert(1)"><script>alert(2)</script>`
const MOST = Number.MAX_SAFE_INTEGER
let chrome
let server

before(async () => {
  chrome = await browser()
  server = await Server.start({ hasTables: false })
})

after(async () => {
  await chrome?.close()
  await server?.end()
})

test('markup, writing from right to left and emoji are text wherever they come from', async () => {
  await server.api.post('/v1/stock', { sku: 'mug', quantity: 40 })
  await server.api.post('/v1/stock/mug/adjust', { delta: -1, reason: `${MARKUP} مكسور 🫙` }, `${MARKUP.replaceAll(' ', '/')}`)
  const { page, visit, context, check } = await open(chrome, server, { allowed: [400, 404, 503] })
  await visit('stock/mug')
  await page.getByText(MARKUP).first().waitFor()
  await visit(`stock/${encodeURIComponent(MARKUP)}`)
  await visit(`operations/${encodeURIComponent(MARKUP.replaceAll(' ', '/'))}/mug`)
  await page.getByText('#').first().waitFor()
  await visit(`stock?prefix=${encodeURIComponent(MARKUP)}`)
  await page.getByText(`No name begins with “${MARKUP}”`).waitFor()
  await visit('commands/STOCK.CREATE')
  await page.getByLabel(/^sku/).fill(MARKUP)
  await page.getByLabel(/^quantity/).fill('1')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByText('characters are not allowed').waitFor()
  // Pictures of the page's own are the only ones.
  assert.deepEqual(await page.locator('img').evaluateAll((all) => all.map((one) => new URL(one.src).pathname)), ['/console/icon.svg'])
  check()
  await context.close()
})

test('the largest numbers are shown exactly, and larger ones are not taken', async () => {
  await server.api.post('/v1/accounts', { account: 'rich', asset: 'X' })
  await server.api.post('/v1/accounts/rich/credit', { amount: MOST })
  const { page, visit, context, check } = await open(chrome, server, { allowed: [503] })
  await visit('accounts/rich')
  await until('the balance is exact', async () => (await figure(page, 'Balance')) === MOST || figure(page, 'Balance'))
  await page.getByRole('button', { name: 'Debit', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/^amount/).fill('9007199254740992')
  await dialog.getByRole('button', { name: 'Send', exact: true }).click()
  await dialog.getByText('from 1 to 9007199254740991').waitFor()
  await dialog.getByLabel(/^amount/).fill(String(MOST))
  assert.match(await dialog.locator('pre').innerText(), /"amount":9007199254740991/)
  check()
  await context.close()
})

test('a hundred thousand items are walked through a page at a time', async () => {
  for (let first = 0; first < 100_000; first += 1_000) {
    const item = (at) => ({ command: 'STOCK.CREATE', arguments: { sku: `bulk-${String(first + at).padStart(6, '0')}`, quantity: 1 } })
    await server.api.batch(Array.from({ length: 1_000 }, (_, at) => item(at)))
  }
  const { page, visit, context, check } = await open(chrome, server)
  await visit('stock')
  await page.getByLabel('Names that begin with').fill('bulk-0999')
  await page.getByRole('link', { name: 'bulk-099900' }).waitFor()
  await page.getByRole('button', { name: 'Next page' }).click()
  await page.getByRole('link', { name: 'bulk-099999' }).waitFor()
  assert.equal(await page.getByRole('row').count(), 51)
  assert.equal(await page.getByRole('button', { name: 'Next page' }).isDisabled(), true)
  await page.getByRole('button', { name: 'Previous page' }).click()
  await page.getByRole('link', { name: 'bulk-099900' }).waitFor()
  check()
  await context.close()
})

test('a browser whose clock is an hour off projects by the time of the server', async () => {
  await server.api.post('/v1/stock', { sku: 'clocked', quantity: 1_000 })
  const init = () => {
    const now = Date.now.bind(Date)
    Date.now = () => now() + 3_600_000
  }
  const { page, visit, context, check } = await open(chrome, server, { init, allowed: [503] })
  await visit('stock/clocked')
  await page.locator('[data-live=live]').waitFor()
  for (let turn = 0; turn < 20; turn += 1) {
    await server.api.post('/v1/stock/clocked/take', { quantity: 10, owner: `u${turn}` })
    if ((await page.getByText(/Sold out in about/).count()) > 0) break
  }
  await page.getByText(/Sold out in about/).waitFor()
  check()
  await context.close()
})

test('the console is a page of this server alone, and loads nothing inline', async () => {
  const page = await fetch(`${server.origin}/console/`)
  const policy = page.headers.get('content-security-policy')
  assert.match(policy, /default-src 'self'/)
  assert.match(policy, /frame-ancestors 'none'/)
  assert.doesNotMatch(policy, /unsafe/)
  const redirect = await fetch(`${server.origin}/console`, { redirect: 'manual' })
  assert.deepEqual([redirect.status, redirect.headers.get('location')], [308, '/console/'])
  assert.equal((await fetch(`${server.origin}/console/none.js`)).status, 404)
  assert.equal((await fetch(`${server.origin}/console/..%2f..%2fetc%2fpasswd`)).status, 404)
  const known = page.headers.get('etag')
  assert.equal((await fetch(`${server.origin}/console/`, { headers: { 'If-None-Match': known } })).status, 304)
  const foreign = await fetch(`${server.origin}/console/console.js`, { headers: { 'Sec-Fetch-Site': 'cross-site' } })
  assert.equal(foreign.status, 403)
})
