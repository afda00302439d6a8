// Commands as requests.

import { ID_HEADER } from "./exchange.js";
import { ROUTES } from "./generated/commands.js";
import type { CommandName } from "./generated/commands.js";
import type { CallOptions, Route } from "./outcome.js";
import type { Request } from "./transport.js";

/** A command that is on its way, always under the same id. */
export interface Sent {
  readonly request: Request;
  /** Its id; null for reads and dry runs, which change nothing. */
  readonly id: string | null;
  /** A resource in its partition, by which the server can be asked about the id. */
  readonly on: string;
  readonly remembersRefusals: boolean;
  /** The answer's values, if they are not its members. */
  readonly values?: (body: object) => object;
}

/** Where and as which caller requests are sent. */
export class Requests {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, key: string | undefined) {
    this.#base = url.replace(/\/+$/, "");
    this.#headers = key ? { authorization: `Bearer ${key}` } : {};
  }

  /** A request for a path. */
  get(path: string, headers: Record<string, string> = {}): Request {
    return { method: "GET", url: this.#base + path, headers: { ...this.#headers, ...headers } };
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Request {
    const all = { ...this.#headers, "content-type": "application/json", ...headers };
    return { method: "POST", url: this.#base + path, headers: all, body: JSON.stringify(body) };
  }

  command(name: CommandName, args: object, options: CallOptions, newId: () => string): Sent {
    const route: Route = ROUTES[name];
    const rest = new Map(Object.entries(args).filter(([, value]) => value !== undefined && value !== null));
    const on = String(rest.get(route.on) ?? "");
    const take = (field: string) => {
      const value = rest.get(field);
      rest.delete(field);
      return value;
    };
    const path = route.path.replace(/\{(\w+)\}/g, (_, field: string) => encodeURIComponent(String(take(field) ?? "")));
    const query = new URLSearchParams();
    for (const field of route.query) {
      const value = take(field);
      if (value !== undefined) query.set(field, String(value));
    }
    if (options.dryRun) query.set("dry_run", "true");
    const id = route.takesId && !options.dryRun ? (options.id ?? newId()) : null;
    const headers: Record<string, string> = { ...this.#headers, ...commonHeaders(id, options) };
    const hasBody = route.method === "POST" || route.method === "PATCH";
    if (hasBody) headers["content-type"] = "application/json";
    const url = `${this.#base}${path}${query.size > 0 ? `?${query}` : ""}`;
    const body = hasBody ? { body: JSON.stringify(Object.fromEntries(rest)) } : {};
    const request = { method: route.method, url, headers, ...body };
    return { request, id, on, remembersRefusals: route.remembersRefusals };
  }
}

/** The headers of a change. */
export function commonHeaders(id: string | null, options: CallOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  if (id !== null) headers[ID_HEADER] = id;
  if (options.deadline !== undefined) headers["scarce-deadline"] = String(options.deadline);
  if (options.durability !== undefined) headers["scarce-durability"] = options.durability;
  return headers;
}
