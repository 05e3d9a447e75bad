import type { Caption, Outcome } from '../api/generated'
import { Prose } from '../ui/parts'
import { Checks } from './checks'
import type { Block, Watched } from './watched'

/** Typed facts at a glance, beside the words of an event. */
export function Notes({ caption }: { caption: Caption | null | undefined }) {
  if (!caption?.notes.length) return null
  return (
    <p class="notes">
      {caption.notes.map((note, at) => (note.tone === 'strong' ? <b key={at}>{note.text}</b> : <span key={at} class={`tag ${note.tone}`}>{note.text}</span>))}
    </p>
  )
}

/** An event without a turn: what the rules themselves say. */
export function Note({ block, watched }: { block: Block; watched: Watched }) {
  const { event } = block
  if (event?.type === 'VERDICT') return <Verdict watched={watched} announced={event.data as unknown as Announced} />
  const caption = event?.caption
  if (!caption) return null
  return (
    <section class={`block card-note${event.quiet ? ' quiet' : ''}`} id={block.key}>
      <p class="note-line">{caption.heading}</p>
      <Notes caption={caption} />
      {caption.lines.length > 0 && <ul>{caption.lines.map((line) => <li key={line}>{line}</li>)}</ul>}
    </section>
  )
}

/** The event's data is the outcome as the format returned it, without the words that the API adds. */
type Announced = Omit<Outcome, 'checked' | 'ended' | 'limit' | 'html'>

/** The event comes a little before the outcome with its words. */
function Verdict({ watched, announced }: { watched: Watched; announced: Announced }) {
  const outcome = watched.debate.value.outcome
  const { headline, how, reason, statement, checks } = announced
  const isShown = watched.events.value.some(({ turn, hidden }) => turn && !hidden && turn.content.trim() === statement.trim())
  return (
    <section class="block verdict" id="verdict">
      <header><span class="what"><strong>Outcome</strong></span></header>
      <p class="headline" dir="auto">{headline}</p>
      {how && <p class="how">{how}</p>}
      <Checks checks={checks} />
      {(outcome || reason) && <p class="note-line">{outcome && `Ended because ${outcome.ended}.`} {reason}</p>}
      {outcome?.notes.map((note) => <p key={note} class="note-line">{note}</p>)}
      {statement && !isShown && statement.trim() !== headline && <Prose html={outcome?.html} text={statement} />}
    </section>
  )
}
