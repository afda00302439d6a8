// An address with a query.

export type Query = Record<string, string | number | boolean | null | undefined>

/** The path with what is given of the query. */
export function address(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const words = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return words.size === 0 ? path : `${path}?${words}`
}
