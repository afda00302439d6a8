// The events of a page: what happened before it was opened, and what happens while it is open.

import { onDestroy } from 'svelte'
import { follow, past, type FeedState, type Filter } from './live.ts'
import type { LogEvent } from './types.ts'

const LATEST_MAX = 200
/** How often what arrived is shown: people read no faster, and a list is costly to draw. */
export const SHOW_MS = 150

export class Feed {
  state: FeedState = $state('connecting')
  /** The latest first. */
  latest: LogEvent[] = $state.raw([])
  /** Whether the log could not be read from its beginning. */
  isCutOff = $state(false)
  #close: () => void = () => {}
  #aborter = new AbortController()
  #waiting: LogEvent[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    filter: Filter,
    private readonly taken: (batch: LogEvent[]) => void,
    hasPast: boolean,
  ) {
    void this.#begin(filter, hasPast)
  }

  async #begin(filter: Filter, hasPast: boolean): Promise<void> {
    let cursor: string | null = null
    if (hasPast) {
      const found = await past(filter, this.#aborter.signal).catch(() => ({ events: [], cursor: null }))
      if (this.#aborter.signal.aborted) return
      cursor = found.cursor
      this.isCutOff = cursor === null
      this.#take(found.events)
    }
    this.#close = follow(filter, { events: (batch) => this.#take(batch), state: (state) => (this.state = state) }, cursor)
  }

  /** Shows events together, however many arrive meanwhile. */
  #take(batch: LogEvent[]): void {
    for (const event of batch) this.#waiting.push(event)
    if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#show(), SHOW_MS)
  }

  #show(): void {
    this.#timer = undefined
    const batch = this.#waiting
    this.#waiting = []
    this.latest = [...batch.slice(-LATEST_MAX).reverse(), ...this.latest].slice(0, LATEST_MAX)
    this.taken(batch)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#aborter.abort()
    this.#close()
  }
}

/** Follows events for as long as the component is shown. */
export function feed(filter: Filter, taken: (batch: LogEvent[]) => void = () => {}, hasPast = true): Feed {
  const feed = new Feed(filter, taken, hasPast)
  onDestroy(() => feed.close())
  return feed
}
