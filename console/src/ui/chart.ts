// How charts look: uPlot's options from the colours of the theme.

import uPlot from 'uplot'
import { clock, figures } from '../i18n/index.ts'

export interface Series {
  label: string
  values: (number | null)[]
  /** The name of a colour in the style sheet. */
  color: string
  isStep?: boolean
  isBars?: boolean
  isFilled?: boolean
  isDashed?: boolean
  /** Only in the legend and in the table; something else draws it. */
  isHidden?: boolean
}

export interface Wanted {
  series: Series[]
  isTime: boolean
  xLabel: string
  isFromZero: boolean
  width: number
  height: number
  format: (value: number | null) => string
  draw?: ((plot: uPlot) => void) | undefined
}

/** A colour of the theme as the canvas takes it. */
export function color(name: string): string {
  const style = getComputedStyle(document.documentElement)
  const value = style.getPropertyValue(`--${name}`).trim()
  const referred = /^var\(--(.+)\)$/.exec(value)?.[1]
  return referred ? color(referred) : value || '#888888'
}

function pathsOf(series: Series): uPlot.Series.PathBuilder | undefined {
  if (series.isHidden) return () => null
  if (series.isBars) return uPlot.paths.bars?.({ size: [0.85, 60], align: 0 })
  if (series.isStep) return uPlot.paths.stepped?.({ align: 1 })
  return undefined
}

function seriesOf(series: Series, format: Wanted['format']): uPlot.Series {
  const paths = pathsOf(series)
  return {
    label: series.label,
    stroke: () => color(series.color),
    width: series.isHidden ? 0 : 1.5,
    points: { show: false },
    value: (_, value) => format(value ?? null),
    spanGaps: false,
    ...(paths ? { paths } : {}),
    ...(series.isDashed ? { dash: [6, 4] } : {}),
    ...(series.isFilled || series.isBars ? { fill: () => `${color(series.color)}33` } : {}),
  }
}

/** The distances of the lines of a time axis. */
const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400, 172_800, 604_800]

/** From the first to the last; bars and candles need room on both sides. */
function across(series: Series[], least: number | null, most: number | null): [number, number] {
  const low = least ?? 0
  // Of a single time the library makes a day.
  const high = series[0]?.values.length === 1 ? low : (most ?? 1)
  const bars = series.find((one) => one.isBars || one.isHidden)?.values.length ?? 0
  const margin = bars > 1 ? (high - low) / (bars - 1) / 2 : low === high ? 1 : 0
  return [low - margin, high + margin]
}

/** From zero up, or as high as the values are; never of no height. */
function bounds(isFromZero: boolean, least: number | null, most: number | null): [number, number] {
  const [low, high] = [least ?? 0, most ?? 1]
  if (isFromZero) return [Math.min(0, low), Math.max(1, high * 1.05)]
  const margin = Math.max(1, (high - low) * 0.08)
  return [low - margin, high + margin]
}

export function options({ series, isTime, xLabel, isFromZero, width, height, format, draw }: Wanted): uPlot.Options {
  const axis = (): uPlot.Axis => ({
    stroke: () => color('quiet'),
    grid: { stroke: () => color('line'), width: 0.5 },
    ticks: { stroke: () => color('line'), width: 0.5 },
  })
  return {
    width,
    height,
    scales: { x: { time: isTime, range: (_, least, most) => across(series, least, most) }, y: { range: (_, least, most) => bounds(isFromZero, least, most) } },
    axes: [
      { ...axis(), ...(isTime ? { incrs: SECONDS } : {}), space: 70, values: (_, values) => (isTime ? values.map((value) => clock(value * 1_000)) : figures(values)) },
      { ...axis(), size: 60, values: (_, values) => figures(values) },
    ],
    series: [{ label: xLabel, value: (_, value) => (isTime ? clock(value === null ? null : value * 1_000) : format(value)) }, ...series.map((one) => seriesOf(one, format))],
    legend: { show: series.length > 1 || draw !== undefined, live: true },
    cursor: { drag: { x: false, y: false } },
    hooks: draw ? { draw: [draw] } : {},
  }
}
