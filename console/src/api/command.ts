// A command as the server's description has it, and the request and the words that it is sent as.

import type { Fields, Request } from './http.ts'

export interface Schema {
  type?: string | string[]
  enum?: (string | null)[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  anyOf?: Schema[]
  $ref?: string
  description?: string
  minimum?: number
  maximum?: number
  pattern?: string
  maxLength?: number
}

export interface Field {
  name: string
  place: 'path' | 'query' | 'body'
  isRequired: boolean
  schema: Schema
  description: string
}

/** An argument as the RESP port takes it. */
export interface Argument {
  name: string
  token: string | null
  fields: string[]
}

export interface Command {
  name: string
  method: string
  path: string
  summary: string
  isWrite: boolean
  fields: Field[]
  arguments: Argument[]
  refusals: string[]
}

interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Schema
  $ref?: string
}

interface Operation {
  summary: string
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  'x-command'?: string
  'x-refusals'?: string[]
  'x-arguments'?: Argument[]
}

export interface Description {
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** A schema with its references resolved, and without null: what is left out is null. */
export function resolved(schema: Schema, all: Record<string, Schema>): Schema {
  const name = schema.$ref?.split('/').at(-1)
  const target: Schema = name ? { ...all[name], ...(schema.description ? { description: schema.description } : {}) } : schema
  const first = target.anyOf?.find((one) => one.type !== 'null')
  if (first) return { ...resolved(first, all), ...(target.description ? { description: target.description } : {}) }
  const plain: Schema = { ...target }
  if (Array.isArray(plain.type)) plain.type = plain.type.find((type) => type !== 'null') ?? 'string'
  if (plain.enum) plain.enum = plain.enum.filter((word) => word !== null)
  if (plain.items) plain.items = resolved(plain.items, all)
  if (plain.properties) {
    plain.properties = Object.fromEntries(Object.entries(plain.properties).map(([name, its]) => [name, resolved(its, all)]))
  }
  if (typeof plain.additionalProperties === 'object') plain.additionalProperties = resolved(plain.additionalProperties, all)
  return plain
}

function fieldsOf(operation: Operation, all: Record<string, Schema>): Field[] {
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path' || parameter.in === 'query')
  const fields: Field[] = parameters.map((parameter) => ({
    name: parameter.name,
    place: parameter.in === 'path' ? 'path' : 'query',
    isRequired: parameter.required === true,
    schema: resolved(parameter.schema, all),
    description: parameter.description ?? '',
  }))
  const body = operation.requestBody && resolved(operation.requestBody.content['application/json'].schema, all)
  for (const [name, schema] of membersOf(body ?? {})) {
    const isRequired = body?.required?.includes(name) === true
    fields.push({ name, place: 'body', isRequired, schema, description: schema.description ?? '' })
  }
  return inOrder(fields, operation['x-arguments'] ?? [])
}

/** The fields in the order of the command's arguments; what is no argument comes last. */
function inOrder(fields: Field[], all: Argument[]): Field[] {
  const order = all.flatMap((argument) => argument.fields)
  const place = (field: Field) => (order.includes(field.name) ? order.indexOf(field.name) : order.length)
  return fields.sort((one, other) => place(one) - place(other))
}

/** The members of an object: those that it needs come first, in the order in which it names them. */
export function membersOf(schema: Schema): [string, Schema][] {
  const needed = schema.required ?? []
  const place = ([name]: [string, Schema]) => (needed.includes(name) ? needed.indexOf(name) : needed.length)
  return Object.entries(schema.properties ?? {}).sort((one, other) => place(one) - place(other))
}

/** The commands in the order of the description, which is that of their paths. */
export function commandsOf(description: Description): Command[] {
  const all = description.components.schemas
  const rows = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]): Command[] => {
      const name = operation['x-command']
      if (!name) return []
      const isWrite = (operation.parameters ?? []).some((parameter) => parameter.$ref?.endsWith('/IdempotencyKey'))
      return [{
        name,
        method: method.toUpperCase(),
        path,
        summary: operation.summary,
        isWrite,
        fields: fieldsOf(operation, all),
        arguments: operation['x-arguments'] ?? [],
        refusals: operation['x-refusals'] ?? [],
      }]
    }),
  )
  return rows.sort((one, other) => one.name.localeCompare(other.name))
}

/** What is sent for a command with these values, but for its key and operation id. */
export function requestOf(command: Command, values: Fields): { path: string; request: Request } {
  const given = command.fields.filter((field) => values[field.name] !== undefined)
  const path = command.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name] ?? '')))
  const of = (place: Field['place']) => given.filter((field) => field.place === place).map((field) => [field.name, values[field.name]] as const)
  const query = Object.fromEntries(of('query').map(([name, value]) => [name, String(value)]))
  const hasBody = command.method === 'POST' || command.method === 'PATCH'
  const body = hasBody ? { body: Object.fromEntries(of('body')) as Fields } : {}
  return { path, request: { method: command.method, query, ...body } }
}

/** The words of a command as the RESP port takes them. */
export function wordsOf(command: Command, values: Fields): string[] {
  return [command.name, ...command.arguments.flatMap((argument) => wordsOfArgument(argument, values))]
}

function wordsOfArgument({ name, token, fields }: Argument, values: Fields): string[] {
  const value = values[fields[0] ?? name]
  if (fields.includes('plan')) return wordsOfCut(values)
  if (fields.includes('type')) return values.type === 'MARKET' ? ['MARKET'] : ['LIMIT', String(values.price ?? 'price')]
  if (fields.length === 0) return wordsOfBound(name, token, values)
  if (value === undefined || value === null || value === false) return []
  if (name === 'limits' && Array.isArray(value)) return value.flatMap((limit) => wordsOfLimit(limit as Fields))
  if (name === 'subject') return wordsOfSubject(value as Fields)
  if (value === true) return token ? [token] : []
  return token ? [token, String(value)] : [String(value)]
}

function wordsOfCut(values: Fields): string[] {
  if (Array.isArray(values.amounts)) return ['AMOUNTS', String(values.amounts.length), ...values.amounts.map(String)]
  const plan = (values.plan ?? {}) as Fields
  return ['PLAN', String(plan.total ?? 'total'), String(plan.count ?? 'count'), String(plan.method ?? 'method')]
}

/** The bounds of a packet are members of the plan. */
function wordsOfBound(name: string, token: string | null, values: Fields): string[] {
  const bound = ((values.plan ?? {}) as Fields)[name]
  return typeof bound === 'number' ? [token ?? name.toUpperCase(), String(bound)] : []
}

function wordsOfLimit(limit: Fields): string[] {
  const per = Array.isArray(limit.per) && limit.per.length > 0 ? limit.per.join(',') : '-'
  const window = limit.window_ms ?? String(limit.window ?? 'none').toLowerCase()
  const offset = typeof limit.offset_minutes === 'number' ? ['OFFSET', String(limit.offset_minutes)] : []
  return ['LIMIT', String(limit.name ?? 'name'), String(limit.max ?? 'max'), 'PER', per, 'WINDOW', String(window), ...offset]
}

function wordsOfSubject({ user, ...others }: Fields): string[] {
  return ['USER', String(user ?? 'user'), ...Object.entries(others).flatMap(([name, value]) => [name, String(value)])]
}
