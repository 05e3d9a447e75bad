import { batch, computed, type Signal, signal } from '@preact/signals'
import { call } from '../api/client'
import type { Debate, DebateSummary, Delta, Event, Gate, Turn } from '../api/generated'
import { Stream } from '../api/stream'
import { announce } from '../ui/parts'
import { statusWord } from '../ui/status'
import { Flight } from './flight'

/** Something to show in a lane: an event that happened, or text that is being written. Both have the step's key, so
 * that the one takes the other's place. */
export interface Block {
  key: string
  type: string
  seat: string
  round: number
  phase: string
  seq: number
  turn: Turn | null
  data: Record<string, unknown>
  flight: Flight | undefined
}

/** One column's blocks. `follow`: it moves with what is new, because its reader is at the end of it. */
export class Lane {
  readonly blocks: Signal<Block[]> = signal([])
  readonly follow: Signal<boolean>
  readonly unread = signal(false)
  element: HTMLElement | undefined

  constructor(
    readonly id: string,
    follow: boolean,
  ) {
    this.follow = signal(follow)
  }

  toEnd(): void {
    if (this.element && this.follow.peek()) this.element.scrollTop = 1e9
    else if (!this.unread.peek()) this.unread.value = true
  }
}

export const TABLE = 'table' // the lane of the judge, the moderator, people, and what the rules say
const COUNT_MS = 250
const TOLD_ELSEWHERE = new Set(['HEADER', 'CAST', 'ROUND', 'status', 'gate'])

/** A debate as one page knows it: what was said, what is being said, what it asks. */
export class Watched {
  readonly debate: Signal<Debate>
  readonly names: Signal<Record<string, string>>
  readonly lanes = new Map<string, Lane>()
  readonly events: Signal<Event[]> = signal([])
  readonly gates: Signal<Gate[]> = signal([])
  readonly flying = signal(0) // characters in flight, for the meter
  readonly speaking: Signal<ReadonlySet<string>> = signal(new Set<string>())
  readonly openGate = computed(() => this.gates.value.find((gate) => gate.status === 'open' && gate.kind !== 'guidance'))
  private readonly flights = new Map<string, Flight>()
  private readonly dirty = new Set<Flight>()
  private readonly stream: Stream
  private seq = 0
  private frame = 0
  private arrived: Event[] = []
  private counted = 0

  constructor(debate: Debate) {
    this.debate = signal(debate)
    this.names = signal(Object.fromEntries(debate.cast.map((seat) => [seat.id, seat.name])))
    const live = debate.status !== 'completed' && debate.status !== 'canceled'
    for (const seat of debate.cast) if (seat.role === 'debater') this.lanes.set(seat.id, new Lane(seat.id, live))
    this.lanes.set(TABLE, new Lane(TABLE, live))
    this.stream = new Stream(() => `debates=${debate.id}:${this.seq}&html=true`, {
      event: (event) => this.happened(event),
      delta: (delta) => this.heard(delta),
      debate: (summary) => this.changed(summary),
      end: () => {
        void this.refresh()
        this.stream.close()
      },
    })
    void this.loadGates()
  }

  close(): void {
    cancelAnimationFrame(this.frame)
    this.stream.close()
  }

  get debaters(): string[] {
    return this.debate.value.cast.filter((seat) => seat.role === 'debater').map((seat) => seat.id)
  }

  name(seat: string): string {
    return this.names.value[seat] ?? (seat === 'you' ? 'You' : seat === 'memory' ? 'Memory' : seat)
  }

  async refresh(): Promise<void> {
    this.debate.value = await call('getDebate', { params: { debate_id: this.debate.peek().id }, query: { html: true } })
  }

  async loadGates(): Promise<void> {
    this.gates.value = (await call('listGates', { params: { debate_id: this.debate.peek().id } })).items
  }

  /** Events are taken together, once a frame: a late joiner gets hundreds at once. */
  private happened(event: Event): void {
    if (event.seq <= this.seq) return
    this.seq = event.seq
    this.arrived.push(event)
    this.soon()
  }

