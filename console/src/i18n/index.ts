// Texts, numbers and times in the language of the reader.

import { preferences } from '../preferences.svelte.ts'
import { en, type Texts, type Word } from './en.ts'
import { names, type Name } from './names.ts'
import { zh } from './zh.ts'

export type { Word }

const TEXTS: Record<string, Texts> = { en, zh }

/** A text with its blanks filled. */
export function t(word: Word, blanks: Record<string, string | number> = {}): string {
  const text = TEXTS[preferences.language]?.[word] ?? en[word]
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(blanks[name] ?? whole))
}

function named(name: string, otherwise: string): string {
  const row = name in names ? names[name as Name] : undefined
  return row?.[preferences.language === 'zh' ? 1 : 0] ?? otherwise
}

/** The name of a column. */
export function column(name: string): string {
  return named(`column.${name}`, name)
}

/** What a command does, in a word. */
export function deed(command: string): string {
  return named(`act.${command.split('.').at(-1) ?? ''}`, command)
}

/** A status as people say it. */
export function statusName(status: string): string {
  return named(`status.${status}`, status)
}

function locale(): string {
  return preferences.language === 'zh' ? 'zh-CN' : 'en-GB'
}

/** A number with its digits grouped; a dash where there is none. */
export function number(value: number | null | undefined, digits = 0): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–'
  return value.toLocaleString(locale(), { maximumFractionDigits: digits })
}

function short(value: number): string {
  return value.toLocaleString(locale(), { notation: 'compact', maximumFractionDigits: 1 })
}

/** The figures of an axis: in few characters, unless they are too close together for that. */
export function figures(values: number[]): string[] {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return values.map((value) => (most - least < most / 4 || most < 10 ? number(value, 2) : short(value)))
}

export function percent(share: number | null): string {
  return share === null ? '–' : share.toLocaleString(locale(), { style: 'percent', maximumFractionDigits: 1 })
}

/** A duration given in seconds. */
export function duration(seconds: number | null): string {
  if (seconds === null) return '–'
  if (seconds < 0.001) return `${number(seconds * 1e6)} µs`
  if (seconds < 1) return `${number(seconds * 1e3, seconds < 0.01 ? 2 : 0)} ms`
  if (seconds < 120) return `${number(seconds, seconds < 10 ? 1 : 0)} s`
  if (seconds < 7_200) return `${number(Math.round(seconds / 60))} min`
  if (seconds < 172_800) return `${number(seconds / 3_600, 1)} h`
  return `${number(seconds / 86_400, 1)} d`
}

export function bytes(value: number | null): string {
  return value === null ? '–' : `${number(value / 2 ** 20)} MiB`
}

/** A time of the day. */
export function clock(at: number | null): string {
  return at === null ? '–' : new Date(at).toLocaleTimeString(locale(), { hour12: false })
}

/** A moment, with the date where it is not today. */
export function moment(at: number | null | undefined): string {
  if (at === null || at === undefined) return '–'
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return String(at)
  const time = clock(at)
  return date.toDateString() === new Date().toDateString() ? time : `${date.toLocaleDateString(locale())} ${time}`
}
