// The client.

import { makeTransport } from "#transport";

import { Batches } from "./batch.js";
import type { BatchOutcome, Line, Outcomes } from "./batch.js";
import { Caller } from "./caller.js";
import { Exchange } from "./exchange.js";
import type { Patience } from "./exchange.js";
import {
  AccountCommands, CouponCommands, MarketCommands, OperationCommands, OrderCommands, PacketCommands, StockCommands,
} from "./generated/commands.js";
import type { BatchCommand, CommandName, Commands, WriteCommand } from "./generated/commands.js";
import { Clock, newId } from "./ids.js";
import { follow } from "./live.js";
import type { Update } from "./live.js";
import { ScarceError } from "./outcome.js";
import type { CallOptions, Outcome, WaitOptions } from "./outcome.js";
import { Requests, commonHeaders } from "./requests.js";
import type { TlsOptions, Transport } from "./transport.js";

/** How to reach the server. */
export interface Options {
  /** `http://host:port` or `https://host:port`. */
  url: string;
  /** The key or the password, if the server has any. */
  key?: string;
  /** How long a call may take in all, with its retries; 30 seconds by default. */
  timeoutMs?: number;
  /** How long a single attempt may take; 5 seconds by default. */
  attemptTimeoutMs?: number;
  /** The first pause between two attempts, and the longest; 50 ms and 2 seconds by default. */
  pauseMs?: number;
  pauseMsMax?: number;
  /** Certificates, in Node. */
  tls?: TlsOptions;
  /** Sends requests in another way. */
  transport?: Transport;
}

/** A client of a server. It keeps connections open; share it. */
export class Scarce {
  readonly account: AccountCommands;
  readonly stock: StockCommands;
  readonly packet: PacketCommands;
  readonly coupon: CouponCommands;
  readonly market: MarketCommands;
  readonly order: OrderCommands;
  readonly operation: OperationCommands;
  readonly #transport: Transport;
  readonly #exchange: Exchange;
  readonly #requests: Requests;
  readonly #caller: Caller;
  readonly #batches: Batches;
  readonly #clock = new Clock();

  constructor(options: Options) {
    const { url, key, tls = {}, timeoutMs = 30_000, transport = makeTransport(tls) } = options;
    const { attemptTimeoutMs = 5_000, pauseMs = 50, pauseMsMax = 2_000 } = options;
    const patience: Patience = { attemptMs: attemptTimeoutMs, pauseMs, pauseMsMax };
    this.#transport = transport;
    this.#exchange = new Exchange(transport, this.#clock, patience);
    this.#requests = new Requests(url, key);
    this.#caller = new Caller(this.#exchange, this.#requests, timeoutMs);
    this.#batches = new Batches(this.#exchange, this.#requests, this.#caller);
    const send = <N extends CommandName>(name: N, args: Commands[N]["arguments"], options?: CallOptions) =>
      this.#send(name, args, options);
    this.account = new AccountCommands(send);
    this.stock = new StockCommands(send);
    this.packet = new PacketCommands(send);
    this.coupon = new CouponCommands(send);
    this.market = new MarketCommands(send);
    this.order = new OrderCommands(send);
    this.operation = new OperationCommands(send);
  }

  /** Sums of the state of each partition, by which deployments are compared. */
  digest(args: Commands["DIGEST"]["arguments"] = {}, options?: CallOptions): Promise<Outcome<"DIGEST">> {
    return this.#send("DIGEST", args, options);
  }

  /** Sends many commands in a request, each with an outcome and an id of its own. */
  async batch<const L extends readonly Line<BatchCommand>[]>(lines: L, options: WaitOptions = {}): Promise<Outcomes<L>> {
    const outcomes = await this.#batches.send(lines, this.#newId, this.#caller.until(options));
    return outcomes as unknown as Outcomes<L>;
  }

  /** Applies all of the lines or none, under one id. Their resources must be in one partition. */
  async atomic<const L extends readonly Line<BatchCommand & WriteCommand>[]>(
    lines: L,
    options: CallOptions = {},
  ): Promise<BatchOutcome<L>> {
    const id = options.dryRun ? null : (options.id ?? this.#newId());
    const sent = this.#batches.atomic(lines, id, commonHeaders(id, options), options);
    return (await this.#caller.call(sent, this.#caller.until(options))) as unknown as BatchOutcome<L>;
  }

  /** Follows live channels, such as `stock.sku-1` and `market.BTC-USDT.depth`, through lost connections. */
  live<const C extends string>(channels: readonly C[], options: { signal?: AbortSignal } = {}): AsyncGenerator<Update<C>, void, undefined> {
    return follow(channels, this.#transport, this.#exchange, this.#requests, options.signal);
  }

  /** Closes idle connections. */
  close(): void {
    this.#transport.close();
  }

  readonly #newId = (): string => newId(this.#clock.now());

  async #send<N extends CommandName>(name: N, args: Commands[N]["arguments"], options: CallOptions = {}): Promise<Outcome<N>> {
    const until = this.#caller.until(options);
    const sent = this.#requests.command(name, args, options, this.#newId);
    try {
      return (await this.#caller.call(sent, until)) as unknown as Outcome<N>;
    } catch (error) {
      // The clock of this machine is wrong, and the answer has told by how much.
      if (options.id !== undefined || !isWrongTime(error)) throw error;
      const again = this.#requests.command(name, args, options, this.#newId);
      return (await this.#caller.call(again, until)) as unknown as Outcome<N>;
    }
  }
}

function isWrongTime(error: unknown): boolean {
  return error instanceof ScarceError && error.code === "INVALID" && error.facts["argument"] === "ID";
}
