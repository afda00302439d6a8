// Live data: what happens to resources, as it happens. Pages know only `follow` and `past`, so that another transport
// can take the place of the stream of events.

import { session } from '../session.svelte.ts'
import { address } from './address.ts'
import { ask, headers, problemOf } from './http.ts'
import { messages, type Message } from './messages.ts'
import type { EventPage, Kind, LogEvent } from './types.ts'

export interface Filter {
  kind?: Kind
  resource?: string
  name?: string
}

/** live: all events arrive. sampled: too many to show them all. forbidden: the key may not read events. */
export type FeedState = 'connecting' | 'live' | 'sampled' | 'retrying' | 'forbidden'

export interface Sink {
  /** Events that arrived together, the oldest first. */
  events(batch: LogEvent[]): void
  state(state: FeedState): void
}

/** More than so many events in a second are not read any more: the page asks for the figures instead. */
const EVENTS_PER_SECOND_MAX = 1_000
const SAMPLE_PAUSE_MS = 2_000
const RETRY_MS_MIN = 300
const RETRY_MS_MAX = 5_000

class Feed {
  readonly #aborter = new AbortController()
  #cursor: string | null
  #retries = 0
  #second = { from: 0, events: 0 }

  constructor(
    private readonly filter: Filter,
    private readonly sink: Sink,
    cursor: string | null,
  ) {
    this.#cursor = cursor
    void this.#run()
  }

  close(): void {
    this.#aborter.abort()
  }

  get #isClosed(): boolean {
    return this.#aborter.signal.aborted
  }

  async #run(): Promise<void> {
    this.sink.state('connecting')
    while (!this.#isClosed) {
      const next = await this.#connect().catch(() => 'retry' as const)
      if (this.#isClosed || next === 'stop') return
      if (next === 'sample') {
        this.sink.state('sampled')
        this.#cursor = null
        await this.#pause(SAMPLE_PAUSE_MS)
      } else {
        this.sink.state('retrying')
        this.#retries += 1
        await this.#pause(Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** this.#retries) * (0.5 + Math.random() / 2))
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#aborter.signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
    })
  }

  async #connect(): Promise<'stop' | 'sample' | 'retry'> {
    const key = session.key
    const where = this.#cursor === null ? { from: 'now' } : { cursor: this.#cursor }
    const response = await fetch(address('/v1/events', { ...this.filter, ...where }), {
      headers: headers({ Accept: 'text/event-stream' }),
      cache: 'no-store',
      credentials: 'omit',
      signal: this.#aborter.signal,
    })
    if (!response.ok || !response.body) return this.#refused(response, key)
    session.isReachable = true
    if (this.#second.events <= EVENTS_PER_SECOND_MAX) this.sink.state('live')
    return this.#read(response.body)
  }

  async #refused(response: Response, key: string | null): Promise<'stop' | 'retry'> {
    const problem = await problemOf(response)
    if (response.status === 401) {
      session.refuse(key)
      return 'stop'
    }
    if (problem.code === 'FORBIDDEN') {
      this.sink.state('forbidden')
      return 'stop'
    }
    // The log does not reach back to the cursor any more, or is of another history: go on from now.
    if (response.status === 410 || response.status === 400) this.#cursor = null
    return 'retry'
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<'sample' | 'retry'> {
    const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
    let text = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return 'retry'
      this.#retries = 0
      const { whole, rest } = messages(text + value)
      text = rest
      const batch = this.#taken(whole.slice(-EVENTS_PER_SECOND_MAX))
      if (batch.length > 0) this.sink.events(batch)
      if (this.#isTooFast(batch.length)) {
        await reader.cancel()
        return 'sample'
      }
    }
  }

  #taken(whole: Message[]): LogEvent[] {
    const batch: LogEvent[] = []
    for (const message of whole) {
      if (message.id) this.#cursor = message.id
      if (message.event === 'problem') this.#cursor = (JSON.parse(message.data) as { cursor?: string }).cursor ?? this.#cursor
      else if (message.data) {
        const event = JSON.parse(message.data) as LogEvent
        if (typeof event.name === 'string') batch.push(event)
      }
    }
    return batch
  }

  #isTooFast(count: number): boolean {
    const now = performance.now()
    if (now - this.#second.from > 1_000) this.#second = { from: now, events: 0 }
    this.#second.events += count
    return this.#second.events > EVENTS_PER_SECOND_MAX
  }
}

/** Follows what happens from a cursor on, or from now on. Returns how to end it. */
export function follow(filter: Filter, sink: Sink, cursor: string | null = null): () => void {
  const feed = new Feed(filter, sink, cursor)
  return () => feed.close()
}

export interface Past {
  events: LogEvent[]
  /** Where `follow` goes on without a gap; null if the log is too long to be read here, or may not be read. */
  cursor: string | null
}

/** How many pages of the log are read at most: a page looks at up to 10 000 events. */
const PAST_PAGES_MAX = 10

/** What happened to a resource, if the log is short enough to be read from its beginning. */
export async function past(filter: Filter, signal: AbortSignal): Promise<Past> {
  const events: LogEvent[] = []
  let cursor: string | null = null
  for (let page = 0; page < PAST_PAGES_MAX; page += 1) {
    const where: Record<string, string> = cursor === null ? { from: 'oldest' } : { cursor }
    const answer = await ask<EventPage>('/v1/events', { query: { ...filter, ...where, limit: 1000 }, signal })
    if (!answer.ok) return { events: [], cursor: null }
    events.push(...answer.body.events)
    cursor = answer.body.cursor
    if (!answer.body.has_more) return { events, cursor }
  }
  return { events, cursor: null }
}