  private heard(delta: Delta): void {
    let flight = this.flights.get(delta.key)
    if (!flight) {
      flight = new Flight(delta)
      this.flights.set(delta.key, flight)
      if (delta.shows) this.put(this.laneOf(delta.seat), inFlight(flight))
      this.tellSpeaking()
    }
    if (!flight.hear(delta)) {
      this.stream.reopen()
      return
    }
    if (delta.done) this.tellSpeaking()
    if (delta.done && !delta.shows) this.flights.delete(delta.key)
    this.dirty.add(flight)
    this.soon()
  }

  private changed(summary: DebateSummary): void {
    const before = this.debate.peek()
    this.debate.value = { ...before, ...summary }
    if (summary.status === before.status) return
    announce(`${statusWord(summary)}. ${summary.headline ?? ''}`)
    void this.loadGates()
    if (summary.status === 'completed') void this.refresh()
  }

  private soon(): void {
    this.frame ||= requestAnimationFrame(() => this.draw())
  }

  private draw(): void {
    this.frame = 0
    if (this.arrived.length) this.take(this.arrived.splice(0))
    const moved = new Set<Lane>()
    for (const flight of this.dirty) {
      flight.flush()
      moved.add(this.laneOf(flight.seat))
    }
    this.dirty.clear()
    for (const lane of moved) lane.toEnd()
    this.count()
  }

  /** A few times a second is enough for a number. */
  private count(): void {
    const now = performance.now()
    if (now - this.counted < COUNT_MS) return
    this.counted = now
    let flying = 0
    for (const flight of this.flights.values()) flying += flight.end
    this.flying.value = flying
  }

  private take(events: Event[]): void {
    batch(() => {
      const lanes = new Map<Lane, Block[]>()
      for (const event of events) {
        if (event.key) this.flights.delete(event.key)
        if (event.type === 'CAST') this.names.value = { ...this.names.peek(), ...(event.data.names as Record<string, string>) }
        if (event.type === 'gate' || event.turn?.kind === 'gate') void this.loadGates()
        if (TOLD_ELSEWHERE.has(event.type) || (!event.turn && event.type === event.type.toLowerCase())) continue
        const lane = this.laneOf(event.turn?.seat ?? '')
        lanes.set(lane, placed(lanes.get(lane) ?? lane.blocks.peek(), fromEvent(event)))
      }
      for (const [lane, blocks] of lanes) lane.blocks.value = blocks
      this.events.value = [...this.events.peek(), ...events]
      this.tellSpeaking()
    })
  }

  private put(lane: Lane, block: Block): void {
    lane.blocks.value = placed(lane.blocks.peek(), block)
  }

  private laneOf(seat: string): Lane {
    return (this.lanes.get(seat) ?? this.lanes.get(TABLE)) as Lane
  }

  private tellSpeaking(): void {
    this.speaking.value = new Set([...this.flights.values()].filter((each) => !each.done).map((each) => each.seat))
  }
}

function inFlight(flight: Flight): Block {
  const { key, seat, round, phase } = flight
  return { key, seat, round, phase, type: flight.shows, seq: Infinity, turn: null, data: {}, flight }
}

function fromEvent(event: Event): Block {
  const turn = event.turn
  return {
    key: event.key || `event-${event.seq}`,
    type: event.type,
    seat: turn?.seat ?? '',
    round: turn?.round ?? Number(event.data.round ?? -1),
    phase: turn?.phase ?? '',
    seq: event.seq,
    turn,
    data: event.data,
    flight: undefined,
  }
}

/** In the order of events; what is in flight comes last. */
function placed(blocks: Block[], block: Block): Block[] {
  const others = blocks.filter((each) => each.key !== block.key)
  const at = others.findLastIndex((each) => each.seq <= block.seq)
  return [...others.slice(0, at + 1), block, ...others.slice(at + 1)]
}
