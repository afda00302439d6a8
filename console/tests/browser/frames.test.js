// The overview while a hundred thousand operations a second go through the server: the page does the same work as without them.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { browser, open, Server, until } from './stage.js'

const RATE = 100_000
const SPAN_MS = 4_000
/** A page at 60 frames a second has 16.7 ms for each. So much of a core's time it may take: then nearly all frames are free. */
const BUSY_SHARE_MAX = 0.2
/** Metrics once a second, health every third, reconciliations every fifth. */
const REQUESTS_PER_SECOND_MAX = 3

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

/** How many frames a page shows in a while, and how long it computes meanwhile, in the time of its thread. */
async function measured(page) {
  const client = await page.context().newCDPSession(page)
  await client.send('Performance.enable', { timeDomain: 'threadTicks' })
  const spent = async () => (await client.send('Performance.getMetrics')).metrics.find((metric) => metric.name === 'TaskDuration').value
  const before = await spent()
  let requests = 0
  const count = () => (requests += 1)
  page.on('request', count)
  const seen = await page.evaluate(
    (span) =>
      new Promise((resolve) => {
        let frames = 0
        let longTasks = 0
        const observer = new PerformanceObserver((list) => (longTasks += list.getEntries().length))
        observer.observe({ type: 'longtask' })
        const begun = performance.now()
        const frame = () => {
          frames += 1
          const took = performance.now() - begun
          if (took < span) requestAnimationFrame(frame)
          else resolve({ frames: (frames * 1_000) / took, longTasks, took })
        }
        requestAnimationFrame(frame)
      }),
    SPAN_MS,
  )
  const busy = (await spent()) - before
  page.off('request', count)
  await client.detach()
  return { ...seen, busy: (busy * 1_000) / seen.took, requests: (requests * 1_000) / seen.took }
}

test('the overview is as quick under load as without', async (context) => {
  const { page, visit, check, context: window } = await open(chrome, server)
  await visit('overview')
  await until('there are figures', async () => (await page.locator('.tile .value').first().innerText()) !== '–')
  const empty = await window.newPage()
  await empty.goto(`${server.origin}/livez`)
  const idle = await measured(page)
  const load = spawn(process.env.SCARCE_BINARY, ['bench', '--resp', server.resp, '--rate', String(RATE), '--seconds', '60', '--connections', '8'], { stdio: 'ignore' })
  const rate = async () => Number((await page.locator('.tile .value').first().innerText()).replaceAll(/\D/g, ''))
  await page.bringToFront()
  await until('the load is seen', async () => (await rate()) > 1_000)
  const turns = []
  for (let turn = 0; turn < 2; turn += 1) {
    await empty.bringToFront()
    const nothing = await measured(empty)
    await page.bringToFront()
    turns.push({ nothing, overview: await measured(page), rate: await rate() })
  }
  load.kill('SIGINT')
  await once(load, 'exit')
  // How many frames a browser shows while the load takes all cores says more of the machine: they are told, and not judged.
  const text = JSON.stringify({ idle, turns })
  context.diagnostic(text)
  const busy = Math.min(...turns.map(({ overview }) => overview.busy))
  assert.ok(busy <= BUSY_SHARE_MAX, `the share of a core that the page takes: ${busy}; ${text}`)
  const asked = Math.max(...turns.map(({ overview }) => overview.requests))
  assert.ok(asked <= REQUESTS_PER_SECOND_MAX, `requests a second: ${asked}; ${text}`)
  check()
})
