import { signal } from '@preact/signals'
import { call } from './client'
import type { DebateSummary, Delta, End, Event } from './generated'

export interface Listener {
  /** Connected, for the first time or again: what was asked for beside the stream may be old. */
  opened?(): unknown
  event?(event: Event): void
  delta?(delta: Delta): void
  debate?(debate: DebateSummary): void
  end?(end: End): void
}

export type Connection = 'connecting' | 'live' | 'lost' | 'ended'
export const connection = signal<Connection>('connecting')

const FIRST_WAIT = 1000
const LONGEST_WAIT = 15_000

/** One stream for the whole page. The browser comes back by itself with the place it had reached; where it gives up
 * (a server that restarts, say), this opens a new one at that place. */
export class Stream {
  private source: EventSource | undefined
  private timer: ReturnType<typeof setTimeout> | undefined
  private wait = FIRST_WAIT
  private closed = false

  constructor(
    private readonly query: () => string,
    private readonly listener: Listener,
  ) {
    connection.value = 'connecting'
    this.open()
  }

  /** Begin anew from the place that `query` names: what was in flight is told again from its beginning. */
  reopen(): void {
    clearTimeout(this.timer)
    this.source?.close()
    this.open()
  }

  close(state: Connection = 'ended'): void {
    this.closed = true
    clearTimeout(this.timer)
    this.source?.close()
    connection.value = state
  }

  private open(): void {
    if (this.closed) return
    const source = new EventSource(`/v1/stream?${this.query()}`)
    this.source = source
    source.onopen = () => {
      this.wait = FIRST_WAIT
      connection.value = 'live'
      this.listener.opened?.()
    }
    source.onerror = () => {
      if (this.closed || source !== this.source) return
      connection.value = 'lost'
      if (source.readyState !== EventSource.CLOSED) return
      void call('getSession').catch(() => undefined) // a session that has ended leads to the login
      this.timer = setTimeout(() => this.open(), this.wait)
      this.wait = Math.min(this.wait * 2, LONGEST_WAIT)
    }
    source.onmessage = ({ data }: MessageEvent<string>) => this.listener.event?.(JSON.parse(data) as Event)
    this.on(source, 'delta', (data) => this.listener.delta?.(data as Delta))
    this.on(source, 'debate', (data) => this.listener.debate?.(data as DebateSummary))
    this.on(source, 'end', (data) => this.listener.end?.(data as End))
  }

  private on(source: EventSource, name: string, act: (data: unknown) => void): void {
    source.addEventListener(name, (message) => act(JSON.parse((message as MessageEvent<string>).data)))
  }
}
