import type { ComponentChildren } from 'preact'
import type { Gate, Grid } from '../api/generated'
import { query } from '../router'
import { plural, spaced } from '../ui/words'
import { changesOf, CodeText, Diff } from './code'
import { GridView } from './notes'
import type { Watched } from './watched'

type Kind = 'fact' | 'diff' | 'text' | 'table' | 'numbers' | 'other'
interface Artifact { name: string; kind: Kind; value: unknown }
type Fields = Record<string, unknown>

const ORDER: Kind[] = ['numbers', 'diff', 'table', 'text', 'other']
const LONG = 16 // lines or rows of what is not open at once
const FACT_CHARS = 120

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const lines = (text: string): number => text.replace(/\n$/, '').split('\n').length

/** What something is shown as: what it looks like decides, whoever asks. */
function kindOf(value: unknown): Kind {
  if (typeof value === 'string') {
    if (/^@@ .*@@/m.test(value)) return 'diff'
    return value.length > FACT_CHARS || value.includes('\n') ? 'text' : 'fact'
  }
  if (!isFields(value)) return Array.isArray(value) && value.length ? 'other' : 'fact'
  if (tableOf(value)) return 'table'
  const numbers = Object.values(value)
  return numbers.length && numbers.every((each) => each === null || typeof each === 'number') ? 'numbers' : 'other'
}

/** A table of which candidate passes which case, as a grid: rows with a name, a mark for each column, and a note. */
function tableOf(value: Fields, name = (seat: string): string => seat): (Grid & { under: string[]; total: string[] }) | undefined {
  const { versions, authors, rows } = value
  if (!Array.isArray(versions) || !Array.isArray(rows) || !rows.every((row) => isFields(row) && isFields(row.passed))) return undefined
  const columns = versions.map(String)
  const cases = rows as (Fields & { passed: Fields })[]
  return {
    columns,
    under: Array.isArray(authors) ? authors.map((each) => name(String(each))) : [],
    rows: cases.map((row) => ({
      name: String(row.case ?? ''),
      cells: columns.map((each) => (row.passed[each] === true ? '✓' : row.passed[each] === false ? '✗' : '–')),
      note: [row.standing, row.by && `by ${name(String(row.by))}`].filter(Boolean).join(', '),
    })),
    total: columns.map((each) => {
      const ran = cases.map((row) => row.passed[each]).filter((passed) => typeof passed === 'boolean')
      return ran.length ? `${ran.filter(Boolean).length} of ${ran.length}` : 'none run'
    }),
    more: 0,
  }
}

/** What helps to decide; folded where something else is looked at. Everything in it is text and never taken for markup. */
export function Artifacts({ gate, watched }: { gate: Gate; watched: Watched }) {
  const view = query.value.get('view')
  const all: Artifact[] = Object.entries(gate.artifacts).map(([name, value]) => ({ name, value, kind: kindOf(value) }))
  if (!all.length) return null
  const facts = all.filter(({ kind }) => kind === 'fact')
  const shown = all.filter(({ kind }) => kind !== 'fact').sort((one, two) => ORDER.indexOf(one.kind) - ORDER.indexOf(two.kind))
  return (
    <details key={view} class="artifacts" open={!view}>
      <summary>What helps to decide</summary>
      <div class="artifacts-body" tabIndex={0} role="region" aria-label="What helps to decide">
        {facts.length > 0 && (
          <dl class="artifact-facts">{facts.map(({ name, value }) => <div key={name}><dt>{spaced(name)}</dt><dd>{factOf(value)}</dd></div>)}</dl>
        )}
        {shown.map((each) => <One key={each.name} artifact={each} watched={watched} />)}
      </div>
    </details>
  )
}

function factOf(value: unknown): string {
  if (value === null || value === '' || (typeof value === 'object' && !Object.keys(value).length)) return 'none'
  return String(value)
}

function One({ artifact, watched }: { artifact: Artifact; watched: Watched }) {
  const { name, kind, value } = artifact
  const title = spaced(name)
  if (kind === 'numbers') return <Numbers title={title} numbers={value as Record<string, number | null>} />
  if (kind === 'diff') {
    const text = value as string
    return <Fold kind={kind} title={title} about={changesOf(text)} open={lines(text) <= LONG}><Diff text={text} label={title} /></Fold>
  }
  if (kind === 'text') {
    const text = value as string
    return <Fold kind={kind} title={title} about={plural(lines(text), 'line')} open={false}><CodeText text={text} label={title} /></Fold>
  }
  const table = kind === 'table' && tableOf(value as Fields, (seat) => watched.name(seat))
  if (table) return <Fold kind={kind} title={title} about={plural(table.rows.length, 'case')} open={table.rows.length <= LONG}><GridView grid={table} title={title} under={table.under} total={table.total} /></Fold>
  const text = JSON.stringify(value, null, 2)
  return <Fold kind={kind} title={title} about={plural(lines(text), 'line')} open={false}><CodeText text={text} label={title} /></Fold>
}

function Fold({ kind, title, about, open, children }: { kind: Kind; title: string; about: string; open: boolean; children: ComponentChildren }) {
  return (
    <details class="artifact" data-kind={kind} open={open}>
      <summary>{title} <span class="dim">{about}</span></summary>
      {children}
    </details>
  )
}

const rounded = (value: number): string => String(Math.round(value * 100) / 100)

function Numbers({ title, numbers }: { title: string; numbers: Record<string, number | null> }) {
  return (
    <div class="artifact table-scroll" data-kind="numbers" tabIndex={0} role="region" aria-label={title}>
      <table class="grid-table">
        <thead><tr><th scope="col">{title}</th>{Object.keys(numbers).map((each) => <th key={each} scope="col" class="mark-cell">{each}</th>)}</tr></thead>
        <tbody><tr><th scope="row">Value</th>{Object.entries(numbers).map(([each, value]) => <td key={each} class="mark-cell">{value === null ? 'not measured' : rounded(value)}</td>)}</tr></tbody>
      </table>
    </div>
  )
}
