import { type Operations, type Problem, ROUTES } from './generated'

export class Refusal extends Error {
  constructor(readonly problem: Problem) {
    super(problem.plain ?? problem.detail)
  }
  get slug(): string {
    return this.problem.type.split(':').at(-1) ?? ''
  }
}

type Name = keyof Operations
interface Asked<N extends Name> {
  params?: Operations[N]['params']
  query?: Operations[N]['query']
  body?: Operations[N]['body']
  key?: string // Idempotency-Key
  signal?: AbortSignal
}

let logins = 0
export const loggedIn = (): number => logins++

let onLoginNeeded: () => void = () => {}
export function whenLoginNeeded(act: () => void): void {
  onLoginNeeded = act
}

export function address(name: Name, params: object = {}, query: object = {}): string {
  const path = ROUTES[name][1].replaceAll(/\{(\w+)\}/g, (_: string, each: string) =>
    encodeURIComponent(String((params as Record<string, unknown>)[each])),
  )
  const asked = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const search = new URLSearchParams(asked.map(([key, value]) => [key, String(value)])).toString()
  return search ? `${path}?${search}` : path
}

/** Raises Refusal with what the server says; a server that can't be reached is one, too. */
export async function call<N extends Name>(name: N, asked: Asked<N> = {}): Promise<Operations[N]['gives']> {
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (asked.body !== undefined) headers['Content-Type'] = 'application/json'
  if (asked.key) headers['Idempotency-Key'] = asked.key
  const asWhom = logins
  let response: Response
  try {
    response = await fetch(address(name, asked.params, asked.query), {
      method: ROUTES[name][0],
      headers,
      body: asked.body === undefined ? null : JSON.stringify(asked.body),
      signal: asked.signal ?? null,
      cache: 'no-cache',
    })
  } catch (error) {
    if (asked.signal?.aborted) throw error
    throw unreachable()
  }
  if (response.status === 204) return undefined
  const told: unknown = await response.json().catch(() => undefined)
  if (response.ok) return told as Operations[N]['gives']
  const problem = told as Problem | undefined
  // What was asked before a login says nothing about it.
  if (response.status === 401 && name !== 'login' && asWhom === logins) onLoginNeeded()
  throw new Refusal(problem?.detail ? problem : { ...unreachable().problem, status: response.status })
}

function unreachable(): Refusal {
  return new Refusal({
    type: 'urn:moot:problem:unreachable',
    title: 'The server can’t be reached',
    status: 503,
    detail: 'The server can’t be reached. The page connects again by itself when it is back.',
    instance: location.pathname,
  })
}

export function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export const newKey = (): string => crypto.randomUUID()
