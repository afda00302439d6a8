// How amounts are spread.

export interface Bucket {
  from: number
  through: number
  count: number
}

/** Buckets of equal width with whole bounds; as many as `bucketsMax`, or fewer. */
export function histogram(amounts: number[], bucketsMax: number): Bucket[] {
  if (amounts.length === 0) return []
  const least = amounts.reduce((one, other) => Math.min(one, other))
  const most = amounts.reduce((one, other) => Math.max(one, other))
  const width = Math.max(1, Math.ceil((most - least + 1) / bucketsMax))
  const buckets = Array.from({ length: Math.ceil((most - least + 1) / width) }, (_, at) => ({
    from: least + at * width,
    through: Math.min(most, least + (at + 1) * width - 1),
    count: 0,
  }))
  for (const amount of amounts) {
    const bucket = buckets[Math.floor((amount - least) / width)]
    if (bucket) bucket.count += 1
  }
  return buckets
}
