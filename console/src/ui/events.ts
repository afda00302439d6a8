// Which resource an event is about.

import type { LogEvent } from '../api/types.ts'
import { to } from '../router.svelte.ts'

export interface Subject {
  page: string
  field: string
  name: string
}

/** The first field of an event is the id of its resource; what it is called says which kind it is. */
const PAGES: [field: string, page: string][] = [
  ['sku', 'stock'],
  ['account', 'accounts'],
  ['from', 'accounts'],
  ['campaign', 'packets'],
  ['coupon', 'coupons'],
  ['market', 'markets'],
]

export function subjectOf(event: LogEvent): Subject | null {
  for (const [field, page] of PAGES) {
    const name = event.fields[field]
    if (typeof name === 'string') return { page, field, name }
  }
  return null
}

export function linkOf(subject: Subject): string {
  return to(subject.page, subject.name)
}

/** A field that is a whole number. */
export function figure(event: LogEvent, field: string): number | null {
  const value = event.fields[field]
  return typeof value === 'number' ? value : null
}

export function word(event: LogEvent, field: string): string {
  const value = event.fields[field]
  return typeof value === 'string' ? value : ''
}
