// What operators look at and change: deliveries and dead letters, keys, settings, the audit log, reconciliations.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { browser, open, Server, tile, until } from './stage.js'

const MARKUP = `<img/src=x/onerror=alert(1)>`
let chrome
let server
let receiver
const received = []
let isGone = true

before(async () => {
  chrome = await browser()
  receiver = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.url === '/gone' && isGone) response.writeHead(410)
      else received.push(request.headers['webhook-id'])
      response.end()
    })
  })
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  server = await Server.start({ more: ['--webhooks', '--settlement', 'engine', '--slow-ms', '3s'] })
})

after(async () => {
  await chrome?.close()
  receiver?.close()
  await server?.end()
})

async function confirmed(scope, button) {
  await scope.getByRole('button', { name: button }).first().click()
  await scope.getByRole('button', { name: 'Yes', exact: true }).click()
}

test('a dead letter is seen with its reason, and tried again', async () => {
  await server.api.post('/v1/accounts', { account: 'u1', asset: 'USD' })
  await server.api.post('/v1/packets', { campaign: 'rain', asset: 'EUR', amounts: [30, 20] })
  await server.api.post('/v1/packets/rain/claims', { user: 'u1' })
  const dead = async () => (await server.api.send('GET', '/v1/settlements?state=dead')).body.settlements
  await until('it is a dead letter', async () => (await dead()).length === 1)
  const { page, visit, context, check } = await open(chrome, server)
  await visit('packets/rain')
  await until('the campaign shows it', async () => (await page.locator('[data-uncredited=dead]').innerText()) === '1 (30)')
  await visit('deliveries')
  const panel = page.getByRole('region', { name: 'Settlements' })
  await panel.getByText('keeps USD').waitFor()
  await confirmed(panel, 'Replay rain 1')
  await page.getByText('1 to be tried again').waitFor()
  await until('it is tried, and dead again', async () => (await dead()).length === 1)
  // It may have been read while it was on its way.
  await visit('overview')
  await visit('deliveries')
  await panel.getByText('keeps USD').waitFor()
  await confirmed(panel, 'Replay dead letters of rain')
  await page.getByText('1 to be tried again').waitFor()
  check()
  await context.close()
})

test('an endpoint is paused and resumed, and a delivery made again', async () => {
  const url = `http://127.0.0.1:${receiver.address().port}/hook`
  await server.run('webhooks', 'add', url, 'account.opened', '--sql', `sqlite://${server.folder}/log.db`, '--resp', server.resp)
  await server.api.post('/v1/accounts', { account: 'u2', asset: 'EUR' })
  await until('it is delivered', async () => received.length === 1)
  const { page, visit, context, check } = await open(chrome, server)
  await visit('deliveries')
  const endpoints = page.getByRole('region', { name: 'Webhook endpoints' })
  await endpoints.getByText(url).waitFor()
  await confirmed(endpoints, `Pause ${url}`)
  await endpoints.locator('[data-status=paused]').waitFor()
  await confirmed(endpoints, `Resume ${url}`)
  await endpoints.locator('[data-status=active]').waitFor()
  const panel = page.getByRole('region', { name: 'Webhook deliveries' })
  await panel.getByRole('combobox').selectOption('delivered')
  await panel.getByText('account.opened').first().waitFor()
  await confirmed(panel, /^Replay \d/)
  await until('it comes again under the same ID', async () => received.length === 2)
  assert.equal(received[0], received[1])
  check()
  await context.close()
})

test('a delivery that its endpoint wants no more is a dead letter, and replayed when it wants it again', async () => {
  const url = `http://127.0.0.1:${receiver.address().port}/gone`
  await server.run('webhooks', 'add', url, 'stock.created', '--sql', `sqlite://${server.folder}/log.db`, '--resp', server.resp)
  await server.api.post('/v1/stock', { sku: 'late', quantity: 1 })
  await until('it is dead', async () => (await server.api.send('GET', '/v1/deliveries?state=dead')).body.deliveries.length === 1)
  const { page, visit, context, check } = await open(chrome, server)
  await visit('deliveries')
  const panel = page.getByRole('region', { name: 'Webhook deliveries' })
  await panel.getByText('410').first().waitFor()
  await panel.getByText('stock.created', { exact: true }).click()
  await panel.getByText('"sku":"late"').waitFor()
  isGone = false
  const before = received.length
  const endpoint = page.getByRole('region', { name: 'Webhook endpoints' }).getByRole('row').filter({ hasText: url })
  await endpoint.locator('[data-status=disabled]').waitFor()
  await confirmed(endpoint, /^Resume/)
  await endpoint.locator('[data-status=active]').waitFor()
  await confirmed(endpoint, /^Replay dead letters/)
  await until('it arrives', async () => received.length === before + 1)
  await panel.getByText('None in this state').waitFor()
  check()
  await context.close()
})

