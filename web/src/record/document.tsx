import type { ComponentChildren } from 'preact'
import type { Debate, Record as Decision, RecordedPerspective, Turn } from '../api/generated'
import { Checks } from '../debate/checks'
import { Confidence } from '../debate/confidence'
import { Mark, seatClass, seatIndex, sideName, stanceOf } from '../debate/seats'
import { Prose } from '../ui/parts'
import { count, modelName, money, plural, seconds } from '../ui/words'

export interface Told {
  debate: Debate
  record: Decision
  turns: Map<string, Turn>
}

export function Document({ told }: { told: Told }) {
  const { record, debate } = told
  return (
    <>
      <Part title="Recommendation">
        <div class="recommendation"><Written text={record.recommendation || record.decided.headline} told={told} /></div>
        <Checks checks={record.decided.checks} />
        {record.statement && record.statement !== record.recommendation && <div class="body statement"><Prose html={debate.outcome?.html} text={record.statement} /></div>}
      </Part>
      <Part title="Confidence">
        <p class="confidence"><Confidence level={record.confidence} /></p>
        <Bullets items={record.confidence_reasons} />
      </Part>
      <Perspectives told={told} />
      <Listed title="Where they agree" items={record.agreements} />
      <Listed title="Tensions" items={[...(record.tensions ?? []), ...record.unsettled]} />
      {record.sections.map((section) => <Listed key={section.title} title={section.title} items={section.items} />)}
      <Listed title="Dissent" items={record.dissent} />
      <Listed title="Caveats" items={[...(record.caveats ?? []), ...record.warnings]} />
      <Decided told={told} />
      {record.people.length > 0 && (
        <Part title="What people said">
          {record.people.map((quote) => <blockquote key={quote.key} class="quote"><Prose html={told.turns.get(quote.key)?.html} text={quote.text} /><footer><a href={`#${encodeURIComponent(quote.key)}`}>{quote.key}</a></footer></blockquote>)}
        </Part>
      )}
      <Cast told={told} />
    </>
  )
}

/** Where the same words are a turn or the outcome, the server has made HTML of them. */
function Written({ text, told }: { text: string; told: Told }) {
  const outcome = told.debate.outcome
  const html = outcome?.statement === text ? outcome.html : [...told.turns.values()].find((turn) => turn.content === text)?.html
  return <Prose html={html} text={text} />
}

function Part(props: { title: string; children: ComponentChildren }) {
  return <section><h2>{props.title}</h2>{props.children}</section>
}

function Bullets({ items }: { items: readonly string[] }) {
  return <ul class="bullets">{items.map((each) => <li key={each}>{each}</li>)}</ul>
}

function Listed({ title, items }: { title: string; items: readonly string[] | null }) {
  if (!items?.length) return null
  return <Part title={title}><Bullets items={items} /></Part>
}

function Perspectives({ told }: { told: Told }) {
  return (
    <Part title="Arguments">
      {told.record.perspectives.map((each) => <Arguments key={each.seat + each.name} each={each} told={told} />)}
    </Part>
  )
}

function Arguments({ each, told }: { each: RecordedPerspective; told: Told }) {
  const at = seatIndex(told.debate, each.seat ?? '')
  // Where the rules asked for arguments as such, nothing is quoted: the statements are there in full.
  const steps = each.steps ?? []
  const quotes = each.quotes?.length ? each.quotes : steps.map((key) => ({ key, text: told.turns.get(key)?.content ?? '' }))
  return (
    <details class={`fold ${seatClass(at)}`}>
      <summary>
        <Mark index={at} /> <strong>{each.name}</strong>
        {each.stance && <span class="tag">{each.stance}</span>}
        <span class="dim">{plural(steps.length || quotes.length, 'statement')}</span>
      </summary>
      <div class="inside">
        {each.position && <p class="dim">{each.position}</p>}
        {each.recommendation && <p><strong>Recommends:</strong> {each.recommendation}</p>}
        {each.arguments?.length ? <Bullets items={each.arguments} /> : null}
        {each.trade_offs?.length ? <><h3>Trade-offs</h3><Bullets items={each.trade_offs} /></> : null}
        {quotes.map((quote) => (
          <blockquote key={quote.key} class="quote">
            <Prose html={told.turns.get(quote.key)?.html} text={quote.text} />
            <footer><a href={`#${encodeURIComponent(quote.key)}`}>{quote.key}</a></footer>
          </blockquote>
        ))}
      </div>
    </details>
  )
}

function Decided({ told }: { told: Told }) {
  const { decided, seconds: took, usage, rounds, counted } = told.record
  const { perspectives, seats } = told.record
  const name = (seat: string) => sideName(perspectives.find((each) => each.seat === seat)?.name ?? seats.find((each) => each.id === seat)?.name ?? seat, stanceOf(seats, seat))
  const scores = Object.entries(decided.scores).filter(([, value]) => value !== null)
  return (
    <Part title="How it was decided">
      <dl class="facts">
        <div><dt>Ended because</dt><dd>{decided.ended}</dd></div>
        <div><dt>Decided by</dt><dd>{decided.by}</dd></div>
        {scores.map(([seat, value]) => <div key={seat}><dt>Score of {name(seat)}</dt><dd>{Math.round((value ?? 0) * 100) / 100} of {decided.scale}</dd></div>)}
        {Object.entries(decided.facts).map(([label, fact]) => <div key={label}><dt>{label}</dt><dd>{fact}</dd></div>)}
        {decided.flip_rate !== null && <div><dt>Verdicts that flip with the order</dt><dd>{Math.round(decided.flip_rate * 100)}%</dd></div>}
        <div><dt>Length</dt><dd>{plural(rounds, counted)}, {plural(decided.steps, 'step')}, {seconds(took)}</dd></div>
        <div><dt>Used</dt><dd>{count(usage.tokens_out ?? 0)} tokens written, {money(usage.cost_usd)}</dd></div>
      </dl>
      {decided.reason && <p class="lead">{decided.reason}</p>}
      {decided.votes.length > 0 && (
        <details class="fold">
          <summary><strong>{plural(decided.votes.length, 'vote')}</strong></summary>
          <div class="inside">{decided.votes.map((vote) => <p key={vote.key + vote.seat}><strong>{vote.name}</strong>: {name(vote.choice)}. <span class="dim">{vote.reason}</span></p>)}</div>
        </details>
      )}
    </Part>
  )
}

function Cast({ told }: { told: Told }) {
  return (
    <Part title="Who took part">
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Who took part">
        <table>
          <thead><tr><th>Name</th><th>Role</th><th>Model</th></tr></thead>
          <tbody>{told.record.seats.map((seat) => <tr key={seat.id}><td>{told.record.perspectives.find((each) => each.seat === seat.id)?.name ?? seat.name}</td><td>{seat.role}</td><td>{modelName(seat.model)}</td></tr>)}</tbody>
        </table>
      </div>
    </Part>
  )
}
