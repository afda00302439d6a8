// The text of /readyz?verbose: a line for each check.

export type Mark = 'ok' | 'notice' | 'failed'

export interface Check {
  mark: Mark
  text: string
}

export interface Readiness {
  isReady: boolean
  checks: Check[]
}

const MARKS: Record<string, Mark> = { '+': 'ok', '!': 'notice', '-': 'failed' }

export function parse(text: string, status: number): Readiness {
  const checks: Check[] = []
  for (const line of text.split('\n')) {
    const [, mark = '', said = ''] = /^\[([-+!])\] (.*)$/.exec(line) ?? []
    const known = MARKS[mark]
    if (known) checks.push({ mark: known, text: said })
  }
  // While it starts, the server says in a sentence how far it is.
  if (status !== 200 && checks.length === 0) checks.push({ mark: 'failed', text: text.trim() })
  return { isReady: status === 200, checks }
}
