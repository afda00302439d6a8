// What the server says of resources.

export type Kind = 'account' | 'stock' | 'campaign' | 'coupon' | 'market'

export interface Account {
  account: string
  asset: string
  balance: number
  held: number
  available: number
  overdraft: number
  status: string
}

export interface Hold {
  hold: string
  amount: number
  status: string
  deadline: number | null
}

export interface Stock {
  sku: string
  total: number
  available: number
  reserved: number
  sold: number
  returned: number
  per_owner_max: number | null
  starts_at: number | null
  ends_at: number | null
  status: string
}

export interface Campaign {
  campaign: string
  asset: string
  count: number
  total: number
  claimed_count: number
  claimed_amount: number
  starts_at: number | null
  ends_at: number | null
  status: string
  commitment: string | null
  seed: string | null
}

export interface PacketClaim {
  user: string
  packet: number
  amount: number
  at: number
}

export interface Limit {
  name: string
  max: number
  per: string[]
  window?: string
  window_ms?: number
  offset_minutes?: number
}

export interface Coupon {
  coupon: string
  status: string
  claimed: number
  starts_at: number | null
  ends_at: number | null
  claim_ttl_ms: number | null
  limits: Limit[]
}

export interface Market {
  market: string
  status: string
  tick: number
  lot: number
  min_quantity: number
  max_quantity: number
  best_bid: number | null
  best_ask: number | null
  orders: number
  trades: number
}

export interface Level {
  price: number
  quantity: number
  orders: number
}

export interface Depth {
  bids: Level[]
  asks: Level[]
  sequence: number
}

export interface Trade {
  trade: number
  price: number
  quantity: number
  taker_side: string
  at: number
}

export interface LogEvent {
  partition: number
  epoch: number
  sequence: number
  at: number
  namespace: string | null
  operation: string | null
  name: string
  fields: Record<string, unknown>
  outcome: { code: string; facts: unknown[] } | null
}

export interface EventPage {
  events: LogEvent[]
  cursor: string
  has_more: boolean
}

export interface HistoryPage {
  rows: Record<string, unknown>[]
  cursor: string | null
  has_more: boolean
}

/** The kinds in the order of the menu: their path, the field with their name, and the field with the rows of a list. */
export const KINDS: { kind: Kind; page: string; path: string; id: string; rows: string }[] = [
  { kind: 'stock', page: 'stock', path: '/v1/stock', id: 'sku', rows: 'items' },
  { kind: 'account', page: 'accounts', path: '/v1/accounts', id: 'account', rows: 'accounts' },
  { kind: 'campaign', page: 'packets', path: '/v1/packets', id: 'campaign', rows: 'campaigns' },
  { kind: 'coupon', page: 'coupons', path: '/v1/coupons', id: 'coupon', rows: 'coupons' },
  { kind: 'market', page: 'markets', path: '/v1/markets', id: 'market', rows: 'markets' },
]

/** A resource's path, with its name encoded. */
export function pathOf(kind: Kind, name: string): string {
  const row = KINDS.find((row) => row.kind === kind)
  return `${row?.path ?? ''}/${encodeURIComponent(name)}`
}
