import { useEffect, useRef, useState } from 'preact/hooks'
import { call, said } from '../api/client'
import type { Debate } from '../api/generated'
import { Controls } from '../debate/controls'
import { toggleThoughts } from '../debate/folds'
import { ForkDialog } from '../debate/fork'
import { GatePanel } from '../debate/gate'
import { jump, LaneView } from '../debate/lane'
import { ArgumentMap } from '../debate/map'
import { Meter } from '../debate/meter'
import { chartOf, Scores } from '../debate/scores'
import { sideName, stanceOf } from '../debate/seats'
import { Timeline } from '../debate/timeline'
import { Topology } from '../debate/topology'
import { TABLE, Watched } from '../debate/watched'
import { ask, hash, Link, query } from '../router'
import { Icon } from '../ui/icons'
import { useKeys } from '../ui/keys'
import { useLoad } from '../ui/load'
import { Failed, Loading } from '../ui/parts'
import { Demonstration, Status } from '../ui/status'
import { ago, exactly, LONG, plural, short } from '../ui/words'

interface View { name: string; word: string; key: string }

function viewsOf({ vocabulary, settings }: Debate): View[] {
  const views = [
    { name: '', word: 'Debate', key: '1' },
    { name: 'claims', word: 'Argument map', key: '2' },
    { name: 'calls', word: 'Calls', key: '3' },
  ]
  return views.filter(({ name }) => name !== 'claims' || (vocabulary.ledger && settings.claims))
}

export function DebatePage({ id }: { id: string }) {
  const [watched, setWatched] = useState<Watched>()
  const [error, setError] = useState('')
  useEffect(() => {
    let made: Watched | undefined
    let gone = false
    call('getDebate', { params: { debate_id: id }, query: { html: true } }).then(
      (debate) => {
        if (gone) return
        made = new Watched(debate)
        setWatched(made)
      },
      (problem: unknown) => gone || setError(said(problem)),
    )
    return () => {
      gone = true
      made?.close()
    }
  }, [id])
  if (error) return <div class="page"><div class="page-head"><h1>This debate can’t be shown</h1></div><Failed error={error} /><p class="after"><Link class="button" href="/">All debates</Link></p></div>
  if (!watched) return <div class="page"><Loading /></div>
  return <Live watched={watched} />
}

function Live({ watched }: { watched: Watched }) {
  const view = query.value.get('view') ?? ''
  useKeys([
    { key: 't', does: 'Open or fold all thoughts', act: toggleThoughts },
    { key: '.', does: 'Jump to live', act: () => watched.lanes.forEach(jump) },
    ...viewsOf(watched.debate.value).map(({ name, word, key }) => ({ key, does: word, act: () => ask({ view: name }) })),
  ])
  return (
    <div class={view ? 'debate' : 'debate fills'}>
      <Top watched={watched} view={view} />
      <GatePanel watched={watched} />
      {view === 'calls' ? (
        <div class="page inner"><Timeline watched={watched} /></div>
      ) : view === 'claims' ? (
        <MapView watched={watched} />
      ) : (
        <Columns watched={watched} />
      )}
      <ForkDialog watched={watched} />
    </div>
  )
}

