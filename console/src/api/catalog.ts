// The commands of the server, from its own description: forms, requests and code for them are made from it.

import { commandsOf, type Command, type Description } from './command.ts'
import { ask } from './http.ts'

const loaded = new Map<string, Promise<Command[]>>()

/** The commands, with texts in a language. */
export function commands(language: string): Promise<Command[]> {
  const known = loaded.get(language)
  if (known) return known
  const asked = ask<Description>('/openapi.json', { query: { lang: language } }).then((answer) => {
    if (!answer.ok) throw new Error(answer.problem.title)
    return commandsOf(answer.body)
  })
  loaded.set(language, asked)
  asked.catch(() => loaded.delete(language))
  return asked
}
