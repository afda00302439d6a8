// HTTP by Node's own modules, which know whether a request has left, and take certificates.

import http from "node:http";
import https from "node:https";

import { TransportError } from "./transport.js";
import type { Request, Response, Streamed, TlsOptions, Transport } from "./transport.js";

/** Certificates that will not become right by waiting. */
const FATAL = /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

/** Connections that are kept open. */
const CONNECTIONS_MAX = 64;

export function makeTransport(tls: TlsOptions): Transport {
  return new NodeTransport(tls);
}

class NodeTransport implements Transport {
  readonly #plain = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  readonly #secure: https.Agent;

  constructor(tls: TlsOptions) {
    this.#secure = new https.Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX, ...tls });
  }

  async send(request: Request, timeoutMs: number, signal?: AbortSignal): Promise<Response> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const incoming = await this.#begin(request, signal ? AbortSignal.any([signal, timeout]) : timeout);
    const parts: Buffer[] = [];
    try {
      for await (const part of incoming) parts.push(part as Buffer);
    } catch (cause) {
      throw new TransportError("lost", `the answer broke off: ${String(cause)}`, { cause });
    }
    if (!incoming.complete) throw new TransportError("lost", "the answer broke off");
    const header = (name: string) => {
      const value = incoming.headers[name];
      return Array.isArray(value) ? (value[0] ?? null) : (value ?? null);
    };
    return { status: incoming.statusCode ?? 0, header, text: Buffer.concat(parts).toString("utf8") };
  }

  async stream(request: Request, silenceMs: number, signal?: AbortSignal): Promise<Streamed> {
    const incoming = await this.#begin(request, signal, silenceMs);
    incoming.socket.setTimeout(silenceMs, () => incoming.destroy(new Error("nothing arrived for too long")));
    return { status: incoming.statusCode ?? 0, chunks: incoming };
  }

  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }

  /** Sends a request; gives the head of the answer. */
  #begin(request: Request, signal?: AbortSignal, silenceMs = 0): Promise<http.IncomingMessage> {
    const isSecure = request.url.startsWith("https:");
    const { method, headers, url } = request;
    const options = { method, headers, agent: isSecure ? this.#secure : this.#plain, timeout: silenceMs };
    return new Promise((resolve, reject) => {
      let hasLeft = false;
      const outgoing = (isSecure ? https : http).request(url, { ...options, ...(signal ? { signal } : {}) });
      outgoing.once("socket", (socket) => {
        if (!socket.connecting) hasLeft = true;
        socket.once(isSecure ? "secureConnect" : "connect", () => (hasLeft = true));
      });
      outgoing.once("response", resolve);
      outgoing.once("timeout", () => outgoing.destroy(new Error("nothing arrived for too long")));
      outgoing.once("error", (cause: NodeJS.ErrnoException) => {
        const kind = FATAL.test(cause.code ?? "") ? "fatal" : hasLeft ? "lost" : "unsent";
        reject(new TransportError(kind, cause.message || String(cause.code), { cause }));
      });
      outgoing.end(request.body);
    });
  }
}
