// Live channels: all of a balance, a sale or a book, then each change, over connections that come and go.

import { readEvents } from "./events.js";
import { pause } from "./exchange.js";
import type { Exchange } from "./exchange.js";
import type {
  AccountGetResult, CouponGetResult, MarketDepthResult, MarketTickerResult, MarketTradesResult, OrderGetRow,
  PacketGetResult, StockGetResult,
} from "./generated/types.js";
import { ScarceError } from "./outcome.js";
import type { Requests } from "./requests.js";
import { TransportError } from "./transport.js";
import type { Transport } from "./transport.js";

/** What happened to one of an owner's orders. Which of the optional members it has depends on `change`. */
export interface OrderChange {
  readonly change: "placed" | "traded" | "rested" | "reduced" | "replaced" | "cancelled";
  readonly order: string;
  /** What is open of the order after it; 0 when the order is over. */
  readonly remaining: number;
  readonly sequence: number;
  readonly at: number;
  readonly side?: "BUY" | "SELL";
  readonly price?: number | null;
  readonly quantity?: number;
  readonly tif?: string;
  readonly stp?: string;
  readonly role?: "maker" | "taker";
  readonly trade?: number;
  readonly by?: number;
  readonly by_self_trade?: boolean;
  readonly keeps_priority?: boolean;
  readonly unfilled?: number;
  readonly reason?: string;
}

/** What the channel of an owner's orders shows: the resting orders in a snapshot, then what happened to any of them. */
export interface OwnOrders {
  readonly orders?: ReadonlyArray<OrderGetRow>;
  readonly changes?: ReadonlyArray<OrderChange>;
}

/** What a channel shows: the answer of the command that reads it. */
export type ChannelData<C extends string> = C extends `account.${string}` ? AccountGetResult
  : C extends `stock.${string}` ? StockGetResult
  : C extends `packets.${string}` ? PacketGetResult
  : C extends `coupon.${string}` ? CouponGetResult
  : C extends `market.${string}.orders.${string}` ? OwnOrders
  : C extends `market.${string}.trades` ? MarketTradesResult
  : C extends `market.${string}.ticker` ? MarketTickerResult
  : C extends `market.${string}` ? MarketDepthResult
  : Record<string, unknown>;

/** A change of a channel. */
export type Update<C extends string> = { [K in C]: UpdateOf<K> }[C];

interface UpdateOf<C extends string> {
  readonly channel: C;
  /** `snapshot`: what was there before is void, since changes may have been missed. */
  readonly type: "snapshot" | "delta";
  /** All that the channel shows now; null if there is no such resource. Of trades and changes of orders, only those that are new. */
  readonly data: ChannelData<C> | null;
  /** Up to which event of its partition's log this is. */
  readonly epoch: number;
  readonly sequence: number;
}

interface Message {
  channel: string;
  type: "snapshot" | "delta" | "end" | "heartbeat";
  epoch: number;
  sequence?: number;
  first?: number;
  last?: number;
  data: Record<string, unknown> | null;
}

/** The server says something every 15 seconds. */
const SILENCE_MS = 45_000;

/** What is known of a channel. */
class View {
  data: Record<string, unknown> | null = null;
  #last = -1;
  #trade = 0;

  /** Whether the message is news; `gap` if something before it is missing. */
  take(message: Message): boolean | "gap" {
    const { data, sequence = -1, first = 0, last = -1 } = message;
    if (message.type === "snapshot") {
      this.#last = sequence;
      this.data = this.withNewTrades(data);
      return true;
    }
    if (last <= this.#last) return false;
    if (first > this.#last + 1) return "gap";
    this.#last = last;
    this.data = data && "changes" in data ? data : this.withNewTrades(merged(this.data, data ?? {}));
    return true;
  }

  get sequence(): number {
    return this.#last;
  }

  /** Of trades, those that were not seen yet, oldest first: they are numbered. */
  private withNewTrades(data: Record<string, unknown> | null): Record<string, unknown> | null {
    if (!data || !Array.isArray(data["trades"])) return data;
    const trades = (data["trades"] as { trade: number }[]).filter((its) => its.trade > this.#trade);
    trades.sort((one, other) => one.trade - other.trade);
    this.#trade = trades.at(-1)?.trade ?? this.#trade;
    return { ...data, trades };
  }
}

/** All of a channel after a change. */
function merged(before: Record<string, unknown> | null, change: Record<string, unknown>): Record<string, unknown> {
  const after = { ...before, ...change };
  for (const [side, sign] of [["bids", -1], ["asks", 1]] as const) {
    if (!Array.isArray(change[side])) continue;
    const levels = new Map<number, { price: number; quantity: number }>();
    for (const level of [...((before?.[side] as []) ?? []), ...(change[side] as { price: number; quantity: number }[])]) {
      levels.set(level.price, level);
    }
    const left = [...levels.values()].filter((level) => level.quantity > 0);
    after[side] = left.sort((one, other) => sign * (one.price - other.price));
  }
  return after;
}

/** Follows channels until the signal ends it, or the server refuses. */
export async function* follow<C extends string>(
  channels: readonly C[],
  transport: Transport,
  exchange: Exchange,
  requests: Requests,
  signal?: AbortSignal,
): AsyncGenerator<Update<C>, void, undefined> {
  const views = new Map(channels.map((name) => [name as string, new View()]));
  const path = `/v1/live?channels=${channels.map(encodeURIComponent).join(",")}`;
  let last = "";
  for (let attempt = 0; !signal?.aborted; attempt += 1) {
    try {
      const stream = await transport.stream(requests.get(path, last ? { "last-event-id": last } : {}), SILENCE_MS, signal);
      if (stream.status !== 200) await refuse(stream.status, stream.chunks);
      for await (const event of readEvents(stream.chunks)) {
        const message = JSON.parse(event.data) as Message;
        if (message.type === "end") break;
        const view = views.get(message.channel);
        const news = view?.take(message) ?? false;
        last = news === "gap" ? "" : event.id;
        if (news === "gap") break;
        attempt = 0;
        if (view && news) yield updateOf(message, view) as Update<C>;
      }
    } catch (error) {
      const isFinal = error instanceof ScarceError || (error instanceof TransportError && error.kind === "fatal");
      if (isFinal || error instanceof SyntaxError) throw error;
    }
    await pause(exchange.pauseMs(attempt), signal);
  }
}

function updateOf({ channel, type, epoch }: Message, { data, sequence }: View): object {
  return { channel, type, data, epoch, sequence };
}

/** Throws what the server says, unless it may say something else later. */
async function refuse(status: number, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  if (status === 429 || status >= 500) throw new TransportError("lost", text);
  const { code = "GARBLED", detail = text, facts = {} } = JSON.parse(text) as Partial<{ code: string; detail: string; facts: object }>;
  throw new ScarceError(code, detail, status, { ...facts });
}
