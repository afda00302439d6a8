// Who is signed in, and whether the server answers. The key is kept for this tab only.

const PLACE = 'scarce.key'

export type Admission = 'unknown' | 'admitted' | 'locked'

class Session {
  admission: Admission = $state('unknown')
  key: string | null = $state(sessionStorage.getItem(PLACE))
  /** Why the person must sign in (again): a code, or nothing at the first time. */
  reason: string | null = $state(null)
  isReachable = $state(true)
  /** How far the server's clock is ahead of this browser's, in milliseconds. */
  #ahead = 0

  signIn(key: string): void {
    this.key = key
    this.reason = null
    sessionStorage.setItem(PLACE, key)
  }

  /** A key was not admitted. Of several requests with it the first one counts, and none that was overtaken by another key. */
  refuse(key: string | null): void {
    if (this.admission !== 'locked' && this.key === key) this.signOut(key === null ? null : 'REVOKED')
  }

  signOut(reason: string | null = null): void {
    this.key = null
    this.reason = reason
    this.admission = 'locked'
    sessionStorage.removeItem(PLACE)
  }

  /** Learns the time from an answer: the browser's own clock may be wrong. */
  learnTime(date: string | null): void {
    const at = date === null ? Number.NaN : Date.parse(date)
    if (Number.isNaN(at)) return
    const ahead = at - Date.now()
    // The header has whole seconds.
    if (Math.abs(ahead - this.#ahead) > 1_500) this.#ahead = Math.abs(ahead) <= 1_500 ? 0 : ahead
  }

  /** The time of the server. */
  now(): number {
    return Date.now() + this.#ahead
  }
}

export const session = new Session()
