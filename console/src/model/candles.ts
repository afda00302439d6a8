// Candles from trades.

export interface Traded {
  at: number
  price: number
  quantity: number
}

export interface Candle {
  /** When its span began, in milliseconds. */
  at: number
  open: number
  high: number
  low: number
  close: number
  volume: number
}

/** The candles of trades, the oldest first; spans without a trade have none. */
export function candles(trades: Traded[], spanMs: number): Candle[] {
  const found: Candle[] = []
  for (const { at, price, quantity } of trades) {
    const begin = at - (at % spanMs)
    const last = found.at(-1)
    if (last && last.at >= begin) {
      last.high = Math.max(last.high, price)
      last.low = Math.min(last.low, price)
      last.close = price
      last.volume += quantity
    } else {
      found.push({ at: begin, open: price, high: price, low: price, close: price, volume: quantity })
    }
  }
  return found
}

/** The shortest span of these that gives no more candles than fit. */
export function spanFor(trades: Traded[], candlesMax: number): number {
  const spans = [1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 14_400_000, 86_400_000]
  const covered = (trades.at(-1)?.at ?? 0) - (trades[0]?.at ?? 0)
  return spans.find((span) => covered / span <= candlesMax) ?? 86_400_000
}
