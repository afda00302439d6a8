// What comes of a command: applied, refused or undecided. Errors are thrown.

import type { Code, Facts } from "./generated/codes.js";
import type { CommandName, Commands, WriteCommand } from "./generated/commands.js";
import type { Receipt } from "./generated/types.js";

/** How a command is sent. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  /** The argument that names a resource in the command's partition. */
  readonly on: string;
  readonly takesId: boolean;
  /** Whether a refusal is remembered under the id, so that no copy of the request can be applied later. */
  readonly remembersRefusals: boolean;
}

/** How safe a change must be before it is answered. */
export type Durability = "memory" | "replicated" | "synced";

/** What a single call may say besides its arguments. */
export interface CallOptions {
  /** The operation id; by default a new one. Give your own to find the operation again after a crash of yours. */
  id?: string;
  /** From this time on (ms since the Unix epoch) the command is not applied. */
  deadline?: number;
  durability?: Durability;
  /** Tells what would happen, and changes nothing. */
  dryRun?: boolean;
  /** How long the call may take in all, with its retries. */
  timeoutMs?: number;
  /** Ends the call early. A change that may have been sent is then undecided. */
  signal?: AbortSignal;
}

/** The refusals that any change may get, besides those of its command. */
export type CommonRefusal = "CROSS_PARTITION" | "ID_REUSED" | "ID_EXPIRED" | "DEADLINE_PASSED" | "RESOLVED_ABSENT";

/** The command took effect, or, if it reads, was answered. */
export interface Applied<V> {
  readonly status: "applied";
  readonly value: V;
  /** Where the change is in the log; null for reads and dry runs. */
  readonly receipt: Receipt | null;
  /** Whether this is the first answer again. */
  readonly replayed: boolean;
}

/** The rules do not allow it: an ordinary answer. No copy of the request will be applied under this id. */
export interface RefusedBy<C extends Code> {
  readonly status: "refused";
  readonly code: C;
  readonly facts: Facts[C];
  /** Whether the same command may succeed later, with a new id. */
  readonly retryable: boolean;
  readonly title: string;
  readonly advice: string;
}

/** One of these refusals; `code` tells which, and with it the type of `facts`. */
export type Refused<C extends Code> = { [K in C]: RefusedBy<K> }[C];

/** Nothing was done under this id, and nothing ever will be. */
export interface Absent {
  readonly status: "absent";
  readonly operation: string;
}

/** The time for the call is up, and the server may or may not have applied it. */
export interface Undecided<O> {
  readonly status: "undecided";
  readonly operation: string;
  /** Why there is no answer. */
  readonly reason: ScarceError;
  /** Sends it again with the same id. */
  retry(options?: WaitOptions): Promise<O | Undecided<O>>;
  /** Asks whether it was applied; undecided again if the server does not know it. */
  ask(options?: WaitOptions): Promise<O | Undecided<O>>;
  /** Settles it: answers what was decided, or ensures that it never happens. */
  resolve(options?: WaitOptions): Promise<O | Absent | Undecided<O>>;
}

/** How long a question may take. */
export type WaitOptions = Pick<CallOptions, "timeoutMs" | "signal">;

/** An answer of the server to a command. */
export type Answer<N extends CommandName> =
  | Applied<Commands[N]["result"]>
  | Refused<Commands[N]["refusals"] | (N extends WriteCommand ? CommonRefusal : "CROSS_PARTITION")>;

/** What comes of a command. */
export type Outcome<N extends CommandName> =
  | Answer<N>
  | (N extends WriteCommand ? Undecided<Answer<N>> : never);

/** A line of a batch that could not be done, and was not. */
export interface Failed {
  readonly status: "failed";
  readonly error: ScarceError;
}

/** Something is wrong besides the rules. Nothing was changed by the call that throws it. */
export class ScarceError extends Error {
  override readonly name = "ScarceError";

  constructor(
    /** The server's code, or UNREACHABLE, LOST, ABORTED or GARBLED. */
    readonly code: string,
    message: string,
    /** The status of HTTP; 0 without an answer. */
    readonly status: number = 0,
    readonly facts: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(`${code}: ${message}`, options);
  }
}
