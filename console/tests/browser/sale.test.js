// A sale watched from its opening to the last unit, a server that is killed under the page, and two windows on one book.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { buyers } from './sample.js'
import { browser, figure, open, Server, tile, until } from './stage.js'

let chrome
let server

before(async () => {
  chrome = await browser()
  server = await Server.start()
})

after(async () => {
  await chrome?.close()
  await server?.end()
})

test('a sale is watched from its opening to sold out', async () => {
  // The last buyer is refused.
  const { page, visit, check } = await open(chrome, server, { allowed: [409] })
  await server.api.post('/v1/stock', { sku: 'sneaker', quantity: 150 })
  await visit('stock/sneaker')
  await page.locator('[data-live=live]').waitFor()
  assert.equal(await figure(page, 'Available'), 150)
  for (let turn = 0; turn < 10; turn += 1) {
    await server.api.batch(buyers(turn * 15, 15, 'sneaker'))
    await until('the page follows the sale', async () => (await figure(page, 'Available')) === 150 - (turn + 1) * 15 || figure(page, 'Available'))
    if (turn === 5) await until('the end is foretold', async () => (await page.getByText(/Sold out in about/).count()) === 1)
  }
  await page.getByText('Sold out', { exact: true }).waitFor()
  const item = (await server.api.send('GET', '/v1/stock/sneaker')).body
  for (const [name, value] of [['Available', item.available], ['Reserved', item.reserved], ['Sold', item.sold], ['Total', item.total]]) {
    await until(`${name} is what the server says`, async () => (await figure(page, name)) === value || figure(page, name))
  }
  // The picture has the same as a table: it begins with all units and ends with none.
  const chart = page.getByRole('region', { name: 'Units left' })
  await chart.getByRole('button', { name: 'Show as a table' }).click()
  const left = await chart.locator('tbody tr td:nth-child(2)').allInnerTexts()
  assert.deepEqual([left[0], left.at(-1)], ['0', '150'])
  assert.ok(left.length > 100, `${left.length} rows`)
  // A buyer who came too late is told why, in the form that he would have used.
  await page.getByRole('button', { name: 'Sell' }).click()
  await page.getByLabel(/^quantity/).fill('1')
  await page.getByLabel(/^owner/).fill('late')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Try without a change' }).click()
  await dialog.getByText('SOLD_OUT').first().waitFor()
  assert.equal((await server.api.send('GET', '/v1/stock/sneaker')).body.sold, item.sold)
  await page.keyboard.press('Escape')
  check()
  await page.context().close()
})

test('a server that is killed under the page is seen to be gone, and followed again when it is back', async () => {
  const { page, visit } = await open(chrome, server)
  await server.api.post('/v1/stock', { sku: 'mug', quantity: 50 })
  await visit('stock/mug')
  await page.locator('[data-live=live]').waitFor()
  await server.kill()
  await page.locator('[data-unreachable]').waitFor()
  assert.equal(await figure(page, 'Available'), 50, 'what was known stays')
  await server.restart()
  await page.locator('[data-unreachable]').waitFor({ state: 'detached' })
  await page.locator('[data-live=live]').waitFor()
  await server.api.post('/v1/stock/mug/take', { quantity: 7, owner: 'u' })
  await until('the page goes on', async () => (await figure(page, 'Available')) === 43 || figure(page, 'Available'))
  assert.equal(await page.getByText('stock.taken').count(), 1, 'the event is listed once')
  await page.context().close()
})

test('a match is seen in two windows', async () => {
  await server.api.post('/v1/markets', { market: 'BTC-USDT', tick: 5, lot: 1 })
  const windows = await Promise.all([open(chrome, server), open(chrome, server, { language: 'zh', rise: 'red' })])
  await Promise.all(windows.map((window) => window.visit('markets/BTC-USDT')))
  const [{ page: one }, { page: other }] = windows
  await place(one, { order: 'a', owner: 'ann', side: 'BUY', price: '100', quantity: '8' })
  await until('the order is in the book of the other', async () => (await tile(other, '买一').innerText()) === '100')
  // The level of the book begins an order against it.
  await other.getByRole('table', { name: '盘口' }).getByRole('button', { name: '100' }).click()
  const dialog = other.getByRole('dialog')
  assert.deepEqual([await dialog.getByLabel(/^side/).inputValue(), await dialog.getByLabel(/^price/).inputValue()], ['SELL', '100'])
  await dialog.getByLabel(/^order/).fill('b')
  await dialog.getByLabel(/^owner/).fill('bob')
  await dialog.getByLabel(/^quantity/).fill('3')
  await dialog.getByRole('button', { name: '发送', exact: true }).click()
  await dialog.getByRole('button', { name: '确定发送' }).click()
  await dialog.getByText('filled').first().waitFor()
  for (const [page, last, trades] of [[one, 'Last price', 'Trades'], [other, '最新价', '成交笔数']]) {
    await until('both see the trade', async () => (await figure(page, trades)) === 1)
    assert.equal(await figure(page, last), 100)
  }
  windows.forEach((window) => window.check())
  await Promise.all(windows.map((window) => window.context.close()))
})

async function place(page, fields) {
  await page.getByRole('button', { name: 'Place an order' }).click()
  const dialog = page.getByRole('dialog')
  for (const [name, value] of Object.entries(fields)) {
    const input = dialog.getByLabel(new RegExp(`^${name}`))
    if (name === 'side') await input.selectOption(value)
    else await input.fill(value)
  }
  await dialog.getByRole('button', { name: 'Send', exact: true }).click()
  await dialog.getByRole('button', { name: 'Yes, send it' }).click()
  await dialog.getByText('open').first().waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
}
