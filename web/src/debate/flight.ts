import type { Delta } from '../api/generated'
import { Readable } from './readable'

const BLOCK_CHARS = 500
const ENDS = /\n+|[.!?…]\s/

/** Text that is being written. It writes each piece into the element that shows it; nothing else is drawn again. */
export class Flight {
  readonly key: string
  readonly seat: string
  readonly round: number
  readonly phase: string
  readonly shows: string
  attempt: number
  end = 0
  done = false
  shown = ''
  private readable = new Readable()
  private pending = ''
  private element: HTMLElement | undefined
  private node: Text | undefined

  constructor(delta: Delta) {
    this.key = delta.key
    this.seat = delta.seat
    this.round = delta.round
    this.phase = delta.phase
    this.shows = delta.shows
    this.attempt = delta.attempt
  }

  /** False when a piece is missing, which only beginning anew can mend. */
  hear(delta: Delta): boolean {
    if (delta.offset === 0) this.restart(delta.attempt)
    else if (delta.offset !== this.end) return false
    this.end = delta.end
    this.done = delta.done
    const words = this.readable.feed(delta.text)
    this.shown += words
    this.pending += words
    return true
  }

  /** Into the page, at most once a frame. */
  flush(): void {
    if (!this.element || !this.pending) return
    let rest = this.pending
    this.pending = ''
    while (rest) rest = this.write(rest)
  }

  show(element: HTMLElement | null): void {
    this.element = element ?? undefined
    this.node = undefined
    this.element?.replaceChildren()
    this.pending = this.shown
    this.flush()
  }

  /** Long text goes into several blocks, each broken off behind a line or a sentence: the browser lays out and paints
   * the last one again with each piece, and need not touch the others. Gives what belongs into the next block. */
  private write(text: string): string {
    this.node ??= this.element?.appendChild(document.createElement('div')).appendChild(document.createTextNode(''))
    const room = Math.max(0, BLOCK_CHARS - (this.node?.length ?? 0))
    const found = text.length > room ? ENDS.exec(text.slice(room)) : null
    const end = found ? room + found.index + found[0].length : text.length
    this.node?.appendData(text.slice(0, end))
    if (found) this.node = undefined
    return text.slice(end)
  }

  private restart(attempt: number): void {
    this.attempt = attempt
    this.readable = new Readable()
    this.shown = this.pending = ''
    this.node = undefined
    this.element?.replaceChildren()
  }
}
