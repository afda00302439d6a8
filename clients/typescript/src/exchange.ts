// Sends a request until it is answered or its time is up.

import type { Clock } from "./ids.js";
import { ScarceError } from "./outcome.js";
import { TransportError } from "./transport.js";
import type { Request, Response, Transport } from "./transport.js";

/** The header with the ID of a change. */
export const ID_HEADER = "idempotency-key";

/** Timers take no longer pause. */
const PAUSE_MS_MAX = 2 ** 31 - 1;

/** A problem document. */
export interface Problem {
  code: string;
  title: string;
  status: number;
  retryable: boolean;
  advice: string;
  detail?: string;
  facts?: Record<string, unknown>;
}

/** An answer that is final. */
export interface Answered {
  readonly status: number;
  readonly body: unknown;
  readonly problem: Problem | null;
  readonly replayed: boolean;
}

/** What came of a request: an answer or an error, and whether an attempt without an answer may have been applied. */
export type Decision = ({ answer: Answered; error: null } | { answer: null; error: ScarceError }) & { doubt: boolean };

/** How long things may take. */
export interface Patience {
  /** A single attempt. */
  attemptMs: number;
  /** The first pause between two attempts; each next one is twice as long. */
  pauseMs: number;
  pauseMsMax: number;
}

/** How long a call may go on. */
export interface Until {
  readonly time: number;
  readonly signal?: AbortSignal | undefined;
}

/** Sends requests again until they are decided. */
export class Exchange {
  constructor(
    private readonly transport: Transport,
    private readonly clock: Clock,
    private readonly patience: Patience,
  ) {}

  /** `doubt`: an earlier attempt may have been applied. */
  async decide(request: Request, until: Until, doubt = false): Promise<Decision> {
    let error = new ScarceError("UNREACHABLE", "there was no time to send it");
    for (let attempt = 0; ; attempt += 1) {
      const left = until.time - performance.now();
      if (until.signal?.aborted) return { answer: null, error: aborted(until.signal), doubt };
      if (left <= 0) return { answer: null, error, doubt };
      let waitMs = 0;
      try {
        const timeoutMs = Math.ceil(Math.min(left, this.patience.attemptMs));
        const response = await this.transport.send(request, timeoutMs, until.signal);
        this.clock.learn(response.header("date"));
        const answer = read(response, request.headers[ID_HEADER] ?? null);
        if (!isTransient(answer)) return { answer, error: null, doubt };
        doubt ||= mayBeApplied(answer);
        error = errorOf(answer);
        waitMs = retryAfterMs(response);
      } catch (cause) {
        if (!(cause instanceof TransportError)) throw cause;
        doubt ||= cause.kind === "lost";
        error = new ScarceError(cause.kind === "lost" ? "LOST" : "UNREACHABLE", `${request.url}: ${cause.message}`, 0, {}, { cause });
        if (cause.kind === "fatal") return { answer: null, error, doubt };
      }
      const pauseMs = this.pauseMs(attempt, waitMs);
      // A pause up to the end of the call would leave no time for an attempt after it.
      if (performance.now() + pauseMs >= until.time) return { answer: null, error, doubt };
      await pause(pauseMs, until.signal);
    }
  }

  /** Exponential with full jitter; after what the server asks for, so that callers do not all come at once. */
  pauseMs(attempt: number, waitMs = 0): number {
    const ceiling = Math.min(this.patience.pauseMs * 2 ** Math.min(attempt, 20), this.patience.pauseMsMax);
    return waitMs + Math.random() * Math.max(ceiling, waitMs / 4);
  }
}

/** Waits, unless the signal ends it. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, PAUSE_MS_MAX));
    signal?.addEventListener("abort", end, { once: true });
  });
}

function aborted(signal: AbortSignal): ScarceError {
  return new ScarceError("ABORTED", "the caller ended the call", 0, {}, { cause: signal.reason });
}

function read(response: Response, id: string | null): Answered {
  const replayed = response.header("idempotency-replayed") === "true";
  const { status } = response;
  let body: unknown;
  try {
    body = JSON.parse(response.text);
  } catch {
    body = null;
  }
  const isGood = status >= 200 && status < 300;
  if (isGood && isOf(body, id)) return { status, body, problem: null, replayed };
  const problem = !isGood && isProblem(body, status) ? body : garbled(isGood ? 502 : status, response.text);
  return { status: problem.status, body: null, problem, replayed };
}

/** Whether a body tells that a change was applied under this ID, or is an object where there is none. Anything else may come
 * from what stands between us and the server, and says nothing of the change. */
export function isOf(body: unknown, id: string | null): body is object {
  if (!isObject(body)) return false;
  return id === null || (isObject(body["receipt"]) && body["receipt"]["operation"] === id);
}

/** Whether a body is a problem document of the server. */
export function isProblem(body: unknown, status: number): body is Problem {
  if (!isObject(body) || body["status"] !== status || typeof body["retryable"] !== "boolean") return false;
  const isTold = ["code", "title", "advice"].every((name) => typeof body[name] === "string");
  return isTold && isObject(body["facts"] ?? {});
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What something between us and the server says. */
export function garbled(status: number, text: string): Problem {
  const title = `no answer of Scarce: ${text.slice(0, 200)}`;
  return { code: "GARBLED", title, status, retryable: status >= 500, advice: "Check what answers at this address." };
}

/** Whether the request should be sent again. */
export function isTransient({ problem }: Answered): boolean {
  return problem !== null && (problem.status === 429 || problem.status === 408 || problem.status >= 500);
}

/** Whether a request that is answered so may have been applied, or may yet be. */
export function mayBeApplied({ problem }: Answered): boolean {
  return problem !== null && problem.status >= 500 && problem.code !== "OVERLOADED";
}

function retryAfterMs(response: Response): number {
  const seconds = Number(response.header("retry-after") ?? "0");
  return Number.isFinite(seconds) ? Math.max(0, seconds * 1_000) : 0;
}

/** A problem as an error. */
export function errorOf({ problem }: Answered): ScarceError {
  const { code, status, facts, advice } = problem ?? garbled(0, "");
  const said = problem?.detail || problem?.title || "";
  return new ScarceError(code, `${said} ${advice}`.trim(), status, facts);
}
