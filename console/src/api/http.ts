// Requests to the server that this page came from. Refusals are answers; only a missing answer is an error.

import { preferences } from '../preferences.svelte.ts'
import { session } from '../session.svelte.ts'
import { address, type Query } from './address.ts'

const TIMEOUT_MS = 15_000

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json | undefined }
export type Fields = { [name: string]: Json | undefined }

/** A problem document of the server. */
export interface Problem {
  status: number
  code: string
  title: string
  detail?: string
  advice: string
  retryable: boolean
  facts?: Fields
  operation?: string
}

export type Answer<T> =
  | { ok: true; status: number; body: T; operation: string | null; isReplayed: boolean }
  | { ok: false; problem: Problem }

/** The server did not answer: whether it did what was asked is not known. */
export class Unanswered extends Error {}

export interface Request {
  method?: string
  query?: Query
  body?: Fields
  operation?: string
  signal?: AbortSignal
  /** Leaves it to the caller what a missing key means. */
  isSignIn?: boolean
}

export function headers(more: Record<string, string> = {}): Headers {
  const all = new Headers({ 'Accept-Language': preferences.language, ...more })
  if (session.key) all.set('Authorization', `Bearer ${session.key}`)
  return all
}

function sent(path: string, request: Request): Promise<Response> {
  const { method = 'GET', query, body, operation, signal } = request
  const more: Record<string, string> = { Accept: 'application/json' }
  if (method !== 'GET' && method !== 'DELETE') more['Content-Type'] = 'application/json'
  if (operation) more['Idempotency-Key'] = operation
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  return fetch(address(path, query), {
    method,
    headers: headers(more),
    cache: 'no-store',
    credentials: 'omit',
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

/** Sends, and notes what the answer says of the server and of the key. */
async function exchanged(path: string, request: Request): Promise<Response> {
  let response: Response
  const key = session.key
  try {
    response = await sent(path, request)
  } catch (error) {
    if (request.signal?.aborted) throw error
    session.isReachable = false
    throw new Unanswered(String(error))
  }
  session.isReachable = true
  session.learnTime(response.headers.get('Date'))
  if (response.status === 401 && !request.isSignIn) session.refuse(key)
  return response
}

/** The problem in an answer, or one that says what else it was. */
export async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text()
  try {
    const problem = JSON.parse(text) as Problem
    if (typeof problem.code === 'string') return problem
  } catch {
    // Something in front of the server answered.
  }
  const title = text.trim().slice(0, 200) || response.statusText
  return { status: response.status, code: `HTTP ${response.status}`, title, advice: '', retryable: response.status >= 500 }
}

/** Asks for JSON. */
export async function ask<T>(path: string, request: Request = {}): Promise<Answer<T>> {
  const response = await exchanged(path, request)
  if (!response.ok) return { ok: false, problem: await problemOf(response) }
  return {
    ok: true,
    status: response.status,
    body: (await response.json()) as T,
    operation: response.headers.get('Idempotency-Key'),
    isReplayed: response.headers.get('Idempotency-Replayed') === 'true',
  }
}

/** Asks for text, whatever the status: health says why it is 503. */
export async function askText(path: string, request: Request = {}): Promise<{ status: number; text: string }> {
  const response = await exchanged(path, request)
  return { status: response.status, text: await response.text() }
}

/** Finds out whether a key is needed, and whether this one is good. Returns why not. */
export async function checkAdmission(): Promise<Problem | null> {
  const answer = await ask('/v1/stock', { query: { limit: 1 }, isSignIn: true })
  // A key that may not list items is a good key all the same.
  if (answer.ok || answer.problem.code === 'FORBIDDEN') {
    session.admission = 'admitted'
    return null
  }
  if (answer.problem.status === 401 || answer.problem.status === 429) {
    session.admission = 'locked'
    return answer.problem
  }
  session.admission = 'admitted'
  return null
}
