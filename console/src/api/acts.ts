// Acts of operators that are no commands: they change nothing that is handed out, and need no operation id.

import { ask, Unanswered, type Answer, type Fields } from './http.ts'

/** What became of an act; unanswered where that is not known. */
export type Done = Answer<Fields> | 'unanswered'

export async function post(path: string, body: Fields = {}): Promise<Done> {
  try {
    return await ask<Fields>(path, { method: 'POST', body })
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error
    return 'unanswered'
  }
}
