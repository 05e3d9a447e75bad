import { useEffect, useState } from 'preact/hooks'
import { address, call } from '../api/client'
import type { Debate } from '../api/generated'
import { turnsAfter } from '../api/turns'
import { phaseName } from '../debate/block'
import { Mark, seatClass, seatIndex } from '../debate/seats'
import { Document, type Told } from '../record/document'
import { hash, Link } from '../router'
import { may } from '../session'
import { Icon } from '../ui/icons'
import { useLoad } from '../ui/load'
import { Failed, Loading, Prose, tell, tellError } from '../ui/parts'
import { Demonstration, Status } from '../ui/status'
import { capital, LONG, short } from '../ui/words'

export function RecordPage({ id }: { id: string }) {
  const loaded = useLoad(() => load(id), [id])
  if (loaded.error) return <div class="page"><div class="page-head"><h1>There is no record</h1></div><Failed error={loaded.error} /><p><Link href={`/debates/${id}`}>See how the debate stands</Link></p></div>
  if (!loaded.value) return <div class="page"><Loading what="Opening the record" /></div>
  return <View told={loaded.value} />
}

async function load(id: string): Promise<Told> {
  const params = { debate_id: id }
  const [debate, record, turns] = await Promise.all([
    call('getDebate', { params, query: { html: true } }),
    call('getRecord', { params, query: { format: 'json' } }),
    turnsAfter(id, 0, { html: true }),
  ])
  return { debate, record, turns: new Map(turns.map((turn) => [turn.key, turn])) }
}

function View({ told }: { told: Told }) {
  const { debate, record } = told
  useEffect(() => {
    document.title = `${record.title.slice(0, 60)} · moot`
  }, [record.title])
  return (
    <article class="record">
      <header class="record-head">
        <div class="over">
          <Status debate={debate} />
          <span class="tag format">{debate.format}</span>
          {record.demonstration && <Demonstration />}
          <span class="dim">{record.date} · {short(debate.id)} · begun by {record.initiated_by}</span>
        </div>
        <h1 dir="auto" class={record.question.length > LONG ? 'long' : ''}>{record.question}</h1>
        <p class="headline" dir="auto">{record.decided.headline}</p>
        {record.decided.how && <p class="how">{record.decided.how}</p>}
        {record.demonstration && <p class="lead">A demonstration model took part: read this as an example of a record, not as a decision.</p>}
        <div class="record-tools">
          <Link class="button" href={`/debates/${debate.id}`}><Icon name="speak" /> The debate</Link>
          {debate.parent && <Link class="button" href={`/compare/${debate.parent}/${debate.id}`}><Icon name="compare" /> Compare with parent</Link>}
          <Export told={told} />
          <span class="grow" />
          {may('decide') && <Rating debate={debate} />}
        </div>
      </header>
      <Document told={told} />
      <Transcript told={told} />
    </article>
  )
}

function Export({ told }: { told: Told }) {
  const params = { debate_id: told.debate.id }
  const name = `moot-${short(told.debate.id)}`
  const files: Array<[string, string, string]> = [
    ['Record as Markdown', address('getRecord', params, { format: 'markdown' }), `${name}.md`],
    ['Record as JSON', address('getRecord', params, { format: 'json' }), `${name}.json`],
    ['Draft of an issue', address('draftIssue', params, { format: 'markdown' }), `${name}-issue.md`],
  ]
  if (told.record.ledger) files.push(['Argument map (Mermaid)', address('getClaims', params, { format: 'mermaid' }), `${name}.mmd`])
  return (
    <details class="menu" onKeyDown={(event) => event.key === 'Escape' && (event.currentTarget.open = false)}>
      <summary class="button"><Icon name="export" /> Export</summary>
      <ul>
        {files.map(([word, href, file]) => <li key={file}><a href={href} download={file}>{word}</a></li>)}
      </ul>
    </details>
  )
}

function Rating({ debate }: { debate: Debate }) {
  const [rating, setRating] = useState(debate.user_rating ?? 0)
  const rate = async (value: number) => {
    try {
      await call('rateDebate', { params: { debate_id: debate.id }, body: { rating: value } })
      setRating(value)
      tell(`Rated ${value} of 5.`)
    } catch (error) {
      tellError(error)
    }
  }
  return (
    <fieldset class="rating">
      <legend>Rate it</legend>
      {[1, 2, 3, 4, 5].map((value) => (
        <button key={value} class="plain tiny" aria-pressed={value <= rating} aria-label={`${value} of 5`} onClick={() => void rate(value)}>
          <Icon name="star" filled={value <= rating} />
        </button>
      ))}
    </fieldset>
  )
}

function Transcript({ told }: { told: Told }) {
  const wanted = hash.value
  useEffect(() => {
    const target = wanted ? document.getElementById(wanted) : null
    const fold = target?.closest('details')
    if (fold) fold.open = true
    target?.scrollIntoView({ block: 'start' })
    target?.classList.add('pointed')
    return () => target?.classList.remove('pointed')
  }, [wanted])
  const turns = [...told.turns.values()].filter((turn) => turn.content)
  const rounds = [...new Set(turns.map((turn) => turn.round))].sort((a, b) => a - b)
  const name = (seat: string) => told.record.perspectives.find((each) => each.seat === seat)?.name ?? told.debate.seats.find((each) => each.id === seat)?.name ?? capital(seat)
  return (
    <section class="turns">
      <h2>Transcript</h2>
      {rounds.map((round) => (
        <details key={round} class="fold">
          <summary><strong>{round ? `${capital(told.record.counted)} ${round}` : `Before the first ${told.record.counted}`}</strong> <span class="dim">{turns.filter((turn) => turn.round === round).map((turn) => phaseName(told.debate, turn.phase)).filter((each, at, all) => all.indexOf(each) === at).join(', ')}</span></summary>
          <div class="inside">
            {turns.filter((turn) => turn.round === round).map((turn) => {
              const at = seatIndex(told.debate, turn.seat)
              return (
                <article key={turn.key} id={turn.key} class={`block ${seatClass(at)}`}>
                  <header><span class="what"><Mark index={at} /><strong>{name(turn.seat)}</strong> {phaseName(told.debate, turn.phase)}</span><a class="dim" href={`#${encodeURIComponent(turn.key)}`}>{turn.key}</a></header>
                  <Prose html={turn.html} text={turn.content} />
                </article>
              )
            })}
          </div>
        </details>
      ))}
    </section>
  )
}
