// When the last unit goes, if sales go on as they did lately.

export interface Point {
  at: number
  available: number
}

/** Over how long the pace is taken, in milliseconds. */
const PACE_MS = 10_000

export interface Projection {
  /** Units per second. */
  pace: number
  /** When none is left; null if none goes at present. */
  at: number | null
}

/** Projects the last points, the oldest first. */
export function project(points: Point[], now: number): Projection {
  const last = points.at(-1)
  if (!last) return { pace: 0, at: null }
  const since = now - PACE_MS
  // What was available at the beginning of the span is what the last point before it says.
  const before = points.findLast((point) => point.at <= since) ?? points[0] ?? last
  const span = now - Math.max(since, before.at)
  if (span <= 0) return { pace: 0, at: null }
  const pace = ((before.available - last.available) * 1_000) / span
  if (pace <= 0 || last.available === 0) return { pace: Math.max(0, pace), at: null }
  return { pace, at: now + (last.available / pace) * 1_000 }
}

/** Leaves out points where there are more than `max`: of each short span the last one stays, and the first of all. */
export function thinned(points: Point[], max: number): Point[] {
  const first = points[0]
  const last = points.at(-1)
  if (points.length <= max || !first || !last) return points
  const width = Math.max(1, ((last.at - first.at) * 2) / max)
  const span = (point: Point | undefined) => (point ? Math.floor((point.at - first.at) / width) : -1)
  return points.filter((point, index) => index === 0 || span(point) !== span(points[index + 1]))
}
