// What a change of a live channel makes of what is known: see docs/reference/push.md.

export interface BookLevel {
  price: number
  quantity: number
  orders: number
}

export interface Book {
  bids: BookLevel[]
  asks: BookLevel[]
}

export type Changed = Record<string, unknown>

/** The fields that changed, over those that are known. */
export function withFields<T>(known: T | null, data: Changed, isWhole: boolean): T {
  return (isWhole || known === null ? data : { ...known, ...data }) as T
}

/** Levels with those that changed; a quantity of 0 takes one away. */
function levels(known: BookLevel[], changed: BookLevel[] | undefined, isBetter: (one: number, other: number) => boolean): BookLevel[] {
  if (!changed || changed.length === 0) return known
  const byPrice = new Map(known.map((level) => [level.price, level]))
  for (const level of changed) {
    if (level.quantity === 0) byPrice.delete(level.price)
    else byPrice.set(level.price, level)
  }
  return [...byPrice.values()].sort((one, other) => (isBetter(one.price, other.price) ? -1 : 1))
}

/** A book with the levels that changed. */
export function withLevels<T extends Book>(known: T | null, data: Changed, isWhole: boolean): T {
  if (isWhole || known === null) return data as unknown as T
  const changed = data as Partial<Book>
  return {
    ...known,
    bids: levels(known.bids, changed.bids, (one, other) => one > other),
    asks: levels(known.asks, changed.asks, (one, other) => one < other),
  }
}

/** How many of the last trades are kept. */
const TRADES_MAX = 100

export interface Numbered {
  trade: number
}

/** Trades, the latest first: those of a message have the same numbers as those that were asked for. */
export function withTrades<R extends Numbered>(known: { trades: R[] } | null, data: Changed): { trades: R[] } {
  const all = new Map<number, R>()
  for (const trade of [...(known?.trades ?? []), ...((data.trades as R[] | undefined) ?? [])]) all.set(trade.trade, trade)
  return { trades: [...all.values()].sort((one, other) => other.trade - one.trade).slice(0, TRADES_MAX) }
}
