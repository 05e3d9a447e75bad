import { useEffect } from 'preact/hooks'
import { call } from '../api/client'
import type { ComparedDebate, Debate, Diff, Difference, Gate, PartingTurn } from '../api/generated'
import { Checks } from '../debate/checks'
import { sideName, stanceOf } from '../debate/seats'
import { go, Link, query } from '../router'
import { Icon } from '../ui/icons'
import { useLoad } from '../ui/load'
import { Empty, Failed, Loading } from '../ui/parts'
import { count, cut, money, plural, seconds, short, spaced } from '../ui/words'

export function ComparePage({ one, two }: { one?: string | undefined; two?: string | undefined }) {
  useEffect(() => {
    document.title = 'Compare · moot'
  }, [])
  return (
    <div class="page compare">
      <div class="page-head"><h1>Compare</h1></div>
      <Pick one={one ?? query.value.get('one') ?? ''} two={two ?? ''} />
      {one && two ? <Compared one={one} two={two} /> : <Empty title="Choose two debates."><p>Best a fork and its parent: what changed, where they part, and what came of it.</p></Empty>}
    </div>
  )
}

function Pick({ one, two }: { one: string; two: string }) {
  const list = useLoad(() => call('listDebates', { query: { limit: 200 } }), [])
  const debates = list.value?.items ?? []
  const known = (id: string) => debates.find((each) => each.id.startsWith(id))?.id ?? id
  const choose = (name: string, chosen: string) => (
    <label>
      <span class="field-name">{name === 'one' ? 'First' : 'Second'}</span>
      <select name={name} required key={`${debates.length}/${chosen}`}>
        <option value="">Choose a debate</option>
        {chosen && !debates.some((each) => each.id === known(chosen)) && <option value={chosen} selected>{short(chosen)}</option>}
        {debates.map((each) => (
          <option key={each.id} value={each.id} selected={Boolean(chosen) && each.id === known(chosen)}>{`${short(each.id)} · ${cut(each.topic, 60)}${each.parent ? ' (fork)' : ''}`}</option>
        ))}
      </select>
    </label>
  )
  return (
    <form
      class="pick stacked"
      onSubmit={(event) => {
        event.preventDefault()
        const form = new FormData(event.currentTarget)
        go(`/compare/${String(form.get('one'))}/${String(form.get('two'))}`)
      }}
    >
      {choose('one', one)}
      {choose('two', two)}
      <button class="primary"><Icon name="compare" /> Compare</button>
    </form>
  )
}

const RELATIONS: Record<Diff['relation'], string> = {
  same: 'The same debate.',
  fork: 'The second was forked from the first.',
  parent: 'The first was forked from the second.',
  siblings: 'Both were forked from the same debate.',
  none: 'Neither was forked from the other.',
}

async function compared(one: string, two: string, signal: AbortSignal) {
  const of = (debate_id: string) => Promise.all([call('getDebate', { params: { debate_id }, signal }), call('listGates', { params: { debate_id }, signal })])
  const [diff, ...both] = await Promise.all([call('compareDebates', { params: { debate_id: one, other_id: two }, signal }), of(one), of(two)])
  return { diff, debates: both.map(([debate]) => debate), guided: both.map(([, { items }]) => items.flatMap(wordsOf)) }
}

/** What a person said at a question of a debate, or to it in between. */
function wordsOf({ decision, status }: Gate): string[] {
  const text = status === 'decided' ? String(decision?.text ?? '').trim() : ''
  return text ? [text] : []
}

/** What people told each of them while it ran. */
function Guidance({ guided }: { guided: string[][] }) {
  if (!guided.some((each) => each.length)) return null
  return (
    <section aria-label="What people said">
      <h2>What people said</h2>
      <div class="sides">
        {guided.map((each, at) => <div key={at} class="card side">{each.length ? <ul class="bullets">{each.map((words) => <li key={words} dir="auto">{words}</li>)}</ul> : <p class="dim">Nothing.</p>}</div>)}
      </div>
    </section>
  )
}

