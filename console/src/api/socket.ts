// Live channels over one WebSocket.

import { session } from '../session.svelte.ts'
import type { ChannelMessage, Line, LineEvents, Wanted } from './channels.ts'

/** The server ends a connection with it when a key is over. */
const POLICY_VIOLATION = 1008
/** The server sends a heartbeat every 15 seconds; a connection without one is dead, whatever the browser thinks. */
const SILENCE_MS_MAX = 45_000

interface Result {
  id: number
  result?: { refused?: { channel: string }[] }
  error?: unknown
}

export class SocketLine implements Line {
  readonly #socket: WebSocket | null
  readonly #subscribed = new Set<string>()
  #carried = false
  #isClosed = false
  #number = 0
  #silence: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly events: LineEvents) {
    this.#socket = this.#opened()
    const socket = this.#socket
    if (!socket) {
      // Not at once: the one who asked for it has to have it first.
      setTimeout(() => this.#end(false), 0)
      return
    }
    socket.onopen = () => {
      this.#carried = true
      this.#listen()
      events.opened()
    }
    socket.onmessage = (message: MessageEvent<string>) => this.#take(message.data)
    socket.onclose = (close) => this.#end(close.code === POLICY_VIOLATION)
  }

  #opened(): WebSocket | null {
    const url = new URL('/ws', location.href)
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
    try {
      return new WebSocket(url, session.key === null ? ['scarce'] : ['scarce', `bearer.${session.key}`])
    } catch {
      // A password may have characters that no subprotocol has.
      return null
    }
  }

  want(wanted: Wanted[]): void {
    const names = new Set(wanted.map(({ channel }) => channel))
    const left = [...this.#subscribed].filter((channel) => !names.has(channel))
    const added = wanted.filter(({ channel, at }) => !this.#subscribed.has(channel) || at === null)
    // One that has a further watcher is subscribed to anew, for its snapshot.
    const anew = added.filter(({ channel }) => this.#subscribed.has(channel)).map(({ channel }) => channel)
    if (left.length + anew.length > 0) this.#send('UNSUBSCRIBE', [...left, ...anew])
    left.forEach((channel) => this.#subscribed.delete(channel))
    if (added.length === 0) return
    added.forEach(({ channel }) => this.#subscribed.add(channel))
    this.#send('SUBSCRIBE', added.map(({ channel, at }) => ({ channel, conflate: true, ...(at ? { epoch: at.epoch, after: at.sequence } : {}) })))
  }

  #send(method: string, params: unknown[]): void {
    this.#number += 1
    this.#socket?.send(JSON.stringify({ method, params, id: this.#number }))
  }

  #take(text: string): void {
    this.#listen()
    const message = JSON.parse(text) as ChannelMessage | Result | { type: 'heartbeat' }
    if ('id' in message) {
      for (const refused of message.result?.refused ?? []) {
        this.#subscribed.delete(refused.channel)
        this.events.refused(refused.channel)
      }
    } else if ('channel' in message) {
      if (message.type === 'end') this.#subscribed.delete(message.channel)
      this.events.message(message)
    }
  }

  #listen(): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => this.#drop(), SILENCE_MS_MAX)
  }

  #drop(): void {
    this.#socket?.close()
    this.#end(false)
  }

  #end(byKey: boolean): void {
    if (this.#isClosed) return
    this.close()
    this.events.closed(this.#carried, byKey)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#silence)
    if (this.#socket) {
      this.#socket.onmessage = null
      this.#socket.onclose = null
      this.#socket.close()
    }
  }
}
