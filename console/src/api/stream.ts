// Live channels as one stream of server-sent events. A stream carries what it was opened for, so other channels need another.

import { address } from './address.ts'
import type { ChannelMessage, Line, LineEvents, Wanted } from './channels.ts'
import { headers } from './http.ts'
import { messages } from './messages.ts'

/** The server's own bound of a stream. */
const CHANNELS_MAX = 100

export class StreamLine implements Line {
  #aborter = new AbortController()
  #names = ''
  #carried = false
  #isClosed = false

  constructor(private readonly events: LineEvents) {
    setTimeout(() => !this.#isClosed && events.opened(), 0)
  }

  want(wanted: Wanted[]): void {
    const channels = wanted.slice(0, CHANNELS_MAX).map(({ channel }) => channel)
    const names = channels.map((channel) => `${channel};conflate`).join(',')
    if (names === this.#names && wanted.every(({ at }) => at !== null)) return
    this.#names = names
    this.#aborter.abort()
    this.#aborter = new AbortController()
    if (channels.length > 0) void this.#follow(names, channels, this.#aborter.signal)
  }

  async #follow(names: string, channels: string[], signal: AbortSignal): Promise<void> {
    let byKey = false
    try {
      const response = await fetch(address('/v1/live', { channels: names }), {
        headers: headers({ Accept: 'text/event-stream' }),
        cache: 'no-store',
        credentials: 'omit',
        signal,
      })
      byKey = response.status === 401
      if (response.ok && response.body) await this.#read(response.body, signal)
      // One that the key may not see refuses them all: pages ask for their figures instead.
      else if (response.status === 403 || response.status === 400) channels.forEach((channel) => this.events.refused(channel))
    } catch {
      // The connection broke, or was given up for another one.
    }
    if (!signal.aborted) this.#end(byKey)
  }

  async #read(body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void> {
    const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
    let text = ''
    while (!signal.aborted) {
      const { done, value } = await reader.read()
      if (done) return
      const { whole, rest } = messages(text + value)
      text = rest
      for (const { data } of whole) {
        const message = data === '' ? null : (JSON.parse(data) as ChannelMessage)
        if (message && typeof message.channel === 'string') {
          this.#carried = true
          this.events.message(message)
        }
      }
    }
  }

  #end(byKey: boolean): void {
    if (this.#isClosed) return
    this.close()
    this.events.closed(this.#carried, byKey)
  }

  close(): void {
    this.#isClosed = true
    this.#aborter.abort()
  }
}
