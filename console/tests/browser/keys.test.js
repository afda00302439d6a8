// Who may see what: passwords, keys with few scopes, keys that end while a page is open.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { everything } from './sample.js'
import { browser, figure, open, Server, until } from './stage.js'

let chrome
let server
const keys = {}

before(async () => {
  chrome = await browser()
  server = await Server.start()
  await everything(server.api)
  keys.operator = await server.key('operator', '*')
  keys.reader = await server.key('reader', 'read:stock:sneaker-*')
  keys.leaver = await server.key('leaver', '*')
  await until('keys are needed', async () => (await server.api.send('GET', '/v1/stock')).status === 401)
})

after(async () => {
  await chrome?.close()
  await server?.end()
})

async function signIn(page, key) {
  await page.getByLabel('Key or password').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('nothing is shown before a good key is', async () => {
  const { page, visit, context, check } = await open(chrome, server, { allowed: [401] })
  await visit('stock/sneaker-42')
  assert.equal(await page.getByText('sneaker-42').count(), 0)
  await signIn(page, 'sk_000000000000_wrong')
  await page.getByText('does not know this key').waitFor()
  await signIn(page, keys.operator)
  await page.getByRole('heading', { name: /sneaker-42/ }).waitFor()
  await page.locator('[data-live=live]').waitFor()
  // The key is this tab's alone, and in no address.
  assert.deepEqual(await page.evaluate(() => [sessionStorage.getItem('scarce.key') !== null, JSON.stringify(localStorage).includes('sk_'), document.cookie, location.href.includes('sk_')]), [true, false, '', false])
  await page.reload()
  await page.getByRole('heading', { name: /sneaker-42/ }).waitFor()
  const other = await context.newPage()
  await other.goto(`${server.origin}/console/`)
  await other.getByLabel('Key or password').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Key or password').waitFor()
  assert.equal(await page.evaluate(() => sessionStorage.getItem('scarce.key')), null)
  check()
  await context.close()
})

test('a key sees what its scopes cover, and is told what it lacks', async () => {
  const { page, visit, context, check } = await open(chrome, server, { allowed: [401, 403] })
  await visit('stock')
  await signIn(page, keys.reader)
  await page.getByRole('link', { name: 'sneaker-42' }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'mug' }).count(), 0, 'the list shows what the key covers')
  await visit('stock/mug')
  await page.getByText('lacks the scope read:stock:mug').waitFor()
  await visit('stock/sneaker-42')
  await page.locator('[data-live=figures]').waitFor()
  await server.api.as(keys.operator).post('/v1/stock/sneaker-42/restock', { quantity: 3 })
  await until('the figures are live', async () => (await figure(page, 'Total')) === 503 || figure(page, 'Total'))
  await page.getByRole('group', { name: 'Available' }).waitFor()
  await visit('events')
  await page.getByText('lacks the scope operate').waitFor()
  await visit('overview')
  await page.getByText('need a key that may read everything').waitFor()
  await visit('commands/STOCK.RESTOCK')
  await page.getByLabel(/^sku/).fill('sneaker-42')
  await page.getByLabel(/^quantity/).fill('5')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('button', { name: 'Yes, send it' }).click()
  await page.getByText('lacks the scope create:stock:sneaker-42').waitFor()
  check()
  await context.close()
})

test('a key that is revoked ends what the page shows', async () => {
  const { page, visit, context, check } = await open(chrome, server, { allowed: [401] })
  await visit('stock/sneaker-42')
  await signIn(page, keys.leaver)
  await page.locator('[data-live=live]').waitFor()
  await server.run('keys', 'revoke', 'leaver', '--data', `${server.folder}/data`)
  await page.getByText('no longer admitted').waitFor()
  assert.equal(await page.getByText('sneaker-42').count(), 0)
  assert.equal(await page.evaluate(() => sessionStorage.getItem('scarce.key')), null)
  check()
  await context.close()
})
