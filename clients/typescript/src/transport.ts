// What the client needs of HTTP.

/** A request. */
export interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer with its whole body. */
export interface Response {
  readonly status: number;
  /** A header by its name in small letters. */
  header(name: string): string | null;
  readonly text: string;
}

/** An answer whose body is read as it comes. */
export interface Streamed {
  readonly status: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Sends requests. Both methods fail with a `TransportError`. */
export interface Transport {
  send(request: Request, timeoutMs: number, signal?: AbortSignal): Promise<Response>;
  /** Fails also when nothing arrives for so long. */
  stream(request: Request, silenceMs: number, signal?: AbortSignal): Promise<Streamed>;
  /** Closes idle connections. */
  close(): void;
}

/** What the connections are made with. Only Node can set these; browsers and others have their own settings. */
export interface TlsOptions {
  /** Authorities in PEM; without them, the system's. */
  ca?: string;
  /** The certificate in PEM that is shown to the server, and its key. */
  cert?: string;
  key?: string;
}

/** Why a request has no answer. */
export class TransportError extends Error {
  override readonly name = "TransportError";

  constructor(
    /** `unsent`: the server cannot have got it. `lost`: it may have. `fatal`: no retry will help. */
    readonly kind: "unsent" | "lost" | "fatal",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
