// A client of Scarce.

export { Scarce } from "./client.js";
export type { Options } from "./client.js";
export type { BatchOutcome, Line, Outcomes } from "./batch.js";
export * from "./generated/codes.js";
export * from "./generated/commands.js";
export * from "./generated/types.js";
export type { ChannelData, OrderChange, OwnOrders, Update } from "./live.js";
export { ScarceError } from "./outcome.js";
export type {
  Absent, Answer, Applied, CallOptions, CommonRefusal, Durability, Failed, Outcome, Refused, RefusedBy, Undecided,
  WaitOptions,
} from "./outcome.js";
export { TransportError } from "./transport.js";
export type { Request, Response, Streamed, TlsOptions, Transport } from "./transport.js";
