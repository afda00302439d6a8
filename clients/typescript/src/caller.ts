// Makes of each command one outcome, whatever happens on the way.

import { errorOf } from "./exchange.js";
import type { Answered, Decision, Exchange, Problem, Until } from "./exchange.js";
import { IS_REFUSAL } from "./generated/codes.js";
import type { Code } from "./generated/codes.js";
import type { Receipt } from "./generated/types.js";
import type { Absent, Applied, RefusedBy, ScarceError, Undecided, WaitOptions } from "./outcome.js";
import type { Requests, Sent } from "./requests.js";

/** An answer to any command. */
export type AnyAnswer = Applied<unknown> | RefusedBy<Code>;

/** What comes of any command. */
export type AnyOutcome = AnyAnswer | Undecided<AnyAnswer>;

/** Refusals after which no copy of the request can be applied, though they are not remembered. */
const FINAL: ReadonlySet<string> = new Set(["ID_REUSED", "RESOLVED_ABSENT", "DEADLINE_PASSED", "CROSS_PARTITION"]);

export class Caller {
  constructor(
    private readonly exchange: Exchange,
    private readonly requests: Requests,
    private readonly timeoutMs: number,
  ) {}

  /** The end of a call. */
  until({ timeoutMs, signal }: WaitOptions): Until {
    return { time: performance.now() + (timeoutMs ?? this.timeoutMs), signal };
  }

  /** Sends a request that changes nothing, and gives its answer. */
  async ask(request: Sent["request"], until: Until): Promise<Answered> {
    const { answer, error } = await this.exchange.decide(request, until);
    if (error) throw error;
    return answer;
  }

  /** `doubt`: an earlier attempt may have been applied. */
  async call(sent: Sent, until: Until, doubt = false): Promise<AnyOutcome> {
    return this.conclude(sent, await this.exchange.decide(sent.request, until, doubt), until);
  }

  /** What a decision means. */
  async conclude(sent: Sent, { answer, error, doubt }: Decision, until: Until): Promise<AnyOutcome> {
    const isOpen = doubt && sent.id !== null;
    if (error) {
      if (isOpen) return this.undecided(sent, error);
      throw error;
    }
    if (!answer.problem) return applied(answer, sent.values);
    if (!isRefusal(answer.problem)) {
      if (isOpen) return this.undecided(sent, errorOf(answer));
      throw errorOf(answer);
    }
    const refusal = refused(answer.problem);
    if (!isOpen || FINAL.has(refusal.code)) return refusal;
    // Whatever was under the id may have been forgotten.
    if (refusal.code === "ID_EXPIRED") return this.undecided(sent, errorOf(answer));
    if (sent.remembersRefusals) return refusal;
    // An earlier attempt that is still on its way could be applied after this refusal.
    const settled = await this.resolve(sent, until);
    return settled.status === "absent" ? refusal : settled;
  }

  /** Ensures that the operation is decided, one way or the other. */
  private async resolve(sent: Sent, until: Until): Promise<AnyOutcome | Absent> {
    const operation = sent.id ?? "";
    const path = `/v1/operations/${encodeURIComponent(operation)}/resolve?on=${encodeURIComponent(sent.on)}`;
    const { answer, error } = await this.exchange.decide(this.requests.post(path, {}), until);
    if (error) return this.undecided(sent, error);
    if (answer.problem) return this.undecided(sent, errorOf(answer));
    const isAbsent = (answer.body as { state: string }).state === "ABSENT";
    // What is remembered is the answer to a copy.
    return isAbsent ? { status: "absent", operation } : this.call(sent, until, true);
  }

  private async look(sent: Sent, until: Until): Promise<AnyOutcome> {
    const path = `/v1/operations/${encodeURIComponent(sent.id ?? "")}?on=${encodeURIComponent(sent.on)}`;
    const { answer, error } = await this.exchange.decide(this.requests.get(path), until);
    if (error) return this.undecided(sent, error);
    return answer.problem ? this.undecided(sent, errorOf(answer)) : this.call(sent, until, true);
  }

  undecided(sent: Sent, reason: ScarceError): Undecided<AnyAnswer> {
    return {
      status: "undecided",
      operation: sent.id ?? "",
      reason,
      retry: (options = {}) => this.call(sent, this.until(options), true),
      ask: (options = {}) => this.look(sent, this.until(options)),
      resolve: (options = {}) => this.resolve(sent, this.until(options)),
    };
  }
}

/** Whether a problem is an answer of the rules. A code that is newer than this client is one by its status. */
export function isRefusal({ code, status }: Problem): boolean {
  return IS_REFUSAL.get(code) ?? (code !== "GARBLED" && [404, 409, 422].includes(status));
}

export function applied({ body, replayed }: Answered, values = (value: object) => value): Applied<unknown> {
  const { receipt = null, dry_run: _, ...value } = body as { receipt?: Receipt; dry_run?: boolean };
  return { status: "applied", value: values(value), receipt, replayed };
}

export function refused({ code, facts = {}, retryable, title, advice }: Problem): RefusedBy<Code> {
  // The generated types say which facts a code has.
  return { status: "refused", code, facts, retryable, title, advice } as unknown as RefusedBy<Code>;
}
