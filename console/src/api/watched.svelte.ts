// A resource that is asked for again and again while its page is open.

import { onDestroy } from 'svelte'
import { ask, Unanswered, type Problem, type Request } from './http.ts'

const SOON_MS = 300

export class Watched<T> {
  value: T | null = $state.raw(null)
  problem: Problem | null = $state.raw(null)
  #timer: ReturnType<typeof setTimeout> | undefined
  #aborter = new AbortController()
  #isAsking = false
  #isWanted = false

  constructor(
    private readonly path: string,
    private readonly query: Request['query'],
    private readonly everyMs: number,
  ) {
    void this.refresh()
  }

  /** Asks now; once more if something happened meanwhile. */
  async refresh(): Promise<void> {
    clearTimeout(this.#timer)
    this.#isWanted = this.#isAsking
    if (this.#isAsking || this.#aborter.signal.aborted) return
    this.#isAsking = true
    try {
      const answer = await ask<T>(this.path, { query: this.query, signal: this.#aborter.signal })
      if (answer.ok) [this.value, this.problem] = [answer.body, null]
      else this.problem = answer.problem
    } catch (error) {
      // What was seen last stays, and the page says that it is old.
      if (!(error instanceof Unanswered) && !this.#aborter.signal.aborted) throw error
    } finally {
      this.#isAsking = false
      this.#later(this.#isWanted ? SOON_MS : this.everyMs)
    }
  }

  /** Asks shortly, however often this is called meanwhile. */
  soon(): void {
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
    this.#timer = setTimeout(() => void (document.hidden ? this.#later(this.everyMs) : this.refresh()), ms)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#aborter.abort()
  }
}

/** Watches for as long as the component is shown. */
export function watch<T>(path: string, query: Request['query'] = {}, everyMs = 2_000): Watched<T> {
  const watched = new Watched<T>(path, query, everyMs)
  onDestroy(() => watched.close())
  return watched
}