test('the settings in effect are shown with where they come from', async () => {
  const { page, visit, context, check } = await open(chrome, server)
  await visit('configuration')
  const row = page.getByRole('row', { name: /^slow_ms/ })
  await row.getByText('--slow-ms').waitFor()
  assert.match(await row.innerText(), /3,000 ms/)
  const rows = () => page.getByRole('row').count()
  const all = await rows()
  await page.getByLabel('Only what is not the default').check()
  await until('fewer are left', async () => (await rows()) < all)
  await page.getByLabel('Find a setting').fill('slow')
  await until('one is left', async () => (await rows()) === 2)
  check()
  await context.close()
})

test('a reconciliation is seen on the overview', async () => {
  // On the other one a packet is not credited, which is a difference.
  const its = await Server.start({})
  const { page, visit, context, check } = await open(chrome, its)
  await visit('overview')
  await until('there was none', async () => (await tile(page, 'Last reconciliation').innerText()) === 'none yet')
  await its.api.post('/v1/reconciliations')
  await until('all agrees', async () => (await tile(page, 'Last reconciliation').innerText()) === 'equal')
  check()
  await context.close()
  await its.end()
})

test('keys are made, rotated and revoked, and the audit log tells who did', async () => {
  const its = await Server.start({ hasTables: false })
  const { page, visit, context, check } = await open(chrome, its, { allowed: [400, 401, 403, 503] })
  await visit('keys')
  await page.getByText('has no keys and no password').waitFor()
  await page.getByLabel('Name', { exact: true }).fill(MARKUP)
  await page.getByRole('button', { name: 'Create a key' }).click()
  await page.getByText('Letters, digits').first().waitFor()
  await make(page, 'admin', '*')
  const admin = await page.locator('[data-new-key]').innerText()
  assert.match(admin, /^sk_[0-9a-f]{12}_[0-9a-f]{48}$/)
  // The server is closed now, and this tab goes on.
  await until('keys are needed', async () => (await its.api.send('GET', '/v1/stock')).status === 401)
  const row = (name) => page.getByRole('row', { name: new RegExp(`^${name} `) })
  await row('admin').waitFor()
  await make(page, 'shop', 'take:stocks')
  await page.getByText("'stocks' is no kind").waitFor()
  await make(page, 'shop', 'read:stock take:stock:sku-*', '30')
  await row('shop').waitFor()
  await confirmed(row('shop'), /^Rotate/)
  await until('there are two', async () => (await row('shop').count()) === 2)
  await confirmed(row('shop').filter({ has: page.getByRole('button', { name: /^Rotate/ }) }), /^Revoke/)
  await row('shop').locator('[data-status=revoked]').waitFor()
  await visit('audit')
  await page.getByRole('row', { name: /act admin .* POST \/v1\/keys\/[0-9a-f]{12}\/revoke/ }).waitFor()
  assert.equal(await page.getByText(admin.slice(16)).count(), 0, 'the secret is nowhere')
  await page.getByLabel('What').fill('POST /v1/keys')
  await until('the filter holds', async () => (await page.getByRole('row', { name: /revoke/ }).count()) === 0)
  await page.getByRole('row', { name: /admin/ }).first().waitFor()
  // Who may less is told so.
  const operator = (await its.api.as(admin).post('/v1/keys', { name: 'operator', scopes: ['operate'] })).key
  await page.getByRole('button', { name: 'Sign out' }).click()
  await until('the key is known', async () => (await its.api.as(operator).send('GET', '/v1/keys')).status === 200)
  await page.getByLabel('Key or password').fill(operator)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await visit('keys')
  await row('operator').waitFor()
  await confirmed(row('admin'), /^Revoke/)
  await page.getByText('lacks the scope *').waitFor()
  check()
  await context.close()
  await its.end()
})

async function make(page, name, scopes, days = '') {
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('Scopes').fill(scopes)
  await page.getByLabel('Days').fill(days)
  await confirmed(page.getByRole('region', { name: 'Create a key' }), 'Create a key')
}
