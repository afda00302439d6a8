// Operation ids that carry their time (UUIDv7), so that a very late copy is refused instead of applied again.

/** A difference of the clocks below this is not corrected. */
const DIFFERENCE_MS_MIN = 5_000;

/** The server's clock, as far as its answers tell. Ids that are ahead of it are refused. */
export class Clock {
  #aheadMs = 0;

  now(): number {
    return Date.now() + this.#aheadMs;
  }

  /** Takes the `Date` of an answer. */
  learn(date: string | null): void {
    const theirs = date === null ? NaN : Date.parse(date);
    if (Number.isNaN(theirs)) return;
    const difference = theirs - Date.now();
    this.#aheadMs = Math.abs(difference) < DIFFERENCE_MS_MIN ? 0 : difference;
  }
}

/** A new id of this time. */
export function newId(ms: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  new DataView(bytes.buffer).setUint16(0, Math.floor(ms / 2 ** 32));
  new DataView(bytes.buffer).setUint32(2, ms % 2 ** 32);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
