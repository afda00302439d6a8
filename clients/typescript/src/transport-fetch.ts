// HTTP by `fetch`, for browsers and other runtimes. It does not tell whether a request has left, so it may have.

import { TransportError } from "./transport.js";
import type { Request, Response, Streamed, Transport } from "./transport.js";

export function makeTransport(): Transport {
  return new FetchTransport();
}

class FetchTransport implements Transport {
  async send(request: Request, timeoutMs: number, signal?: AbortSignal): Promise<Response> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const both = signal ? AbortSignal.any([signal, timeout]) : timeout;
    try {
      const answer = await fetch(request.url, init(request, both));
      const text = await answer.text();
      return { status: answer.status, header: (name) => answer.headers.get(name), text };
    } catch (cause) {
      throw lost(cause);
    }
  }

  async stream(request: Request, silenceMs: number, signal?: AbortSignal): Promise<Streamed> {
    const silence = new Silence(silenceMs);
    const both = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
    try {
      const answer = await fetch(request.url, init(request, both));
      return { status: answer.status, chunks: silence.watch(answer.body) };
    } catch (cause) {
      silence.end();
      throw lost(cause);
    }
  }

  close(): void {}
}

function init(request: Request, signal: AbortSignal): RequestInit {
  const { method, headers, body } = request;
  // By a redirect a change would become a read, or go to a server that is not the one that was asked.
  return { method, headers, signal, cache: "no-store", redirect: "manual", ...(body === undefined ? {} : { body }) };
}

function lost(cause: unknown): TransportError {
  return new TransportError("lost", String(cause), { cause });
}

/** Ends a stream on which nothing arrives. */
class Silence {
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;
  #timer: ReturnType<typeof setTimeout>;

  constructor(private readonly silenceMs: number) {
    this.#timer = this.#start();
  }

  #start(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#controller.abort(new Error("nothing arrived for too long")), this.silenceMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  async *watch(body: ReadableStream<Uint8Array> | null): AsyncIterable<Uint8Array> {
    const reader = body?.getReader();
    try {
      for (;;) {
        const part = await reader?.read();
        if (!part || part.done) return;
        clearTimeout(this.#timer);
        this.#timer = this.#start();
        yield part.value;
      }
    } finally {
      this.end();
      // It may be broken already.
      await reader?.cancel().catch(() => undefined);
    }
  }
}
