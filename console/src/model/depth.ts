// A book as a curve: how much could be traded up to each price.

import type { Depth, Level } from '../api/types.ts'

export interface Curve {
  prices: number[]
  bids: (number | null)[]
  asks: (number | null)[]
}

function summed(levels: Level[]): { price: number; sum: number }[] {
  let sum = 0
  return levels.map((level) => ({ price: level.price, sum: (sum += level.quantity) }))
}

export function curve(depth: Depth): Curve {
  const bids = summed(depth.bids).reverse()
  const asks = summed(depth.asks)
  return {
    prices: [...bids, ...asks].map((point) => point.price),
    bids: [...bids.map((point) => point.sum), ...asks.map(() => null)],
    asks: [...bids.map(() => null), ...asks.map((point) => point.sum)],
  }
}
