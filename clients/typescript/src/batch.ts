// Many commands in a request, each with an outcome of its own.

import { applied, isRefusal, refused } from "./caller.js";
import type { AnyOutcome, Caller } from "./caller.js";
import { errorOf, garbled, isOf, isProblem, isTransient, mayBeApplied, pause } from "./exchange.js";
import type { Answered, Exchange, Problem, Until } from "./exchange.js";
import { ROUTES } from "./generated/commands.js";
import type { BatchCommand, Commands } from "./generated/commands.js";
import { ScarceError } from "./outcome.js";
import type { Applied, CallOptions, Durability, Failed, Outcome, RefusedBy, Undecided } from "./outcome.js";
import type { Requests, Sent } from "./requests.js";

/** The most lines of a request; longer batches are sent in several. */
export const LINES_MAX = 1_000;

/** A line of a batch. */
export interface Line<N extends BatchCommand> {
  readonly command: N;
  readonly arguments: Commands[N]["arguments"];
  /** The operation id; by default a new one. */
  readonly id?: string;
  readonly deadline?: number;
  readonly durability?: Durability;
}

/** The outcomes of a batch, in the order of its lines. */
export type Outcomes<L extends readonly Line<BatchCommand>[]> = {
  [I in keyof L]: L[I] extends Line<infer N> ? Outcome<N> | Failed : never;
};

/** What comes of an atomic batch: all of its values, or the first refusal. */
export type BatchOutcome<L extends readonly Line<BatchCommand>[]> = BatchAnswer<L> | Undecided<BatchAnswer<L>>;

type BatchAnswer<L extends readonly Line<BatchCommand>[]> =
  | Applied<{ readonly results: { [I in keyof L]: L[I] extends Line<infer N> ? Commands[N]["result"] : never } }>
  | RefusedBy<"BATCH_REFUSED" | "CROSS_PARTITION" | "ID_REUSED" | "ID_EXPIRED" | "DEADLINE_PASSED" | "RESOLVED_ABSENT">;

/** A line that is on its way. */
interface Pending {
  readonly index: number;
  readonly line: Line<BatchCommand>;
  readonly sent: Sent;
  doubt: boolean;
  error: ScarceError;
}

interface LineAnswer {
  status: number;
  result?: Record<string, unknown>;
  problem?: Problem;
  replayed?: boolean;
}

export class Batches {
  constructor(
    private readonly exchange: Exchange,
    private readonly requests: Requests,
    private readonly caller: Caller,
  ) {}

  /** Sends lines until each is decided or the time is up. */
  async send(lines: readonly Line<BatchCommand>[], newId: () => string, until: Until): Promise<(AnyOutcome | Failed)[]> {
    const outcomes: (AnyOutcome | Failed)[] = [];
    let open = lines.map((line, index) => this.pending(line, index, newId));
    for (let attempt = 0; open.length > 0; attempt += 1) {
      const left: Pending[] = [];
      for (let from = 0; from < open.length; from += LINES_MAX) {
        left.push(...(await this.round(open.slice(from, from + LINES_MAX), outcomes, until)));
      }
      open = left;
      const pauseMs = this.exchange.pauseMs(attempt, Math.max(0, ...open.map(({ error }) => waitMs(error))));
      if (open.length > 0 && performance.now() + pauseMs >= until.time) {
        open.forEach((its) => (outcomes[its.index] = this.given(its)));
        break;
      }
      if (open.length > 0) await pause(pauseMs, until.signal);
    }
    return outcomes;
  }

  private pending(line: Line<BatchCommand>, index: number, newId: () => string): Pending {
    const { takesId } = ROUTES[line.command];
    const kept = takesId ? { ...line, id: line.id ?? newId() } : line;
    const sent = this.requests.command(line.command, line.arguments, kept, newId);
    return { index, line: kept, sent, doubt: false, error: new ScarceError("UNREACHABLE", "there was no time to send it") };
  }

  /** Sends lines once, or again as long as the request as a whole has no answer. Gives those that are open still. */
  private async round(lines: Pending[], outcomes: (AnyOutcome | Failed)[], until: Until): Promise<Pending[]> {
    const request = this.requests.post("/v1/batch", { operations: lines.map((its) => its.line) });
    const { answer, error, doubt } = await this.exchange.decide(request, until);
    lines.forEach((its) => (its.doubt ||= doubt));
    const results = answer?.problem ? [] : (answer?.body as { results?: unknown } | undefined)?.results;
    const isGarbled = answer !== null && !answer.problem && !(Array.isArray(results) && results.length === lines.length);
    if (isGarbled) lines.forEach((its) => (its.doubt = true));
    const failure = error ?? (isGarbled ? strange(answer.body) : answer.problem ? errorOf(answer) : null);
    if (failure) {
      lines.forEach((its) => (outcomes[its.index] = this.given(Object.assign(its, { error: failure }))));
      return [];
    }
    const open: Pending[] = [];
    for (const [at, its] of lines.entries()) {
      const answer = readLine((results as LineAnswer[])[at]!, its.sent.id);
      if (isTransient(answer)) {
        open.push(Object.assign(its, { doubt: its.doubt || mayBeApplied(answer), error: errorOf(answer) }));
      } else {
        outcomes[its.index] = await this.concluded(its, answer, until);
      }
    }
    return open;
  }

  private async concluded(its: Pending, answer: Answered, until: Until): Promise<AnyOutcome | Failed> {
    if (!answer.problem) return applied(answer);
    if (!its.doubt && isRefusal(answer.problem)) return refused(answer.problem);
    try {
      return await this.caller.conclude(its.sent, { answer, error: null, doubt: its.doubt }, until);
    } catch (error) {
      if (!(error instanceof ScarceError)) throw error;
      return { status: "failed", error };
    }
  }

  /** A line without an answer. */
  private given({ sent, doubt, error }: Pending): AnyOutcome | Failed {
    return doubt && sent.id !== null ? this.caller.undecided(sent, error) : { status: "failed", error };
  }

  /** All lines or none, under one id. */
  atomic(lines: readonly Line<BatchCommand>[], id: string | null, headers: Record<string, string>, options: CallOptions): Sent {
    const operations = lines.map(({ command, arguments: args }) => ({ command, arguments: args }));
    const path = options.dryRun ? "/v1/batch?dry_run=true" : "/v1/batch";
    const request = this.requests.post(path, { atomic: true, operations }, headers);
    const [first] = lines;
    const on = first ? String((first.arguments as unknown as Record<string, unknown>)[ROUTES[first.command].on] ?? "") : "";
    const values = (body: object) => ({ results: (body as { results: LineAnswer[] }).results.map((its) => its.result) });
    return { request, id, on, values, remembersRefusals: lines.some((line) => ROUTES[line.command].remembersRefusals) };
  }
}

/** How long a line should wait, if the server knows. */
function waitMs({ facts }: ScarceError): number {
  return Number(facts["retry_after_ms"] ?? 0);
}

/** Something else than the server has answered. */
function strange(body: unknown): ScarceError {
  return errorOf({ status: 502, body, problem: garbled(502, JSON.stringify(body)), replayed: false });
}

function readLine({ status, result = {}, problem, replayed = false }: LineAnswer, id: string | null): Answered {
  const isTold = problem ? isProblem(problem, status) : isOf(result, id);
  const its = isTold ? (problem ?? null) : garbled(502, JSON.stringify(problem ?? result));
  return { status, body: result, problem: its, replayed };
}
