// A list of the server that is walked through a page at a time.

import { onDestroy } from 'svelte'
import { ask, Unanswered, type Problem, type Request } from './http.ts'

interface Body {
  has_more: boolean
  cursor: string | null
}

export class Paged<Row> {
  rows: Row[] = $state.raw([])
  problem: Problem | null = $state.raw(null)
  isLoading = $state(true)
  hasMore = $state(false)
  /** The cursors of the pages up to this one. */
  #cursors: (string | null)[] = $state([null])
  #next: string | null = null
  #turn = 0
  #isOver = false

  constructor(
    private readonly path: string,
    private readonly list: string,
    private query: Request['query'],
  ) {
    void this.refresh()
    onDestroy(() => (this.#isOver = true))
  }

  get page(): number {
    return this.#cursors.length
  }

  /** Begins anew with other filters. */
  filter(query: Request['query']): void {
    this.query = query
    this.#cursors = [null]
    void this.refresh()
  }

  next(): void {
    this.#cursors = [...this.#cursors, this.#next]
    void this.refresh()
  }

  back(): void {
    this.#cursors = this.#cursors.slice(0, -1)
    void this.refresh()
  }

  async refresh(): Promise<void> {
    const turn = ++this.#turn
    this.isLoading = true
    try {
      const answer = await ask<Body & Record<string, unknown>>(this.path, { query: { ...this.query, cursor: this.#cursors.at(-1) ?? null } })
      // An answer that was overtaken by another one, or by another page.
      if (turn !== this.#turn || this.#isOver) return
      this.problem = answer.ok ? null : answer.problem
      this.rows = answer.ok ? ((answer.body[this.list] ?? []) as Row[]) : []
      this.hasMore = answer.ok && answer.body.has_more
      this.#next = answer.ok ? answer.body.cursor : null
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
    } finally {
      if (turn === this.#turn) this.isLoading = false
    }
  }
}
