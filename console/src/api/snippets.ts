// A command as people would send it from a shell or a program.

import { address } from './address.ts'
import { requestOf, wordsOf, type Command } from './command.ts'
import type { Fields } from './http.ts'

export interface Snippet {
  name: string
  text: string
}

/** Where the server is, and whether it needs a key. */
export interface From {
  origin: string
  hasKey: boolean
}

/** Quotes for a POSIX shell. */
export function quoted(word: string): string {
  return /^[\w./:@=+,%-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

function curl(command: Command, values: Fields, operation: string | null, from: From): string {
  const { path, request } = requestOf(command, values)
  const words = ['curl']
  if (command.method !== 'GET') words.push('-X', command.method)
  words.push(quoted(from.origin + address(path, request.query)))
  if (operation) words.push('-H', quoted(`Idempotency-Key: ${operation}`))
  if (request.body) words.push('-H', quoted('Content-Type: application/json'), '-d', quoted(JSON.stringify(request.body)))
  if (from.hasKey) words.push('-H', '"Authorization: Bearer $SCARCE_KEY"')
  return words.join(' ')
}

function redisCli(command: Command, values: Fields, operation: string | null, from: From): string {
  const words = [...wordsOf(command, values), ...(operation ? ['ID', operation] : [])]
  const login = from.hasKey ? ['--pass', '"$SCARCE_KEY"'] : []
  return ['redis-cli', '-p', '7379', ...login, ...words.map(quoted)].join(' ')
}

function redisPy(command: Command, values: Fields, operation: string | null, from: From): string {
  const words = [...wordsOf(command, values), ...(operation ? ['ID', operation] : [])]
  const written = words.map((word) => JSON.stringify(word)).join(', ')
  return [
    from.hasKey ? 'import os, redis' : 'import redis',
    `scarce = redis.Redis(port=7379${from.hasKey ? ', password=os.environ["SCARCE_KEY"]' : ''}, decode_responses=True)`,
    `print(scarce.execute_command(${written}))`,
  ].join('\n')
}

function javaScript(command: Command, values: Fields, operation: string | null, from: From): string {
  const { path, request } = requestOf(command, values)
  const sent = from.hasKey ? ['Authorization: `Bearer ${process.env.SCARCE_KEY}`'] : []
  if (operation) sent.push(`'Idempotency-Key': ${JSON.stringify(operation)}`)
  if (request.body) sent.push("'Content-Type': 'application/json'")
  const lines = [`  method: '${command.method}',`, `  headers: { ${sent.join(', ')} },`]
  if (request.body) lines.push(`  body: JSON.stringify(${JSON.stringify(request.body)}),`)
  return [`const answer = await fetch(${JSON.stringify(from.origin + address(path, request.query))}, {`, ...lines, '})', 'console.log(answer.status, await answer.json())'].join('\n')
}

/** The same command in each of the ways. */
export function snippets(command: Command, values: Fields, operation: string | null, from: From): Snippet[] {
  const ways: [string, typeof curl][] = [['curl', curl], ['redis-cli', redisCli], ['Python', redisPy], ['JavaScript', javaScript]]
  return ways.map(([name, write]) => ({ name, text: write(command, values, operation, from) }))
}
