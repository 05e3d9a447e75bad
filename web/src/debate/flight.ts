import type { Delta } from '../api/generated'
import { formatted, plain } from './markdown'
import { Readable } from './readable'

const BETWEEN = /\n{2,}/

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
  private node: Text | undefined // of the paragraph that is being written
  private raw = '' // that paragraph, with its marks

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
    const pieces = this.pending.split(BETWEEN)
    this.pending = ''
    pieces.forEach((piece, at) => {
      if (at) this.finish()
      this.write(piece)
    })
  }

  show(element: HTMLElement | null): void {
    this.element = element ?? undefined
    this.forget()
    this.element?.replaceChildren()
    this.pending = this.shown
    this.flush()
  }

  /** Into the paragraph that is being written, without its marks; the browser need not touch the others. */
  private write(text: string): void {
    if (!text || !this.element) return
    this.node ??= this.element.appendChild(document.createElement('p')).appendChild(document.createTextNode(''))
    this.raw += text
    this.node.appendData(plain(text, this.node.data))
  }

  /** A paragraph is complete: it gets the form that its marks ask for. Code goes on beyond an empty line. */
  private finish(): void {
    const paragraph = this.node?.parentElement
    if (!paragraph || !this.element) return
    if ((this.raw.match(/^```/gm) ?? []).length % 2) return this.write('\n\n')
    paragraph.replaceWith(formatted(this.raw))
    this.element.append('\n\n')
    this.forget()
  }

  private forget(): void {
    this.node = undefined
    this.raw = ''
  }

  private restart(attempt: number): void {
    this.attempt = attempt
    this.readable = new Readable()
    this.shown = this.pending = ''
    this.forget()
    this.element?.replaceChildren()
  }
}
