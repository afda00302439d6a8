// A resource that is followed while its page is open: over its live channel where it has one, else asked for again and again.

import { onDestroy } from 'svelte'
import { withFields, type Changed } from '../model/merge.ts'
import { channels } from './channels.ts'
import { ask, Unanswered, type Problem, type Request } from './http.ts'

const SOON_MS = 300
/** How often what arrived is shown: people read no faster. */
const SHOW_MS = 100
/** What changes by time alone is in no message, so it is asked for now and then all the same. */
const LIVE_EVERY_MS = 15_000

/** The channel of a resource, and what a message of it makes of what is known. */
export interface Live<T> {
  channel: string
  merge: (known: T | null, data: Changed, isWhole: boolean) => T
  /** Whether the whole of the channel is less than what is asked for, so that an answer adds to it. */
  isPart?: boolean
}

export class Watched<T> {
  value: T | null = $state.raw(null)
  problem: Problem | null = $state.raw(null)
  /** Whether changes arrive by themselves. */
  isLive = $state(false)
  #timer: ReturnType<typeof setTimeout> | undefined
  #aborter = new AbortController()
  #isAsking = false
  #isWanted = false
  #known: T | null = null
  #messages = 0
  #showTimer: ReturnType<typeof setTimeout> | undefined
  #leave: () => void = () => {}

  constructor(
    private readonly path: string,
    private readonly query: Request['query'],
    private readonly everyMs: number,
    private readonly live: Live<T> | null = null,
  ) {
    void this.refresh()
    if (live) this.#leave = this.#follow(live)
  }

  #follow({ channel, merge }: Live<T>): () => void {
    return channels.follow(channel, {
      take: (data, isWhole) => {
        // There is none yet: the answer to a request says so in words.
        if (data === null) return void this.refresh()
        this.#messages += 1
        this.#known = merge(this.#known, data, isWhole)
        this.#showTimer ??= setTimeout(() => this.#show(), SHOW_MS)
      },
      live: (isLive) => {
        this.isLive = isLive
        if (!isLive) this.soon()
      },
    })
  }

  #show(): void {
    this.#showTimer = undefined
    if (this.#known !== null) [this.value, this.problem] = [this.#known, null]
  }

  /** Asks now; once more if something happened meanwhile. */
  async refresh(): Promise<void> {
    clearTimeout(this.#timer)
    this.#isWanted = this.#isAsking
    if (this.#isAsking || this.#aborter.signal.aborted) return
    this.#isAsking = true
    const messages = this.#messages
    try {
      const answer = await ask<T>(this.path, { query: this.query, signal: this.#aborter.signal })
      // What arrived meanwhile is newer than the answer.
      if (answer.ok && this.live?.isPart) this.#answered(this.live.merge(this.#known, answer.body as Changed, false))
      else if (answer.ok && messages === this.#messages) this.#answered(answer.body)
      else if (answer.ok) this.problem = null
      else if (!answer.ok) this.problem = answer.problem
    } catch (error) {
      // What was seen last stays, and the page says that it is old.
      if (!(error instanceof Unanswered) && !this.#aborter.signal.aborted) throw error
    } finally {
      this.#isAsking = false
      this.#later(this.#isWanted ? SOON_MS : this.#pauseMs)
    }
  }

  #answered(body: T): void {
    this.#known = body
    ;[this.value, this.problem] = [body, null]
  }

  get #pauseMs(): number {
    return this.isLive ? Math.max(this.everyMs, LIVE_EVERY_MS) : this.everyMs
  }

  /** Asks shortly, however often this is called meanwhile; not where changes arrive by themselves. */
  soon(): void {
    if (this.isLive) return
    if (this.#isAsking) this.#isWanted = true
    else this.#later(SOON_MS)
  }

  #dueAt = Infinity

  #later(ms: number): void {
    const at = performance.now() + ms
    if (ms === SOON_MS && this.#dueAt <= at && this.#dueAt > performance.now()) return
    clearTimeout(this.#timer)
    if (this.#aborter.signal.aborted) return
    this.#dueAt = at
    this.#timer = setTimeout(() => void (document.hidden ? this.#later(this.#pauseMs) : this.refresh()), ms)
  }

  close(): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#showTimer)
    this.#aborter.abort()
    this.#leave()
  }
}

/** Watches for as long as the component is shown. */
export function watch<T>(path: string, query: Request['query'] = {}, everyMs = 2_000, live: Live<T> | null = null): Watched<T> {
  const watched = new Watched<T>(path, query, everyMs, live)
  onDestroy(() => watched.close())
  return watched
}

/** Watches a resource whose channel has the fields that changed. */
export function watchFields<T>(path: string, channel: string): Watched<T> {
  return watch<T>(path, {}, 2_000, { channel, merge: withFields })
}