function Top({ watched, view }: { watched: Watched; view: string }) {
  const debate = watched.debate.value
  useEffect(() => {
    document.title = `${debate.topic.slice(0, 60)} · moot`
  }, [debate.topic])
  return (
    <header class="debate-top">
      <div class="debate-title">
        <div class="over">
          <Status debate={debate} />
          <span class="tag format">{debate.format}</span>
          {debate.demonstration && <Demonstration />}
          <span class="dim" title={exactly(debate.created_at)}>{ago(debate.created_at)} · {short(debate.id)}</span>
          {debate.parent && (
            <span class="dim">
              <Icon name="fork" /> forked at <code>{debate.forked_at}</code> from <Link href={`/debates/${debate.parent}`}>{short(debate.parent)}</Link>{' '}
              <Link class="compare-link" href={`/compare/${debate.parent}/${debate.id}`}>Compare</Link>
            </span>
          )}
          <Forks id={debate.id} />
        </div>
        <h1 dir="auto" {...(debate.topic.length > LONG && { class: 'long', tabIndex: 0 })}>{debate.topic}</h1>
        {debate.headline && <p class="headline" dir="auto">{debate.headline}</p>}
        {debate.how && <p class="how">{debate.how}</p>}
        {debate.error && debate.status === 'failed' && <p class="problem"><Icon name="warn" /> {debate.error.message}</p>}
      </div>
      <Meter watched={watched} />
      <div class="debate-bar">
        <nav class="tabs" aria-label="Views of this debate">
          {viewsOf(debate).map(({ name, word }) => (
            <Link key={name} href={`/debates/${debate.id}${name ? `?view=${name}` : ''}`} aria-current={view === name ? 'page' : undefined}>{word}</Link>
          ))}
        </nav>
        <span class="grow" />
        <Controls watched={watched} />
      </div>
    </header>
  )
}

const MOST_FORKS = 20

function Forks({ id }: { id: string }) {
  const found = useLoad(() => call('listDebates', { query: { parent: id, limit: MOST_FORKS } }), [id]).value
  if (!found?.items.length) return null
  return <Link class="dim" href={`/?parent=${id}`}><Icon name="fork" /> {found.next ? `more than ${MOST_FORKS} forks` : plural(found.items.length, 'fork')}</Link>
}

function Columns({ watched }: { watched: Watched }) {
  const voices = watched.voices.value
  const [tab, choose] = useState<string>()
  const chosen = tab ?? voices[0] ?? TABLE
  useHash(watched, chosen, choose)
  const { table } = watched.debate.value.vocabulary
  const tabs = [...voices, TABLE]
  return (
    <>
      <div class="lane-tabs" role="group" aria-label="Whose words to show">
        {tabs.map((id) => (
          <button key={id} aria-pressed={chosen === id} onClick={() => choose(id)}>
            {id === TABLE ? table : sideName(watched.name(id), stanceOf(watched.debate.value.seats, id))}
          </button>
        ))}
      </div>
      <div class={`columns of-${Math.min(4, voices.length)}`}>
        {voices.map((id) => (
          <LaneView key={id} lane={watched.lanes.get(id)!} watched={watched} title={watched.name(id)} hidden={chosen !== id} />
        ))}
        <div class={`rail${chosen === TABLE ? '' : ' narrow-hidden'}`}>
          <ScoreCard watched={watched} />
          <LaneView lane={watched.lanes.get(TABLE)!} watched={watched} title={table} hidden={false} />
        </div>
      </div>
    </>
  )
}

function ScoreCard({ watched }: { watched: Watched }) {
  const chart = chartOf(watched.debate.value, watched.events.value)
  return chart ? <Scores chart={chart} /> : <Topology watched={watched} />
}

function MapView({ watched }: { watched: Watched }) {
  const debate = watched.debate.value
  const version = watched.events.value.filter((event) => event.turn?.data).length + (debate.outcome ? 1 : 0)
  return <div class="page inner"><ArgumentMap debate={debate} version={version} /></div>
}

/** A deep link to a turn: shown once its turn is there; where one lane is shown at a time, in its lane. */
function useHash(watched: Watched, chosen: string, choose: (lane: string) => void): void {
  const wanted = hash.value
  const there = watched.events.value.some((event) => event.key === wanted)
  const shown = useRef('')
  useEffect(() => {
    const target = wanted && there && shown.current !== wanted ? document.getElementById(wanted) : null
    const lane = [...watched.lanes.values()].find((each) => each.element?.contains(target))
    if (!target || !lane) return
    if (chosen !== lane.id) return choose(lane.id)
    shown.current = wanted
    lane.follow.value = false
    if (target instanceof HTMLDetailsElement) target.open = true
    target.scrollIntoView({ block: 'start' })
  }, [wanted, there, chosen])
  useEffect(() => {
    const target = wanted && there ? document.getElementById(wanted) : null
    target?.classList.add('pointed')
    return () => target?.classList.remove('pointed')
  }, [wanted, there])
}
