// A real server and a real browser. Whatever a page does that it must not do makes its test fail.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'
import { Api } from './sample.js'

const BINARY = process.env.SCARCE_BINARY
/** A folder whose files stand in for those in the binary, so that a change is tried without compiling. */
const FILES = process.env.SCARCE_CONSOLE_FILES
export const PATIENCE_MS = 60_000

function found(program) {
  const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program))
  const path = paths.find((path) => existsSync(path))
  if (!path) throw new Error(`${program} is missing; install the package ${program}`)
  return path
}

/** A running server. */
export class Server {
  static async start({ folder = mkdtempSync(join(tmpdir(), 'scarce-console-')), http = '127.0.0.1:0', hasTables = true, more = [] } = {}) {
    if (!BINARY) throw new Error('SCARCE_BINARY must name the server')
    const words = ['serve', '--data', join(folder, 'data'), '--resp', '127.0.0.1:0', '--http', http, ...more]
    if (hasTables) words.push('--sql', `sqlite://${join(folder, 'log.db')}`)
    const child = spawn(BINARY, words, { stdio: ['ignore', 'pipe', 'ignore'] })
    const [line] = await once(createInterface(child.stdout), 'line')
    const [, resp, address] = /resp ([^,]+), http ([^,]+),/.exec(line) ?? []
    if (!address) throw new Error(`no ready line but '${line}'`)
    return new Server(child, folder, { resp, address, hasTables, more })
  }

  constructor(child, folder, its) {
    const origin = `${its.more.includes('--tls-cert') ? 'https' : 'http'}://${its.address}`
    Object.assign(this, { child, folder, ...its, origin, api: new Api(origin) })
  }

  /** As a power failure. */
  async kill() {
    this.child.kill('SIGKILL')
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit')
  }

  /** Starts again with the same data at the same address. */
  async restart() {
    const next = await Server.start({ folder: this.folder, http: this.address, hasTables: this.hasTables, more: this.more })
    this.child = next.child
  }

  /** Runs a subcommand on its data. */
  async run(...words) {
    const child = spawn(BINARY, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (text) => (said += text))
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}`)
    return said.trim()
  }

  /** Makes a key, and returns it. */
  key(name, scope) {
    return this.run('keys', 'create', '--data', join(this.folder, 'data'), '--name', name, '--scope', scope)
  }

  async end() {
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A browser; `isOpen` lets pages of the internet call this machine, which browsers only do if they are asked to. */
export async function browser({ isOpen = false } = {}) {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
  // Where files stand in for the server's, the page is taken for one of the internet.
  if (FILES || isOpen) args.push('--disable-features=LocalNetworkAccessChecks')
  return chromium.launch({ executablePath: found('chromium'), args })
}

/** The policy of the server's own files. */
const POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' }

async function replaceFiles(context, policy) {
  await context.route('**/console/**', (route) => {
    const name = new URL(route.request().url()).pathname.replace('/console/', '') || 'index.html'
    const headers = { 'content-security-policy': policy, 'content-type': TYPES[name.split('.').at(-1)] ?? 'text/plain' }
    return route.fulfill({ body: readFileSync(join(FILES, name)), headers })
  })
}

/** A window whose pages show this server. `allowed` are statuses that may be answered, besides success. */
export async function open(chrome, server, { language = 'en', theme = 'light', rise = 'green', allowed = [], preferences = true, init = () => {}, ...more } = {}) {
  const context = await chrome.newContext({ viewport: { width: 1360, height: 900 }, ...more })
  context.setDefaultTimeout(PATIENCE_MS)
  if (FILES) await replaceFiles(context, POLICY)
  const kept = JSON.stringify({ language, theme, rise })
  if (preferences) await context.addInitScript((kept) => localStorage.getItem('scarce.console') ?? localStorage.setItem('scarce.console', kept), kept)
  await context.addInitScript(init)
  const page = await context.newPage()
  const faults = []
  page.on('pageerror', (error) => faults.push(`an error in the page: ${error.stack}`))
  page.on('dialog', (dialog) => (faults.push(`a dialog: ${dialog.message()}`), dialog.dismiss()))
  page.on('request', (request) => {
    if (!request.url().startsWith(server.origin)) faults.push(`a request to elsewhere: ${request.url()}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400 && !allowed.includes(response.status())) faults.push(`${response.status()} for ${response.url()}`)
  })
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) faults.push(`the browser says: ${message.text()}`)
  })
  const visit = async (path) => {
    await page.goto(`${server.origin}/console/#/${path}`)
    await page.locator('main h1').first().waitFor()
  }
  const check = () => {
    if (faults.length > 0) throw new Error(faults.join('\n'))
  }
  return { page, context, visit, check, faults }
}

/** The pages with something to see on each, in `everything`. */
export const PAGES = [
  'overview', 'events', 'flow', 'deliveries', 'audit', 'stock', 'stock/sneaker-42', 'accounts', 'accounts/alice', 'packets', 'packets/new-year',
  'packets/lantern', 'coupons', 'coupons/spring', 'markets', 'markets/BTC-USDT', 'operations', 'operations/take-u1/sneaker-42', 'commands',
  'commands/PACKET.CREATE', 'keys', 'configuration', 'settings',
]

/** Waits until something holds. */
export async function until(what, holds) {
  const deadline = Date.now() + PATIENCE_MS
  let last
  while (Date.now() < deadline) {
    last = await holds()
    if (last === true) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${what}; it is ${JSON.stringify(last)}`)
}

/** The value of a tile. */
export function tile(page, name) {
  return page.getByRole('group', { name, exact: true }).locator('.value')
}

/** The number in a tile. */
export async function figure(page, name) {
  return Number((await tile(page, name).innerText()).replaceAll(/[^\d.-]/g, ''))
}
