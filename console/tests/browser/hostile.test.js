// What nobody means well: markup in names, giant numbers, long lists, a wrong clock, files that are not there.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { everything } from './sample.js'
import { browser, figure, open, PAGES, Server, until } from './stage.js'

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

const LOADING = 'Loading…'

/** Goes to a page of the one that is loaded. */
async function go(page, path) {
  await page.evaluate((path) => (location.hash = `#/${path}`), path)
  await page.locator('main h1').first().waitFor()
}

test('every page bears a clock that is an hour off, either way', async () => {
  const its = await Server.start()
  await everything(its.api)
  for (const hours of [1, -1]) {
    const init = `{ const now = Date.now.bind(Date); Date.now = () => now() + ${hours * 3_600_000} }`
    const { page, visit, context, check } = await open(chrome, its, { init, allowed: [403, 404, 503] })
    await visit('overview')
    for (const path of PAGES) {
      await go(page, path)
      await until(`${path} is loaded`, async () => (await page.getByText(LOADING).count()) === 0)
    }
    // What was done a moment ago is of the last hour all the same.
    await go(page, 'audit')
    await page.getByLabel('From').first().selectOption('hour')
    await page.getByRole('row', { name: /ACCOUNT.FREEZE/ }).waitFor()
    check()
    await context.close()
  }
  await its.end()
})

test('every page says what a key lacks that may do nothing', async () => {
  const its = await Server.start()
  await everything(its.api)
  const key = await its.key('nobody', 'take:script:none')
  await until('keys are needed', async () => (await its.api.send('GET', '/v1/stock')).status === 401)
  const { page, visit, context, check } = await open(chrome, its, { allowed: [401, 403] })
  await visit('keys')
  await page.getByLabel('Key or password').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  // These show nothing of the server's data.
  const open_ = ['operations', 'commands', 'commands/PACKET.CREATE', 'settings']
  for (const path of PAGES.filter((path) => !open_.includes(path))) {
    await go(page, path)
    await page.getByText(/lacks the scope|need a key that may/).first().waitFor()
  }
  check()
  await context.close()
  await its.end()
})

test('every page outlives the server, and says that it is gone', async () => {
  const its = await Server.start()
  await everything(its.api)
  const { page, visit, context, faults } = await open(chrome, its, { allowed: [404, 503] })
  await visit('overview')
  await its.kill()
  for (const path of PAGES) {
    await go(page, path)
    await page.locator('[data-unreachable]').waitFor()
  }
  const errors = faults.filter((fault) => fault.startsWith('an error in the page'))
  assert.deepEqual(errors, [])
  await context.close()
  await its.end()
})

test('forms take nothing that is no value: giant numbers, other scripts, controls', async () => {
  const { page, visit, context, check } = await open(chrome, server, { allowed: [400, 404, 503] })
  const bad = { quantity: ['1e9', '-1', '9'.repeat(400), '٣', '1.5', ' ', '0x10'], sku: ['a b', 'مكسور', '🫙', 'x'.repeat(65), '\u202egnp.exe', '../../x'] }
  await visit('commands/STOCK.CREATE')
  for (const [name, values] of Object.entries(bad)) {
    for (const value of values) {
      await page.getByLabel(/^sku/).fill(name === 'sku' ? value : 'fine')
      await page.getByLabel(/^quantity/).fill(name === 'quantity' ? value : '1')
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      const field = page.getByLabel(new RegExp(`^${name}`))
      const isTold = async () => (await field.getAttribute('aria-invalid')) === 'true' || (await page.getByRole('button', { name: 'Yes, send it' }).count()) === 1
      await until(`${name} ${value} is answered`, isTold)
      // What the page lets through, the server refuses: nothing is made of it.
      if ((await field.getAttribute('aria-invalid')) !== 'true') await page.getByRole('button', { name: 'Yes, send it' }).click()
    }
  }
  await until('nothing was created', async () => (await server.api.send('GET', '/v1/stock?prefix=fine')).body.items.length === 0)
  // Names of pages that no resource can have, and filters of every kind.
  for (const path of [`stock/${encodeURIComponent('\u202egnp.exe')}`, `accounts/${'x'.repeat(3_000)}`, `markets/${encodeURIComponent('🫙/..')}`, `packets/%00`, 'coupons/%', 'none/of/these']) {
    await visit(path)
    await until(`${path} is loaded`, async () => (await page.getByText(LOADING).count()) === 0)
  }
  for (const label of ['Caller', 'What', 'Resource']) {
    await visit('audit')
    await page.getByLabel(label, { exact: true }).fill(`${MARKUP} ٣ 🫙 ${'9'.repeat(400)}`)
    await until('it is answered', async () => (await page.getByText(LOADING).count()) === 0)
  }
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
