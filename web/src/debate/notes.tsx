import type { Caption, Grid } from '../api/generated'
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
  if (event?.type === 'VERDICT') return <Verdict watched={watched} headline={String(event.data.headline ?? '')} />
  const caption = event?.caption
  if (!caption) return null
  return (
    <section class={`block card-note${event.quiet ? ' quiet' : ''}`} id={block.key}>
      <p class="note-line">{caption.heading}</p>
      <Notes caption={caption} />
      {caption.grid ? <GridView grid={caption.grid} title={caption.heading} /> : caption.lines.length > 0 && <ul>{caption.lines.map((line) => <li key={line}>{line}</li>)}</ul>}
    </section>
  )
}

const GOOD = new Set(['✓', 'yes'])
const BAD = new Set(['✗', 'no'])

const SPOKEN: Record<string, string> = { '✓': 'passes', '✗': 'fails', '–': 'not run' }
interface GridProps { grid: Grid; title: string; under?: string[]; total?: string[] } // below each column's name, and below the column

/** Marks in a table: a row for each case, a column for each candidate. */
export function GridView({ grid, title, under = [], total = [] }: GridProps) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={title}>
      <table class="grid-table">
        <thead>
          <tr>
            <th scope="col">Case</th>
            {grid.columns.map((each, at) => <th key={each} scope="col" class="mark-cell">{each}{under[at] && <small>{under[at]}</small>}</th>)}
            <th scope="col">Known</th>
          </tr>
        </thead>
        <tbody>
          {grid.rows.map((row, at) => (
            <tr key={at}>
              <th scope="row"><code>{row.name}</code></th>
              {row.cells.map((cell, column) => <td key={column} class={`mark-cell ${GOOD.has(cell) ? 'good' : BAD.has(cell) ? 'bad' : ''}`}><Cell text={cell} /></td>)}
              <td><span class="tag">{row.note}</span></td>
            </tr>
          ))}
        </tbody>
        {total.length > 0 && <tfoot><tr><th scope="row">Passed, of those run</th>{total.map((each, at) => <td key={at} class="mark-cell">{each}</td>)}<td /></tr></tfoot>}
      </table>
      {grid.more > 0 && <p>and {grid.more} more</p>}
    </div>
  )
}

/** A mark is seen, its word is heard. */
function Cell({ text }: { text: string }) {
  const word = SPOKEN[text]
  return word ? <><span aria-hidden="true">{text}</span><span class="unseen">{word}</span></> : <>{text}</>
}

/** The card above has the outcome; here it only has its place in time. */
function Verdict({ watched, headline }: { watched: Watched; headline: string }) {
  const { outcome } = watched.debate.value
  return (
    <section class="block verdict" id="verdict">
      <header><span class="what"><strong>Outcome</strong></span></header>
      <p class="headline" dir="auto">{headline}</p>
      {outcome && <p class="note-line">Ended because {outcome.ended}.</p>}
    </section>
  )
}
