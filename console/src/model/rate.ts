// How often something happened, by the second.

/** Counts by second, over the last seconds only. */
export class Seconds {
  #counts = new Map<number, number>()

  constructor(private readonly spanMax: number) {}

  add(at: number, count = 1): void {
    const second = Math.floor(at / 1_000)
    this.#counts.set(second, (this.#counts.get(second) ?? 0) + count)
  }

  /** From the first second that had any, or as far as is kept, up to the one before `now`. */
  series(now: number): { x: number[]; y: number[] } {
    const end = Math.floor(now / 1_000)
    for (const second of this.#counts.keys()) {
      if (second < end - this.spanMax) this.#counts.delete(second)
    }
    if (this.#counts.size === 0) return { x: [], y: [] }
    const first = [...this.#counts.keys()].reduce((one, other) => Math.min(one, other), end)
    const begin = Math.max(end - this.spanMax, first - 1)
    const x = Array.from({ length: Math.max(0, end - begin) }, (_, at) => begin + at)
    return { x, y: x.map((second) => this.#counts.get(second) ?? 0) }
  }
}
