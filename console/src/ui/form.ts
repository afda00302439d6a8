// What is typed into a form, and the values that it stands for.

import type { Json } from '../api/http.ts'
import type { Field, Schema } from '../api/command.ts'
import type { Word } from '../i18n/en.ts'

export type Draft = string | boolean | Draft[] | { [name: string]: Draft }

/** Why what was typed is no value. */
export interface Wrong {
  path: string
  word: Word
  blanks: Record<string, string | number>
}

/** Under this name an object keeps what it has besides its known members. */
export const MORE = '+'

/** An empty form. */
export function blank(schema: Schema): Draft {
  if (schema.type === 'boolean') return false
  if (schema.type === 'array' && schema.items?.type === 'object') return []
  if (schema.type !== 'object') return ''
  const known = Object.entries(schema.properties ?? {}).map(([name, its]) => [name, blank(its)] as const)
  const more = typeof schema.additionalProperties === 'object' ? [[MORE, [] as Draft[]] as const] : []
  return Object.fromEntries([...known, ...more])
}

/** A form with a value in it. */
export function draftOf(schema: Schema, value: Json | undefined): Draft {
  if (value === undefined || value === null) return blank(schema)
  if (typeof value === 'boolean') return value
  if (Array.isArray(value) && schema.items?.type === 'object') return value.map((one) => draftOf(schema.items ?? {}, one))
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value !== 'object') return String(value)
  const known = Object.entries(schema.properties ?? {}).map(([name, its]) => [name, draftOf(its, value[name])] as const)
  return Object.fromEntries(known)
}

/** Whether a field takes a moment, which people give as date and time. */
export function takesMoment(name: string): boolean {
  return name.endsWith('_at')
}

function isBlank(draft: Draft): boolean {
  if (typeof draft === 'string') return draft.trim() === ''
  if (typeof draft === 'boolean') return !draft
  return Object.values(draft).every(isBlank)
}

/** The values of a form, and what is wrong with it. */
export function valuesOf(fields: Field[], drafts: Record<string, Draft>): { values: { [name: string]: Json | undefined }; wrong: Wrong[] } {
  const wrong: Wrong[] = []
  const values = fields.map(({ name, schema, isRequired }) => [name, valueOf(schema, drafts[name] ?? '', isRequired, name, wrong)] as const)
  return { values: Object.fromEntries(values), wrong }
}

function valueOf(schema: Schema, draft: Draft, isRequired: boolean, path: string, wrong: Wrong[]): Json | undefined {
  if (isBlank(draft)) {
    if (isRequired && schema.type !== 'boolean') wrong.push({ path, word: 'form.required', blanks: {} })
    return undefined
  }
  if (typeof draft === 'boolean') return draft
  if (Array.isArray(draft)) return draft.map((one, at) => valueOf(schema.items ?? {}, one, true, `${path}.${at}`, wrong) ?? null)
  if (typeof draft === 'object') return objectOf(schema, draft, path, wrong)
  const typed = draft.trim()
  if (schema.type === 'array') {
    const words = typed.split(/[\s,，]+/).filter((word) => word !== '')
    return words.map((word) => single(schema.items ?? {}, word, path, wrong) ?? null)
  }
  return single(schema, typed, path, wrong)
}

function objectOf(schema: Schema, draft: { [name: string]: Draft }, path: string, wrong: Wrong[]): Json {
  const known = Object.entries(schema.properties ?? {}).map(([name, its]) => {
    const value = valueOf(its, draft[name] ?? '', schema.required?.includes(name) === true, `${path}.${name}`, wrong)
    return [name, value] as const
  })
  const more = (draft[MORE] as { name: string; value: string }[] | undefined) ?? []
  const rest = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {}
  const others = more.filter((one) => one.name.trim() !== '').map((one) => [one.name.trim(), single(rest, one.value.trim(), `${path}.${MORE}`, wrong)] as const)
  return Object.fromEntries([...known, ...others].filter(([, value]) => value !== undefined))
}

function single(schema: Schema, typed: string, path: string, wrong: Wrong[]): Json | undefined {
  const is = (word: Word, blanks: Wrong['blanks'] = {}) => void wrong.push({ path, word, blanks })
  if (schema.type === 'integer') {
    if (takesMoment(path) && typed.includes('T')) return moment(typed) ?? is('form.time')
    if (!/^-?\d+$/.test(typed)) return is('form.integer')
    const [least, most] = [schema.minimum ?? -Number.MAX_SAFE_INTEGER, schema.maximum ?? Number.MAX_SAFE_INTEGER]
    const value = Number(typed)
    return value < least || value > most ? is('form.range', { min: least, max: most }) : value
  }
  if (schema.maxLength && typed.length > schema.maxLength) return is('form.long', { max: schema.maxLength })
  if (schema.pattern && !new RegExp(schema.pattern, 'u').test(typed)) return is('form.pattern')
  return typed
}

function moment(typed: string): number | undefined {
  const at = new Date(typed).getTime()
  return Number.isNaN(at) ? undefined : at
}
