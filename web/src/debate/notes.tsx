import type { ComponentChildren } from 'preact'
import { Icon } from '../ui/icons'
import { Prose } from '../ui/parts'
import { ending } from '../ui/words'
import type { Block, Watched } from './watched'

type Data = Record<string, unknown>
const number = (value: unknown): string => (typeof value === 'number' ? String(Math.round(value * 10) / 10) : '–')

/** What the typed part of a turn says at a glance, above its words. */
export const NOTES: Record<string, (block: Block) => ComponentChildren> = {
  SCORE: ({ turn }) => {
    const data = (turn?.data ?? {}) as Data
    if ('score' in data) return <Big value={number(data.score)} of={10} />
    if ('score_a' in data) return (
      <p class="scores-pair">
        A <b>{number(data.score_a)}</b> · B <b>{number(data.score_b)}</b>
        {data.no_new_substantive_arguments === true && <span class="tag">nothing new</span>}
      </p>
    )
    return <p class="note-line">No valid score</p>
  },
  CRITIQUE: ({ turn }) => {
    const data = (turn?.data ?? {}) as Data
    if (!turn?.data) return <p class="note-line">No valid critique</p>
    const issues = (data.issues ?? []) as Array<{ severity: string }>
    const severe = issues.filter((issue) => issue.severity === 'critical').length
    return (
      <p class="scores-pair">
        <Big value={number(data.score)} of={10} /> {issues.length} new {issues.length === 1 ? 'issue' : 'issues'}
        {severe > 0 && <span class="tag bad">{severe} critical</span>}
        {data.ready === true && <span class="tag good">ready</span>}
      </p>
    )
  },
  BALLOT: ({ turn }) => {
    const ranking = ((turn?.data as Data | null)?.ranking ?? []) as string[]
    return <p class="note-line">{ranking.length ? `Ranks ${ranking.join(' before ')} (blind labels)` : 'Abstains'}</p>
  },
  TURN: ({ turn }) => {
    const data = (turn?.data ?? {}) as Data
    if (typeof data.state === 'string') return <p><span class="tag">{data.state.replaceAll('_', ' ')}</span></p>
    if (typeof data.position === 'string' && turn?.phase === 'rebut')
      return <p><span class="tag">{data.position === 'hold' ? 'holds its position' : data.position === 'concede' ? 'concedes' : data.position}</span></p>
    return null
  },
}

function Big({ value, of }: { value: string; of: number }) {
  return (
    <span class="big-score">
      <b>{value}</b>/{of}
    </span>
  )
}

/** What the rules themselves say. */
export function Note({ block, watched }: { block: Block; watched: Watched }) {
  const { data, type } = block
  switch (type) {
    case 'VERDICT':
      return <Verdict block={block} watched={watched} />
    case 'TALLY':
      return <Card title={data.round ? `Votes after round ${String(data.round)}` : 'First votes'}><ul>{(data.lines as string[]).map((line) => <li key={line}>{line}</li>)}</ul></Card>
    case 'MEASURED':
      return <Measured data={data} />
    case 'MUTED':
      return <p class="note-line"><Icon name="pause" /> {String(data.name)} is muted for this round.</p>
    case 'CUT':
      return <p class="note-line"><Icon name="clock" /> The round was cut short; unheard: {(data.unheard as string[]).join(', ')}.</p>
    case 'ENDING':
      return <p class="note-line"><Icon name="check" /> {String(data.text)}</p>
    case 'RAG':
      return <p class="note-line">No reasoning template was used.</p>
    default:
      return null
  }
}

function Card(props: { title: string; children: ComponentChildren }) {
  return (
    <section class="block card-note">
      <header><span class="what"><strong>{props.title}</strong></span></header>
      {props.children}
    </section>
  )
}

function Measured({ data }: { data: Data }) {
  const found = Object.entries((data.repetition ?? {}) as Record<string, number>)
  return (
    <Card title={`Repetition in round ${String(data.round)}`}>
      <dl class="facts">
        {found.map(([name, share]) => (
          <div key={name}><dt>{name}</dt><dd>{Math.round(share * 100)}%</dd></div>
        ))}
      </dl>
    </Card>
  )
}

function Verdict({ block, watched }: { block: Block; watched: Watched }) {
  const data = block.data as Data & { headline: string; ended_by: string; statement: string; reason: string }
  const outcome = watched.debate.value.outcome
  return (
    <section class="block verdict" id="verdict">
      <header><span class="what"><strong>Outcome</strong></span></header>
      <p class="headline">{data.headline}</p>
      <p class="note-line">Ended because {ending(data.ended_by)}.{data.reason ? ` ${data.reason}` : ''}</p>
      {data.statement && <Prose html={outcome?.html} text={data.statement} />}
    </section>
  )
}
