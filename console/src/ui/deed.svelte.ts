// A command that a page wants to be sent: a dialog shows it, asks for what is missing, and asks before it is sent.

import type { Fields } from '../api/http.ts'

export interface Deed {
  command: string
  /** Values that are known already and not asked for. */
  preset: Fields
  /** Values that the form begins with. */
  suggested: Fields
  /** Called when it was applied. */
  done: () => void
}

class Deeds {
  current: Deed | null = $state.raw(null)
}

export const deeds = new Deeds()

export function act(command: string, preset: Fields, done: () => void = () => {}, suggested: Fields = {}): void {
  deeds.current = { command, preset, suggested, done }
}

/** A new operation id: what the console does can be found in the log by its beginning. */
export function newOperation(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12))
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
