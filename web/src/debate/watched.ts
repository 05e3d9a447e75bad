import { batch, computed, type Signal, signal } from '@preact/signals'
import { call } from '../api/client'
import type { Debate, DebateSummary, Delta, Event, Gate, Turn } from '../api/generated'
import { Stream } from '../api/stream'
import { announce } from '../ui/parts'
import { statusWord } from '../ui/status'
import { waitingChanged } from '../ui/waiting'
import { capital } from '../ui/words'
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
  event: Event | undefined // undefined: it is being written
  flight: Flight | undefined
  public: boolean // false: it is folded
}

/** One column's blocks. `follow`: it moves with what is new, because its reader is at the end of it. */
export class Lane {
  readonly blocks: Signal<Block[]> = signal([])
  readonly follow: Signal<boolean>
  readonly unread = signal(false)
  element: HTMLElement | undefined
  private left = 0 // where this, or its reader, left it

  constructor(
    readonly id: string,
    follow: boolean,
  ) {
    this.follow = signal(follow)
  }

  /** Only while a frame is drawn: whether its reader has scrolled up is told at the beginning of each, and not before. */
  toEnd(): void {
    if (this.element && this.follow.peek()) {
      this.element.scrollTop = 1e9
      this.left = this.element.scrollTop
    } else if (!this.unread.peek()) this.unread.value = true
  }

  /** It was scrolled: upwards, only its reader can have done it; and the browser, when there is less than before. */
  scrolled(): void {
    const { element, left } = this
    if (!element) return
    this.left = element.scrollTop
    if (this.atEnd(element)) this.follow.value = true
    else if (element.scrollTop < left - 1) this.follow.value = false
    if (!this.follow.peek()) return
    this.unread.value = false
    this.toEnd()
  }

  /** What was unfolded to be read is not moved away from. */
  stay(): void {
    if (this.element) this.follow.value = this.atEnd(this.element)
  }

  private atEnd({ scrollHeight, scrollTop, clientHeight }: HTMLElement): boolean {
    return scrollHeight - scrollTop - clientHeight < NEAR
  }
}

export const TABLE = 'table' // the lane of seats without a voice, of people, and of events without a turn
const COUNT_MS = 250
const NEAR = 48 // so close to the end counts as there

/** A debate as one page knows it: what was said, what is being said, what it asks. */
export class Watched {
  readonly debate: Signal<Debate>
  readonly names: Signal<Record<string, string>>
  readonly badges: Signal<Record<string, string>> = signal({})
  readonly voices: Signal<string[]> // seats with a lane of their own
  readonly lanes = new Map<string, Lane>()
  readonly reader: Lane // all of them in one column, whose element is the page
  readonly all = computed(() => [...new Set([...this.voices.value, TABLE])].flatMap((id) => this.lanes.get(id)?.blocks.value ?? []).sort((one, two) => (one.seq === two.seq ? 0 : one.seq - two.seq)))
  readonly events: Signal<Event[]> = signal([])
  readonly gates: Signal<Gate[]> = signal([])
  readonly flying = signal(0) // characters in flight, for the meter
  readonly speaking: Signal<ReadonlySet<string>> = signal(new Set<string>())
  readonly asked = new Set<string>() // keys of questions that were open on this page
  readonly answered = new Set<string>() // keys of what was answered from this page
  readonly unsent = signal('') // words for a question that was answered elsewhere meanwhile
  readonly openGate = computed(() => this.gates.value.find((gate) => gate.status === 'open' && gate.kind !== 'guidance'))
  private readonly flights = new Map<string, Flight>()
  private readonly dirty = new Set<Flight>()
  private readonly stream: Stream
  private seq = 0
  private frame = 0
  private arrived: Event[] = []
  private begun: Flight[] = []
  private counted = 0
  private gatesAsked = 0
  private gatesHeard = 0

  constructor(debate: Debate) {
    this.debate = signal(debate)
    const named = debate.outcome?.names ?? {}
    this.names = signal({ ...Object.fromEntries(debate.seats.map((seat) => [seat.id, seat.name])), ...named })
    this.voices = signal([])
    this.lanes.set(TABLE, new Lane(TABLE, this.isLive))
    this.reader = new Lane('', this.isLive)
    this.open(debate.seats.filter((seat) => !seat.optional || seat.id in named).map((seat) => seat.id))
    this.stream = new Stream(() => `debates=${debate.id}:${this.seq}&html=true`, {
      opened: () => this.seeGates(),
      event: (event) => this.happened(event),
      delta: (delta) => this.heard(delta),
      debate: (summary) => this.changed(summary),
      end: () => {
        this.refresh().then(
          () => this.stream.close(),
          () => this.stream.reopen(),
        )
      },
    })
    this.seeGates()
  }

  close(): void {
    cancelAnimationFrame(this.frame)
    this.stream.close()
  }

  private get isLive(): boolean {
    const { status } = this.debate.peek()
    return status !== 'completed' && status !== 'canceled'
  }

