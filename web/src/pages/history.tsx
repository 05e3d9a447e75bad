import { useEffect, useState } from 'preact/hooks'
import { call, said } from '../api/client'
import type { DebateSummary, Search } from '../api/generated'
import { ask, Link, query } from '../router'
import { useLoad } from '../ui/load'
import { Empty, Failed, Loading } from '../ui/parts'
import { Demonstration } from '../ui/status'
import { ago, exactly, plural } from '../ui/words'
import { Row } from './list'

export function HistoryPage() {
  const asked = query.value.get('q') ?? ''
  const [text, setText] = useState(asked)
  useEffect(() => {
    document.title = 'History · moot'
    setText(asked)
  }, [asked])
  return (
    <div class="page">
      <div class="page-head">
        <div>
          <h1>History</h1>
          <p class="lead">What has been decided, found by words and by meaning. Whether debates help is in the <Link href="/evaluations">evaluations</Link>.</p>
        </div>
      </div>
      <form class="search-form" role="search" onSubmit={(event) => (event.preventDefault(), ask({ q: text.trim() }, { replace: false }))}>
        <input type="search" aria-label="Search past decisions" placeholder="A question, or words" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <button class="primary">Search</button>
      </form>
      {asked ? <Found asked={asked} /> : <Past />}
    </div>
  )
}

function Found({ asked }: { asked: string }) {
  const found = useLoad((signal) => call('searchDebates', { query: { q: asked, limit: 50 }, signal }), [asked])
  if (found.error) return <Failed error={found.error} again={found.again} />
  if (!found.value) return <Loading what="Searching" />
  const { items, note, more, by } = found.value
  return (
    <>
      <p class="dim found-line" role="status">
        {plural(items.length, 'decision')} for “{found.value.query}”, by {by === 'bm25' ? 'words' : `words and meaning (${by})`}. {note} {more && <button class="small" onClick={found.again}>Not all were looked at yet: search on</button>}
      </p>
      {items.length ? (
        <ul class="debates">{items.map((hit) => <li key={hit.id}><HitRow hit={hit} /></li>)}</ul>
      ) : (
        <Empty title="Nothing like it has been decided."><Link class="button primary" href="/new">Debate it</Link></Empty>
      )}
    </>
  )
}

function HitRow({ hit }: { hit: Search['items'][number] }) {
  return (
    <Link class="row hit" href={`/debates/${hit.id}/record`} data-id={hit.id}>
      <span class="row-status">
        <span class="hit-score" aria-hidden="true"><span style={{ width: `${Math.round(hit.score * 100)}%` }} /></span>{' '}
        <span class="dim num">{Math.round(hit.score * 100)}% fit</span>
      </span>
      <span class="row-main"><span class="row-topic" dir="auto">{hit.topic}</span><span class="row-under answered-line" dir="auto" title={hit.headline}>{hit.headline}</span></span>
      <span class="row-tags"><span class="tag format">{hit.format}</span>{hit.demonstration && <Demonstration />}</span>
      <span class="row-facts">{hit.completed_at && <span title={exactly(hit.completed_at)}>{ago(hit.completed_at)}</span>}</span>
    </Link>
  )
}

function Past() {
  const [items, setItems] = useState<DebateSummary[]>([])
  const [next, setNext] = useState<string | null>()
  const [error, setError] = useState('')
  const more = async (cursor: string | null) => {
    try {
      const page = await call('listDebates', { query: { status: 'completed', cursor: cursor ?? undefined, limit: 50 } })
      setItems((old) => (cursor ? [...old, ...page.items] : page.items))
      setNext(page.next)
      setError('')
    } catch (problem) {
      setError(said(problem))
    }
  }
  useEffect(() => void more(null), [])
  if (next === undefined) return error ? <Failed error={error} again={() => void more(null)} /> : <Loading />
  if (!items.length) return <Empty title="Nothing has been decided yet."><p>Every debate that comes to its end is kept here, with its record.</p></Empty>
  return (
    <>
      <ul class="debates">{items.map((debate) => <li key={debate.id}><Row debate={debate} to={`/debates/${debate.id}/record`} /></li>)}</ul>
      {error ? <Failed error={error} again={() => void more(next)} /> : next && <button class="more" onClick={() => void more(next)}>Older decisions</button>}
    </>
  )
}
