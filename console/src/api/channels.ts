// Live channels: what a read answers, whole first and then each change. All pages share one connection: a WebSocket, or a
// stream of server-sent events where something on the way lets no WebSocket through.

import { session } from '../session.svelte.ts'
import { ask } from './http.ts'
import { SocketLine } from './socket.ts'
import { StreamLine } from './stream.ts'

/** A message of a channel. */
export interface ChannelMessage {
  channel: string
  type: 'snapshot' | 'delta' | 'end'
  epoch: number
  sequence?: number
  first?: number
  last?: number
  data: Record<string, unknown> | null
}

export interface Watcher {
  /** The whole, or what changed of it; null if there is no such resource yet. */
  take(data: Record<string, unknown> | null, isWhole: boolean): void
  /** Whether changes arrive. */
  live(isLive: boolean): void
}

/** A connection that carries channels. */
export interface Line {
  /** What is wanted now, each with the position that is known. */
  want(channels: Wanted[]): void
  close(): void
}

export interface Wanted {
  channel: string
  at: { epoch: number; sequence: number } | null
}

/** What a connection tells. */
export interface LineEvents {
  opened(): void
  message(message: ChannelMessage): void
  refused(channel: string): void
  /** It is over: whether it ever carried something, and whether the key may be the reason. */
  closed(carried: boolean, byKey: boolean): void
}

const RETRY_MS_MIN = 300
const RETRY_MS_MAX = 5_000
/** After so many WebSockets in a row that never opened, events are streamed instead. */
const SOCKETS_FAILED_MAX = 2
/** Channels that a page leaves and another one takes at once are not asked for anew. */
const CHANGE_MS = 20

interface Followed {
  watchers: Set<Watcher>
  at: Wanted['at']
  isLive: boolean
  /** The server does not show it to this key. */
  isRefused: boolean
}

export class Channels {
  readonly #followed = new Map<string, Followed>()
  #line: Line | null = null
  #isOpen = false
  #failures = 0
  #socketsFailed = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Follows a channel. Returns how to leave it. */
  follow(channel: string, watcher: Watcher): () => void {
    const followed = this.#followed.get(channel) ?? { watchers: new Set(), at: null, isLive: false, isRefused: false }
    // A further watcher needs the whole, too.
    followed.at = null
    followed.watchers.add(watcher)
    this.#followed.set(channel, followed)
    this.#later(CHANGE_MS)
    return () => {
      followed.watchers.delete(watcher)
      if (followed.watchers.size === 0) this.#followed.delete(channel)
      this.#later(CHANGE_MS)
    }
  }

  #later(ms: number): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#match()
    }, ms)
  }

  /** Has the connection carry what is wanted. One that carries nothing stays, for the next page. */
  #match(): void {
    const wanted = [...this.#followed].filter(([, its]) => !its.isRefused).map(([channel, { at }]) => ({ channel, at }))
    if (session.admission !== 'admitted') this.#end()
    else if (this.#line && this.#isOpen) this.#line.want(wanted)
    else if (!this.#line && wanted.length > 0) this.#line = this.#connect()
  }

  #connect(): Line {
    const isSocket = this.#socketsFailed < SOCKETS_FAILED_MAX
    const events: LineEvents = {
      opened: () => {
        this.#isOpen = true
        if (isSocket) this.#socketsFailed = 0
        this.#match()
      },
      message: (message) => this.#take(message),
      refused: (channel) => this.#refuse(channel),
      closed: (carried, byKey) => {
        // A server that is away says nothing of WebSockets; and after a stream a WebSocket is tried again.
        if (!isSocket) this.#socketsFailed = 0
        else if (!carried && session.isReachable) this.#socketsFailed += 1
        this.#lose(carried, byKey)
      },
    }
    return isSocket ? new SocketLine(events) : new StreamLine(events)
  }

  #take(message: ChannelMessage): void {
    const followed = this.#followed.get(message.channel)
    if (!followed) return
    if (message.type === 'end') {
      // The server let go of it: from the position on it is asked for again.
      this.#set(followed, false)
      this.#later(RETRY_MS_MIN)
      return
    }
    this.#failures = 0
    const isWhole = message.type === 'snapshot'
    if (!isWhole && !this.#isNext(followed, message)) return
    followed.at = { epoch: message.epoch, sequence: (isWhole ? message.sequence : message.last) ?? 0 }
    for (const watcher of followed.watchers) watcher.take(message.data, isWhole)
    this.#set(followed, true)
  }

  /** Whether a change follows what is known. What is known already comes again after a new connection. */
  #isNext(followed: Followed, { epoch, first = 0, last = 0 }: ChannelMessage): boolean {
    const at = followed.at
    return at !== null && at.epoch === epoch && first <= at.sequence + 1 && last > at.sequence
  }

  #set(followed: Followed, isLive: boolean): void {
    if (followed.isLive === isLive) return
    followed.isLive = isLive
    for (const watcher of followed.watchers) watcher.live(isLive)
  }

  #refuse(channel: string): void {
    const followed = this.#followed.get(channel)
    if (!followed) return
    followed.isRefused = true
    this.#set(followed, false)
  }

  #lose(carried: boolean, byKey: boolean): void {
    this.#line = null
    this.#isOpen = false
    for (const followed of this.#followed.values()) this.#set(followed, false)
    this.#failures = carried ? 0 : this.#failures + 1
    // The answer says whether the key is over.
    if (byKey) ask('/v1/stock', { query: { limit: 1 } }).catch(() => {})
    const wait = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** this.#failures) * (0.5 + Math.random() / 2)
    if (this.#followed.size > 0) this.#later(wait)
  }

  #end(): void {
    const line = this.#line
    this.#line = null
    this.#isOpen = false
    for (const followed of this.#followed.values()) this.#set(followed, false)
    line?.close()
  }
}

export const channels = new Channels()
