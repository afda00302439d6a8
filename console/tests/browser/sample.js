// What the pages of the tests show: something of each kind, and a crowd that takes it.

/** Sends one request after the other to a server. */
export class Api {
  constructor(origin, key = null) {
    this.origin = origin
    this.key = key
  }

  /** The same with a key. */
  as(key) {
    return new Api(this.origin, key)
  }

  async send(method, path, body = undefined, operation = undefined) {
    const headers = { 'Content-Type': 'application/json' }
    if (this.key) headers.Authorization = `Bearer ${this.key}`
    if (operation) headers['Idempotency-Key'] = operation
    const answer = await fetch(this.origin + path, { method, headers, body: body && JSON.stringify(body) })
    return { status: answer.status, body: await answer.json() }
  }

  /** Sends what must be applied. */
  async apply(method, path, body = {}, operation = undefined) {
    const answer = await this.send(method, path, body, operation)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  post(path, body = {}, operation = undefined) {
    return this.apply('POST', path, body, operation)
  }

  /** Sends commands together, each of which may be refused. */
  batch(operations) {
    return this.post('/v1/batch', { operations })
  }
}

export async function accounts(api) {
  for (const [account, amount] of [['alice', 250_000], ['bob', 40_000], ['shop', 0]]) {
    await api.post('/v1/accounts', { account, asset: 'EUR-cents' })
    if (amount > 0) await api.post(`/v1/accounts/${account}/credit`, { amount })
  }
  for (let turn = 1; turn <= 12; turn += 1) await api.post('/v1/transfers', { from: 'alice', to: 'shop', amount: 1_500 * turn })
  await api.post('/v1/accounts/alice/holds', { hold: 'order-7', amount: 12_000, ttl_ms: 3_600_000 })
  await api.post('/v1/accounts/alice/holds', { hold: 'order-8', amount: 5_000 })
  await api.post('/v1/accounts/bob/freeze')
}

export async function stock(api) {
  await api.post('/v1/stock', { sku: 'sneaker-42', quantity: 500, per_owner_max: 2 })
  await api.post('/v1/stock', { sku: 'ticket/2026', quantity: 1_000_000 })
  await api.post('/v1/stock', { sku: 'mug', quantity: 40 })
  await api.post('/v1/stock/mug/adjust', { delta: -2, reason: '<img src=x onerror=alert(1)> مكسور 🫙' })
}

/** A part of the crowd at the sale. */
export function buyers(first, count, sku = 'sneaker-42') {
  return Array.from({ length: count }, (_, at) => {
    const buyer = `u${first + at}`
    if ((first + at) % 5 === 0) {
      const given = { sku, reservation: `r-${buyer}`, quantity: 1, owner: buyer, ttl_ms: 60_000 }
      return { command: 'STOCK.RESERVE', id: `reserve-${buyer}`, arguments: given }
    }
    return { command: 'STOCK.TAKE', id: `take-${buyer}`, arguments: { sku, quantity: 1, owner: buyer } }
  })
}

export async function packets(api) {
  const plan = { total: 888_800, count: 400, method: 'DOUBLE_MEAN' }
  await api.post('/v1/packets', { campaign: 'new-year', asset: 'CNY-fen', plan })
  await api.post('/v1/packets', { campaign: 'lantern', asset: 'CNY-fen', plan: { ...plan, method: 'LINE_CUT', min: 100 } })
  const claim = (campaign, at) => ({ command: 'PACKET.CLAIM', arguments: { campaign, user: `u${at}` } })
  await api.batch(Array.from({ length: 160 }, (_, at) => claim('new-year', at)))
  await api.batch(Array.from({ length: 300 }, (_, at) => claim('lantern', at)))
  await api.post('/v1/packets/lantern/close')
}

export async function coupons(api) {
  const limits = [
    { name: 'all', max: 100 },
    { name: 'daily', max: 1, per: ['user'], window: 'DAY', offset_minutes: 480 },
    { name: 'device', max: 3, per: ['device'], window_ms: 3_600_000 },
  ]
  await api.post('/v1/coupons', { coupon: 'spring', limits, claim_ttl_ms: 86_400_000 })
  const claim = (at) => ({ command: 'COUPON.CLAIM', arguments: { coupon: 'spring', subject: { user: `u${at}`, device: `d${at % 40}` } } })
  await api.batch(Array.from({ length: 60 }, (_, at) => claim(at)))
  await api.post('/v1/coupons/spring/claims/3/redeem', { user: 'u2' })
  await api.post('/v1/coupons/spring/claims/4/revoke', {})
}

/** Orders around a price that wanders, the same at every run. */
export function orders(first, count, market = 'BTC-USDT') {
  let seed = 7 + first
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
  return Array.from({ length: count }, (_, at) => {
    const middle = 60_000 + Math.round(400 * Math.sin((first + at) / 90) + 120 * Math.sin((first + at) / 17))
    const side = random() < 0.5 ? 'BUY' : 'SELL'
    const away = Math.round(random() * 60) * 5 - (random() < 0.3 ? 120 : 0)
    const price = Math.round((side === 'BUY' ? middle - away : middle + away) / 5) * 5
    const given = { market, order: `o${first + at}`, owner: `t${at % 9}`, side, type: 'LIMIT', price, quantity: 1 + Math.round(random() * 40) }
    return { command: 'ORDER.PLACE', arguments: given }
  })
}

export async function market(api) {
  await api.post('/v1/markets', { market: 'BTC-USDT', tick: 5, lot: 1 })
  for (let turn = 0; turn < 12; turn += 1) await api.batch(orders(turn * 40, 40))
}

/** Something of everything. */
export async function everything(api) {
  await accounts(api)
  await stock(api)
  await packets(api)
  await coupons(api)
  await market(api)
}