  /** Lanes for those of these seats that have a voice, in the order of the cast. */
  private open(seats: string[]): void {
    const voices = this.debate.peek().seats.filter((seat) => seat.voice && (this.lanes.has(seat.id) || seats.includes(seat.id)))
    for (const { id } of voices) if (!this.lanes.has(id)) this.lanes.set(id, new Lane(id, this.isLive))
    this.voices.value = voices.map((seat) => seat.id)
  }

  name(seat: string): string {
    return this.names.value[seat] ?? capital(seat)
  }

  async refresh(): Promise<void> {
    const { outcome, ...told } = await call('getDebate', { params: { debate_id: this.debate.peek().id }, query: { html: true } })
    this.learn(told)
    this.debate.value = { ...this.debate.peek(), outcome: outcome ?? this.debate.peek().outcome }
  }

  /** How it stands. Answers overtake each other: what is older than what is known is not taken. */
  learn(told: Partial<Debate> & DebateSummary): void {
    const known = this.debate.peek()
    if (!isOlder(told, known)) this.debate.value = { ...known, ...told }
  }

  private async loadGates(): Promise<void> {
    const asked = ++this.gatesAsked
    const { items } = await call('listGates', { params: { debate_id: this.debate.peek().id }, query: { html: true } })
    if (asked < this.gatesHeard) return
    this.gatesHeard = asked
    this.gates.value = items
  }

  /** Where the server can't be reached they are asked for again with the next connection. */
  seeGates(): void {
    this.loadGates().catch(() => undefined)
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
      if (delta.shows && !this.debate.peek().vocabulary.events[delta.shows]?.hidden) this.begun.push(flight)
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
    this.learn(summary)
    const now = this.debate.peek()
    if (now.status === before.status) return
    waitingChanged(now)
    announce(`${statusWord(now)}. ${now.headline ?? ''}`)
    this.seeGates()
  }

  private soon(): void {
    this.frame ||= requestAnimationFrame(() => this.draw())
  }

  private draw(): void {
    this.frame = 0
    if (this.arrived.length) this.take(this.arrived.splice(0))
    for (const flight of this.begun.splice(0)) if (this.flights.get(flight.key) === flight) this.put(this.laneOf(flight.seat), this.inFlight(flight))
    const moved = new Set<Lane>()
    for (const flight of this.dirty) {
      flight.flush()
      moved.add(this.laneOf(flight.seat))
    }
    this.dirty.clear()
    for (const lane of moved) lane.toEnd()
    if (moved.size && this.reader.element) this.reader.toEnd()
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
      let asked = false
      for (const event of events) {
        if (event.key) this.flights.delete(event.key)
        if (event.type === 'CAST') this.cast(event.data.names as Record<string, string>)
        if (event.badge) this.badges.value = { ...this.badges.peek(), [event.badge.seat]: event.badge.text }
        if (event.type === 'gate' || event.turn?.kind === 'gate') asked = true
        if (event.hidden) continue
        const lane = this.laneOf(event.turn?.seat ?? '')
        this.leave(event.key, lane, lanes)
        lanes.set(lane, placed(lanes.get(lane) ?? lane.blocks.peek(), fromEvent(event)))
      }
      for (const [lane, blocks] of lanes) lane.blocks.value = blocks
      this.events.value = [...this.events.peek(), ...events]
      this.tellSpeaking()
      if (asked) this.seeGates()
    })
  }

  /** What was in flight before its seat was named moves to the seat's own lane. */
  private leave(key: string, lane: Lane, lanes: Map<Lane, Block[]>): void {
    const table = this.laneOf('')
    const blocks = lanes.get(table) ?? table.blocks.peek()
    if (key && lane !== table && blocks.some((each) => each.key === key)) lanes.set(table, blocks.filter((each) => each.key !== key))
  }

  /** Seats were named, and take part from now on. */
  private cast(names: Record<string, string>): void {
    this.names.value = { ...this.names.peek(), ...names }
    this.open(Object.keys(names))
  }

  private put(lane: Lane, block: Block): void {
    lane.blocks.value = placed(lane.blocks.peek(), block)
  }

  private laneOf(seat: string): Lane {
    return (this.lanes.get(seat) ?? this.lanes.get(TABLE)) as Lane
  }

  private inFlight(flight: Flight): Block {
    const { key, seat, round, phase, shows } = flight
    const isPublic = this.debate.peek().vocabulary.events[shows]?.public ?? true
    return { key, seat, round, phase, type: shows, seq: Infinity, turn: null, event: undefined, flight, public: isPublic }
  }

  private tellSpeaking(): void {
    this.speaking.value = new Set([...this.flights.values()].filter((each) => !each.done).map((each) => each.seat))
  }
}

export function isOlder(one: DebateSummary, other: DebateSummary): boolean {
  return one.last_seq < other.last_seq || (one.last_seq === other.last_seq && one.updated_at < other.updated_at)
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
    event,
    flight: undefined,
    public: event.public,
  }
}

/** In the order of events; what is in flight comes last. */
function placed(blocks: Block[], block: Block): Block[] {
  const others = blocks.filter((each) => each.key !== block.key)
  const at = others.findLastIndex((each) => each.seq <= block.seq)
  return [...others.slice(0, at + 1), block, ...others.slice(at + 1)]
}
