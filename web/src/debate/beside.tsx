import { useMemo, useState } from 'preact/hooks'
import { call } from '../api/client'
import type { Version } from '../api/generated'
import { ask, query } from '../router'
import { useLoad } from '../ui/load'
import { Failed, Loading } from '../ui/parts'
import { plural } from '../ui/words'
import { type Aligned, aligned, type Pair } from './aligned'
import { Diff } from './code'
import type { Watched } from './watched'

const CONTEXT = 3 // lines around a change that are shown
const MOST_ROWS = 4000 // that are drawn

/** Any two versions side by side. Which two is in the address. */
export function Beside({ all, watched }: { all: Version[]; watched: Watched }) {
  const changed = all.findLast((each) => all.some(({ id }) => id === each.parent))
  const chosen = (name: string): Version | undefined => all.find((each) => String(each.number) === query.value.get(name))
  const after = chosen('to') ?? changed ?? all.at(-1)!
  const before = chosen('from') ?? all.find((each) => each.id === after.parent) ?? all.find((each) => each !== after)!
  const pick = (name: 'from' | 'to', label: string, version: Version) => (
    <div>
      <label for={`beside-${name}`}>{label}</label>
      <select id={`beside-${name}`} value={String(version.number)} onChange={(event) => ask({ from: String(before.number), to: String(after.number), [name]: event.currentTarget.value })}>
        {all.map((each) => <option key={each.number} value={String(each.number)}>{each.label} by {watched.name(each.author)}</option>)}
      </select>
    </div>
  )
  return (
    <section class="card beside" aria-labelledby="beside-title">
      <header>
        <h2 id="beside-title">Two versions side by side</h2>
        <div class="beside-choice">{pick('from', 'From', before)}{pick('to', 'To', after)}</div>
      </header>
      <Both key={`${before.number}/${after.number}`} before={before} after={after} id={watched.debate.value.id} />
    </section>
  )
}

function Both({ before, after, id }: { before: Version; after: Version; id: string }) {
  const code = async (version: Version, signal: AbortSignal): Promise<string> => {
    const found = await call('listVersions', { params: { debate_id: id }, query: { number: version.number }, signal })
    return found.items[0]?.code ?? ''
  }
  const loaded = useLoad((signal) => Promise.all([code(before, signal), code(after, signal)]), [id, before.number, after.number])
  const [one, two] = loaded.value ?? []
  const made = useMemo(() => (one === undefined || two === undefined ? undefined : aligned(one, two)), [one, two])
  if (loaded.error) return <Failed error={loaded.error} again={loaded.again} />
  if (!made) return <Loading />
  if (one === two) return <p class="note-line" role="status">{before === after ? 'This is one and the same version.' : 'Both have the same code.'}</p>
  if (!made.exact && after.parent === before.id && after.diff_from_previous) {
    return <><p class="note-line" role="status">They are too long to be set side by side; this is what was changed.</p><Diff text={after.diff_from_previous} /></>
  }
  return <Table made={made} before={before.label} after={after.label} />
}

interface Row { pairs: Pair[]; hidden: boolean } // one pair, or lines that are the same and left out

function isSame({ before, after }: Aligned, pair: Pair): boolean {
  return pair.before !== undefined && pair.after !== undefined && before[pair.before] === after[pair.after]
}

/** Far from any change, lines are left out. */
function rowsOf(made: Aligned): Row[] {
  const near = new Array<boolean>(made.pairs.length).fill(false)
  made.pairs.forEach((pair, at) => {
    if (!isSame(made, pair)) near.fill(true, Math.max(0, at - CONTEXT), at + CONTEXT + 1)
  })
  const rows: Row[] = []
  made.pairs.forEach((pair, at) => {
    const last = rows.at(-1)
    if (near[at]) rows.push({ pairs: [pair], hidden: false })
    else if (last?.hidden) last.pairs.push(pair)
    else rows.push({ pairs: [pair], hidden: true })
  })
  return rows
}

function Table({ made, before, after }: { made: Aligned; before: string; after: string }) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set<number>())
  const rows = useMemo(() => rowsOf(made), [made])
  const changed = made.pairs.filter((pair) => !isSame(made, pair))
  const added = changed.filter((pair) => pair.after !== undefined).length
  const removed = changed.filter((pair) => pair.before !== undefined).length
  let drawn = 0
  return (
    <>
      <p class="note-line" role="status">
        {changed.length ? `${plural(removed, 'line')} removed, ${added} added.` : 'They differ only in how their lines end.'}
        {!made.exact && ' They are too long to be compared line by line: all between the first and the last difference counts as changed.'}
      </p>
      {/* The roles are said, since a narrow page shows the cells of a row below each other. */}
      <div class="table-scroll" tabIndex={0} role="region" aria-label={`${before} beside ${after}`}>
        <table class="beside-table" role="table">
          <colgroup><col class="number" /><col /><col class="number" /><col /></colgroup>
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader" scope="col"><span class="unseen">Line of {before}</span></th><th role="columnheader" scope="col">{before}</th>
              <th role="columnheader" scope="col"><span class="unseen">Line of {after}</span></th><th role="columnheader" scope="col">{after}</th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {rows.map((row, at) => {
              if (drawn > MOST_ROWS) return null
              if (row.hidden && !open.has(at)) {
                return (
                  <tr key={at} role="row" class="left-out">
                    <td role="cell" colSpan={4}><button class="link" onClick={() => setOpen(new Set([...open, at]))}>Show {plural(row.pairs.length, 'line')} that {row.pairs.length === 1 ? 'is' : 'are'} the same</button></td>
                  </tr>
                )
              }
              drawn += row.pairs.length
              return row.pairs.map((pair) => <Line key={`${pair.before}/${pair.after}`} made={made} pair={pair} />)
            })}
          </tbody>
        </table>
        {drawn > MOST_ROWS && <p class="note-line">and more: it is too long to be shown whole.</p>}
      </div>
    </>
  )
}

function Line({ made, pair }: { made: Aligned; pair: Pair }) {
  const same = isSame(made, pair)
  const side = (text: string | undefined, sign: string, word: string) => (
    <td role="cell" class={text === undefined ? 'none' : same ? 'same' : word}>
      {text !== undefined && <><span class="sign" aria-hidden="true">{same ? ' ' : sign}</span>{!same && <span class="unseen">{word}: </span>}<code>{text}</code></>}
    </td>
  )
  const number = (at: number | undefined) => <td role="cell" class={at === undefined ? 'number none' : 'number'}>{at === undefined ? '' : at + 1}</td>
  return (
    <tr role="row" class={same ? 'same' : 'changed'}>
      {number(pair.before)}
      {side(pair.before === undefined ? undefined : made.before[pair.before], '−', 'removed')}
      {number(pair.after)}
      {side(pair.after === undefined ? undefined : made.after[pair.after], '+', 'added')}
    </tr>
  )
}
