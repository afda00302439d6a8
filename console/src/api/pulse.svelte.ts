// The figures of the server over the last minutes, read once a second while the console is open.

import { session } from '../session.svelte.ts'
import { askText, Unanswered } from './http.ts'
import { by, growth, max, parse, quantile, sum, type Metrics } from './metrics.ts'
import { parse as parseReadiness, type Readiness } from './readiness.ts'

const EVERY_MS = 1_000
const READY_EVERY = 3
const POINTS_MAX = 300

export interface Point {
  /** In seconds. */
  at: number
  applied: number
  refused: number
  half: number | null
  slowest: number | null
  sync: number | null
}

/** Commands by a label, without those with which the server checks its own health. */
function counted(metrics: Metrics, label: string): Map<string, number> {
  const samples = metrics.get('scarce_operations_total') ?? []
  return by(new Map([['of', samples.filter((sample) => sample.labels.command !== 'OPERATION.GET')]]), 'of', label)
}

class Pulse {
  metrics: Metrics | null = $state.raw(null)
  points: Point[] = $state.raw([])
  /** Refusals and commands in the last second. */
  refusals: Map<string, number> = $state.raw(new Map())
  commands: Map<string, number> = $state.raw(new Map())
  readiness: Readiness | null = $state.raw(null)
  isForbidden = $state(false)
  #before: { metrics: Metrics; at: number } | null = null
  #timer: ReturnType<typeof setTimeout> | undefined
  #turn = 0

  start(): void {
    if (this.#timer === undefined) void this.#tick()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#before = null
    this.isForbidden = false
  }

  async #tick(): Promise<void> {
    this.#timer = setTimeout(() => void this.#tick(), EVERY_MS)
    if (document.hidden || session.admission !== 'admitted') return
    try {
      if (this.#turn++ % READY_EVERY === 0) await this.#askReadiness()
      if (!this.isForbidden) await this.#askMetrics()
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
    }
  }

  async #askReadiness(): Promise<void> {
    const { status, text } = await askText('/readyz', { query: { verbose: 'true' } })
    this.readiness = parseReadiness(text, status)
  }

  async #askMetrics(): Promise<void> {
    const { status, text } = await askText('/metrics')
    this.isForbidden = status === 403
    if (status !== 200) return
    const after = { metrics: parse(text), at: performance.now() }
    if (this.#before) this.#compare(this.#before, after)
    this.#before = after
    this.metrics = after.metrics
  }

  #compare(before: { metrics: Metrics; at: number }, after: { metrics: Metrics; at: number }): void {
    const seconds = Math.max(0.001, (after.at - before.at) / 1_000)
    const rates = (label: string) => {
      const grown = growth(counted(before.metrics, label), counted(after.metrics, label))
      return new Map([...grown].map(([key, count]) => [key, count / seconds]))
    }
    const outcomes = rates('outcome')
    const applied = outcomes.get('APPLIED') ?? 0
    outcomes.delete('APPLIED')
    const refused = [...outcomes.values()].reduce((total, rate) => total + rate, 0)
    const of = (name: string, share: number) => quantile(before.metrics, after.metrics, name, share)
    const point: Point = {
      at: session.now() / 1_000,
      applied,
      refused,
      half: of('scarce_commit_duration_seconds', 0.5),
      slowest: of('scarce_commit_duration_seconds', 0.99),
      sync: of('scarce_journal_sync_seconds', 0.5),
    }
    this.points = [...this.points, point].slice(-POINTS_MAX)
    this.refusals = outcomes
    this.commands = rates('command')
  }

  sum(name: string, labels: Record<string, string> = {}): number | null {
    return this.metrics && sum(this.metrics, name, labels)
  }

  max(name: string): number | null {
    return this.metrics && max(this.metrics, name)
  }

  /** Commands since the start. */
  counted(label: string): Map<string, number> {
    return this.metrics ? counted(this.metrics, label) : new Map()
  }

  by(name: string, label: string): Map<string, number> {
    return this.metrics ? by(this.metrics, name, label) : new Map()
  }
}

export const pulse = new Pulse()
