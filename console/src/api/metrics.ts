// The text of /metrics, and what two of them in a row say.

export interface Sample {
  labels: Record<string, string>
  value: number
}

export type Metrics = Map<string, Sample[]>

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** Reads the text; lines that are no samples are comments. */
export function parse(text: string): Metrics {
  const metrics: Metrics = new Map()
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = (!line.startsWith('#') && LINE.exec(line)) || []
    if (!name || !value) continue
    const named = [...labels.matchAll(LABEL)].map(([, label = '', text = '']) => [label, text.replace(/\\(.)/g, '$1')] as const)
    const samples = metrics.get(name) ?? []
    samples.push({ labels: Object.fromEntries(named), value: Number(value) })
    metrics.set(name, samples)
  }
  return metrics
}

export function sum(metrics: Metrics, name: string, labels: Record<string, string> = {}): number | null {
  const found = metrics.get(name)?.filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
  return found && found.length > 0 ? found.reduce((total, sample) => total + sample.value, 0) : null
}

export function max(metrics: Metrics, name: string): number | null {
  const found = metrics.get(name)
  return found && found.length > 0 ? Math.max(...found.map((sample) => sample.value)) : null
}

/** The sums by one label. */
export function by(metrics: Metrics, name: string, label: string): Map<string, number> {
  const sums = new Map<string, number>()
  for (const sample of metrics.get(name) ?? []) {
    const key = sample.labels[label] ?? ''
    sums.set(key, (sums.get(key) ?? 0) + sample.value)
  }
  return sums
}

/** How much each sum grew. A counter that fell began anew. */
export function growth(before: Map<string, number>, after: Map<string, number>): Map<string, number> {
  return new Map([...after].map(([key, value]) => [key, value - Math.min(before.get(key) ?? 0, value)]))
}

/** The bound below which a share of the durations between two samples is, in seconds; null without any. */
export function quantile(before: Metrics, after: Metrics, name: string, share: number): number | null {
  const buckets = [...growth(by(before, `${name}_bucket`, 'le'), by(after, `${name}_bucket`, 'le'))]
    .map(([bound, count]) => ({ bound: bound === '+Inf' ? Infinity : Number(bound), count }))
    .sort((one, other) => one.bound - other.bound)
  const total = buckets.at(-1)?.count ?? 0
  if (total === 0) return null
  const wanted = total * share
  let [lower, below] = [0, 0]
  for (const { bound, count } of buckets) {
    if (count >= wanted) {
      if (bound === Infinity) return lower
      return lower + ((bound - lower) * (wanted - below)) / Math.max(1, count - below)
    }
    lower = bound
    below = count
  }
  return lower
}
