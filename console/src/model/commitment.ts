// Whether the seed and the plan of a campaign are those that were committed to: docs/reference/red-packets.md.

import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'

export interface Revealed {
  seed: string
  total: number
  count: number
  method: string
  min: number
  max: number | null
}

/** The plan as it is hashed. */
export function planText({ total, count, method, min, max }: Revealed): string {
  return [total, count, method, min, max ?? '-'].join(' ')
}

/** What a seed and a plan commit to. */
export function commitmentOf(revealed: Revealed): string {
  return bytesToHex(sha256(concatBytes(hexToBytes(revealed.seed), utf8ToBytes(planText(revealed)))))
}
