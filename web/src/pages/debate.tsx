import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../api/client'
import type { Debate } from '../api/generated'
import { AnswerCard } from '../debate/answer'
import { Controls } from '../debate/controls'
import { Course } from '../debate/course'
import { toggleThoughts } from '../debate/folds'
import { ForkDialog } from '../debate/fork'
import { Inspector } from '../debate/inspector'
import { GatePanel } from '../debate/gate'
import { jump, LaneView } from '../debate/lane'
import { ArgumentMap } from '../debate/map'
import { Meter } from '../debate/meter'
import { type Mode, modeOf, setMode } from '../debate/mode'
import { Parts, Reading } from '../debate/reading'
import { chartOf, Scores } from '../debate/scores'
import { Timeline } from '../debate/timeline'
import { Topology } from '../debate/topology'
import { Versions } from '../debate/versions'
import { TABLE, Watched } from '../debate/watched'
import { ask, hash, Link, query } from '../router'
import { Icon } from '../ui/icons'
import { useKeys } from '../ui/keys'
import { useLoad } from '../ui/load'
import { Failed, Loading } from '../ui/parts'
import { Demonstration, Status } from '../ui/status'
import { ago, exactly, LONG, plural, short } from '../ui/words'
import { waiting } from '../ui/waiting'

interface View { name: string; word: string; key: string }

function viewsOf({ vocabulary, settings }: Debate): View[] {
  const views = [
    { name: '', word: 'Debate', key: '1' },
    { name: 'claims', word: 'Argument map', key: '2' },
    { name: 'versions', word: 'Versions', key: '2' },
    { name: 'calls', word: 'Calls', key: '3' },
  ]
  const shown: Record<string, unknown> = { claims: vocabulary.ledger && settings.claims, versions: vocabulary.versions }
  return views.filter(({ name }) => !(name in shown) || shown[name])
}

export function DebatePage({ id }: { id: string }) {
  const loaded = useLoad((signal) => call('getDebate', { params: { debate_id: id }, query: { html: true }, signal }), [id])
  const [watched, setWatched] = useState<Watched>()
  const debate = loaded.value
  useEffect(() => {
    if (!debate) return
    const made = new Watched(debate)
    setWatched(made)
    return () => made.close()
  }, [debate])
  if (loaded.error && !debate) return <div class="page"><div class="page-head"><h1>This debate can’t be shown</h1></div><Failed error={loaded.error} again={loaded.again} /><p class="after"><Link class="button" href="/">All debates</Link></p></div>
  if (!watched) return <div class="page"><Loading /></div>
  return <Live watched={watched} />
}

function Live({ watched }: { watched: Watched }) {
  const view = query.value.get('view') ?? ''
  const debate = watched.debate.value
  const mode = modeOf(watched.voices.value.length)
  useKeys([
    { key: 't', does: 'Open or fold all thoughts', act: toggleThoughts },
    { key: '.', does: 'Jump to live', act: () => [...watched.lanes.values(), watched.reader].forEach(jump) },
    ...viewsOf(debate).map(({ name, word, key }) => ({ key, does: word, act: () => ask({ view: name }) })),
  ])
  const over = debate.status === 'completed' || debate.status === 'canceled'
  const fills = !view && mode === 'lanes' && !over
  return (
    <div class={`debate ${fills ? 'fills' : 'flows'}`}>
      <Top watched={watched} view={view} mode={mode} />
      {debate.status === 'completed' && <AnswerCard debate={debate} brief={Boolean(view)} />}
      {view === 'calls' ? (
        <div class="page inner"><Timeline watched={watched} /></div>
      ) : view === 'versions' ? (
        <div class="page inner"><Versions watched={watched} /></div>
      ) : view === 'claims' ? (
        <MapView watched={watched} />
      ) : mode === 'lanes' ? (
        <Columns watched={watched} />
      ) : (
        <div class="reading-page"><Reading watched={watched} /><aside class="rail"><ScoreCard watched={watched} /><Parts watched={watched} /></aside></div>
      )}
      {!view && <PointAt watched={watched} mode={mode} />}
      <GatePanel watched={watched} />
      <ForkDialog watched={watched} />
      <Inspector watched={watched} />
    </div>
  )
}

function Top({ watched, view, mode }: { watched: Watched; view: string; mode: Mode }) {
  const debate = watched.debate.value
  useEffect(() => {
    document.title = `${debate.status === 'waiting' ? '● ' : ''}${debate.topic.slice(0, 60)} · moot`
  }, [debate.topic, debate.status, waiting.value])
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
        <Question text={debate.topic} />
        {debate.error && debate.status === 'failed' && <p class="problem"><Icon name="warn" /> <span>{debate.error.message}</span></p>}
      </div>
      <Meter watched={watched} />
      <Course watched={watched} />
      <div class="debate-bar">
        <nav class="tabs" aria-label="Views of this debate">
          {viewsOf(debate).map(({ name, word }) => (
            <Link key={name} href={`/debates/${debate.id}${name ? `?view=${name}` : ''}`} aria-current={view === name ? 'page' : undefined}>{word}</Link>
          ))}
        </nav>
        {!view && <ModeSwitch mode={mode} />}
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

/** A long question shows its beginning, and all of it when asked to. */
function Question({ text }: { text: string }) {
  const [open, setOpen] = useState(false)
  if (text.length <= LONG) return <h1 dir="auto">{text}</h1>
  return (
    <>
      <h1 dir="auto" class={open ? 'long' : 'long clamped'}>{text}</h1>
      <button class="small quiet" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'Less of the question' : 'The whole question'}</button>
    </>
  )
}

function ModeSwitch({ mode }: { mode: Mode }) {
  return (
    <div class="modes" role="group" aria-label="How to show it">
      <button class="small" aria-pressed={mode === 'reading'} onClick={() => setMode('reading')}><Icon name="column" /> One column</button>
      <button class="small" aria-pressed={mode === 'lanes'} onClick={() => setMode('lanes')}><Icon name="columns" /> Side by side</button>
    </div>
  )
}

function Columns({ watched }: { watched: Watched }) {
  const voices = watched.voices.value
  return (
    <div class={`columns of-${Math.min(5, voices.length)}`}>
      {voices.map((id) => <LaneView key={id} lane={watched.lanes.get(id)!} watched={watched} title={watched.name(id)} />)}
      <div class="rail">
        <ScoreCard watched={watched} />
        <LaneView lane={watched.lanes.get(TABLE)!} watched={watched} title={watched.debate.value.vocabulary.table} />
      </div>
    </div>
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

/** A deep link to a turn: shown once its turn is there. */
function PointAt({ watched, mode }: { watched: Watched; mode: Mode }) {
  const wanted = hash.value
  const there = watched.events.value.some((event) => event.key === wanted)
  const shown = useRef('')
  useEffect(() => {
    const target = wanted && there ? document.getElementById(wanted) : null
    if (!target) return
    if (shown.current !== wanted + mode) {
      shown.current = wanted + mode
      const lane = [...watched.lanes.values(), watched.reader].find((each) => each.element?.contains(target))
      if (lane) lane.follow.value = false
      for (let fold = target.closest('details'); fold; fold = fold.parentElement?.closest('details') ?? null) fold.open = true
      target.scrollIntoView({ block: 'start' })
    }
    target.classList.add('pointed')
    return () => target.classList.remove('pointed')
  }, [wanted, there, mode])
  return null
}