function Compared({ one, two }: { one: string; two: string }) {
  const loaded = useLoad((signal) => compared(one, two, signal), [one, two])
  if (loaded.error) return <Failed error={loaded.error} again={loaded.again} />
  if (!loaded.value) return <Loading what="Comparing" />
  const { diff, debates, guided } = loaded.value
  return (
    <>
      <p class="lead">
        {RELATIONS[diff.relation]}{' '}
        {diff.one.format === diff.two.format && `${plural(diff.same, 'turn')} alike, ${diff.changed.length} answered differently, ${diff.only_one.length} only in the first, ${diff.only_two.length} only in the second.`}
      </p>
      <section aria-label="Outcomes">
        <h2>What came of it</h2>
        <div class="sides"><Outcome side={diff.one} name="First" debate={debates[0]} /><Outcome side={diff.two} name="Second" debate={debates[1]} /></div>
      </section>
      <section aria-label="First difference">
        <h2>Where they part</h2>
        {diff.parting ? <Parting diff={diff} /> : <p class="lead">{diff.one.format === diff.two.format ? 'Nowhere: the same was said in both.' : 'From the beginning: they follow different rules, so no step of one has its like in the other.'}</p>}
      </section>
      <Guidance guided={guided} />
      <Told title="What they were told" rows={diff.settings} />
      <Told title="Who took part" rows={diff.seats} />
    </>
  )
}

function Outcome({ side, name, debate }: { side: ComparedDebate; name: string; debate: Debate | undefined }) {
  const ended = debate?.outcome?.ended
  const scores = Object.entries(side.scores).filter(([, value]) => value !== null)
  return (
    <article class="card side">
      <p class="dim">{name} · <Link href={`/debates/${side.id}`}>{short(side.id)}</Link>{side.forked_at && <> · forked at <code>{side.forked_at}</code></>}</p>
      <h3 dir="auto">{side.topic}</h3>
      <p class="headline" dir="auto">{side.headline || `No outcome: ${side.status}`}</p>
      {side.how && <p class="how">{side.how}</p>}
      <Checks checks={debate?.outcome?.checks} />
      {ended && <p class="dim">Ended because {ended}.</p>}
      <dl class="facts">
        {scores.map(([seat, value]) => <div key={seat}><dt>{sideName(side.names[seat] ?? seat, stanceOf(debate?.seats ?? [], seat))}</dt><dd>{Math.round((value ?? 0) * 100) / 100}</dd></div>)}
        <div><dt>Rounds, turns</dt><dd>{side.rounds}, {side.turns}</dd></div>
        <div><dt>Tokens written</dt><dd>{count(side.tokens_out)}</dd></div>
        <div><dt>Cost</dt><dd>{money(side.cost_usd)}</dd></div>
        <div><dt>Running time</dt><dd>{seconds(side.seconds)}</dd></div>
      </dl>
    </article>
  )
}

function Parting({ diff }: { diff: Diff }) {
  const parting = diff.parting
  if (!parting) return null
  return (
    <>
      <p class="lead">{parting.asked_alike ? 'Both were asked the very same; the answers differ.' : 'From here on they were asked different things.'}</p>
      <div class="sides">
        <Said statement={parting.one} side={diff.one} mark="one" />
        <Said statement={parting.two} side={diff.two} mark="two" />
      </div>
    </>
  )
}

function Said({ statement, side, mark }: { statement: PartingTurn | null; side: ComparedDebate; mark: string }) {
  if (!statement) return <article class="card side"><p class="dim">It had nothing more to say.</p></article>
  const { spans, before, after } = statement.excerpt
  return (
    <article class="card side">
      <p class="dim"><strong>{statement.name}</strong> · <Link href={`/debates/${side.id}#${encodeURIComponent(statement.key)}`}><code>{statement.key}</code></Link></p>
      <p class="excerpt">
        {before > 0 && <span class="dim">({plural(before, 'word')} alike) … </span>}
        {spans.map((span, at) => (span.differs ? <mark key={at} class={mark}>{span.text} </mark> : <span key={at}>{span.text} </span>))}
        {after > 0 && <span class="dim"> … ({plural(after, 'more word')})</span>}
      </p>
    </article>
  )
}

function Told({ title, rows }: { title: string; rows: Difference[] }) {
  if (!rows.length) return null
  const value = (each: unknown) => (each === null || each === undefined ? '–' : typeof each === 'object' ? JSON.stringify(each) : String(each))
  return (
    <section>
      <h2>{title}</h2>
      <div class="table-scroll" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead><tr><th>Setting</th><th>First</th><th>Second</th></tr></thead>
          <tbody>{rows.map((row) => <tr key={row.name}><td>{spaced(row.name)}</td><td>{value(row.one)}</td><td>{value(row.two)}</td></tr>)}</tbody>
        </table>
      </div>
    </section>
  )
}
