import { useState } from 'preact/hooks'
import { call } from '../api/client'
import type { Debate, Record as Decision, Outcome } from '../api/generated'
import { PeopleActions } from '../people/actions'
import { FollowUps } from '../people/followups'
import { Link } from '../router'
import { Icon } from '../ui/icons'
import { useLoad } from '../ui/load'
import { Prose, tell } from '../ui/parts'
import { count, cut, money, seconds } from '../ui/words'
import { Checks } from './checks'
import { Confidence } from './confidence'
import { sideName, stanceOf } from './seats'
import { flipsOf, tallyOf, Votes } from './votes'

const SHORT = 420 // characters of a recommendation that is shown at once
const EXCERPT = 260

/** What the debate came to, before everything that led to it. `brief`: beside another view of the debate. */
export function AnswerCard({ debate, brief }: { debate: Debate; brief: boolean }) {
  const { outcome } = debate
  const record = useLoad((signal) => call('getRecord', { params: { debate_id: debate.id }, query: { format: 'json' }, signal }), [debate.id]).value
  if (!outcome) return null
  const short = [tallyOf(outcome), flipsOf(outcome)].filter(Boolean)
  return (
    <section class={brief ? 'answer brief' : 'answer'} aria-label="The answer">
      <div class="answer-top">
        <div class="answer-main">
          <p class="headline" dir="auto">{outcome.headline}</p>
          {outcome.how && <p class="how">{outcome.how}</p>}
          <p class="answer-facts">
            {record && <Confidence level={record.confidence} />}
            {short.map((each) => <span key={each} class="tag">{each}</span>)}
            {outcome.limit && <span class="tag bad"><Icon name="warn" /> Cut short: {outcome.ended}</span>}
            {debate.demonstration && <span class="tag bad"><Icon name="warn" /> Demonstration: this means nothing</span>}
          </p>
        </div>
        <Actions debate={debate} outcome={outcome} record={record} />
      </div>
      {!brief && record && <Grounds debate={debate} outcome={outcome} record={record} />}
      {!brief && <FollowUps debate={debate} />}
    </section>
  )
}

/** Buttons for what can be done with an answer. */
function Actions({ debate, outcome, record }: { debate: Debate; outcome: Outcome; record: Decision | undefined }) {
  const copy = () => {
    const code = outcome.answer?.kind === 'code' || outcome.answer?.kind === 'patch' ? outcome.answer.value : ''
    const words = [outcome.headline, record?.recommendation === outcome.headline ? '' : record?.recommendation, `${location.origin}/debates/${debate.id}`]
    navigator.clipboard?.writeText(code || [debate.topic, ...words].filter(Boolean).join('\n\n')).then(
      () => tell(code ? 'The code is in the clipboard.' : 'The answer is in the clipboard.'),
      () => tell('This browser does not let pages use the clipboard.', true),
    )
  }
  return (
    <div class="answer-actions" role="group" aria-label="What to do with the answer">
      <button onClick={copy}><Icon name="copy" /> Copy</button>
      <PeopleActions debate={debate} />
      <Link class="button primary" href={`/debates/${debate.id}/record`}><Icon name="check" /> Record</Link>
    </div>
  )
}

function Grounds({ debate, outcome, record }: { debate: Debate; outcome: Outcome; record: Decision }) {
  const dissent = dissentOf(debate, outcome, record)
  const notes = [...(outcome.reason && !outcome.headline.includes(outcome.reason.replace(/[ .]+$/, '')) ? [outcome.reason] : []), ...outcome.notes]
  return (
    <>
      <Whole outcome={outcome} record={record} />
      <div class="grounds">
        <div>
          <h2>Why {record.confidence.toLowerCase()} confidence</h2>
          <ul class="bullets">{record.confidence_reasons.map((each) => <li key={each}>{each}</li>)}</ul>
          {outcome.limit && <Limit debate={debate} limit={outcome.limit} />}
        </div>
        {dissent && (
          <div>
            <h2>Strongest dissent</h2>
            <p dir="auto">{cut(dissent.text, EXCERPT)}</p>
            {(dissent.by || dissent.key) && (
              <p class="dim">{dissent.by}{dissent.key && <> · <a href={`#${encodeURIComponent(dissent.key)}`}>read it</a></>}</p>
            )}
          </div>
        )}
        {outcome.checks.length > 0 && <div><h2>What was checked</h2><Checks checks={outcome.checks} /></div>}
        {notes.length > 0 && <div><h2>To bear in mind</h2><ul class="bullets">{notes.map((each) => <li key={each}>{each}</li>)}</ul></div>}
      </div>
      <Votes debate={debate} outcome={outcome} />
    </>
  )
}

/** The answer in full, where one sentence does not hold it. */
function Whole({ outcome, record }: { outcome: Outcome; record: Decision }) {
  const { answer } = outcome
  const [open, setOpen] = useState(false)
  if (answer && (answer.kind === 'code' || answer.kind === 'patch')) return <pre class="answer-code" tabIndex={0} aria-label="The code"><code>{answer.value}</code></pre>
  const text = record.recommendation || record.statement
  if (!text || outcome.headline.includes(text.trim())) return null
  const long = text.length > SHORT
  return (
    <div class={long && !open ? 'answer-whole folded' : 'answer-whole'}>
      <Prose html={text === outcome.statement ? outcome.html : null} text={text} />
      {long && <button class="small quiet" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'Less' : 'The whole answer'}</button>}
    </div>
  )
}

const LIMITS: Record<string, [name: string, amount: (value: number) => string]> = {
  max_total_output_tokens: ['tokens that all models together may write', count],
  max_cost_usd: ['money that all calls together may cost', money],
  max_runtime_seconds: ['running time', seconds],
  max_calls: ['calls of models', count],
}

function Limit({ debate, limit }: { debate: Debate; limit: string }) {
  const known = LIMITS[limit]
  const set = debate.settings[limit]
  return (
    <p class="dim">
      Its limit was {known ? `${typeof set === 'number' ? known[1](set) : 'set'} (${known[0]})` : limit}. What was said until then is kept; a fork with a higher limit goes on from there.
    </p>
  )
}

interface Dissent { text: string; by: string; key: string }

/** The format's own dissent; else a vote against the winner, in the voter's words; else the last words of the other side. */
function dissentOf(debate: Debate, outcome: Outcome, record: Decision): Dissent | undefined {
  const [own] = record.dissent ?? []
  if (own) return { text: own, by: '', key: '' }
  const { winner } = outcome
  if (!debate.seats.some((seat) => seat.id === winner)) return undefined // nothing won, so nothing is against it
  const vote = record.decided.votes.find((each) => each.choice !== winner && each.choice !== 'abstains' && each.reason)
  const against = Object.entries(outcome.tally ?? {}).reduce((sum, [choice, votes]) => (choice === winner || choice === 'abstains' ? sum : sum + votes), 0)
  if (vote) return { text: vote.reason, by: against > 1 ? `${vote.name}, one of ${count(against)} votes not for it` : vote.name, key: vote.key }
  const others = debate.seats.some((seat) => seat.id === winner && seat.voice) ? record.perspectives.filter((each) => each.seat !== winner) : []
  const last = others.map((each) => ({ each, quote: each.quotes?.at(-1) })).find(({ quote }) => quote?.text)
  if (!last?.quote) return undefined
  return { text: last.quote.text.replaceAll(/[*`#|]+/g, ''), by: sideName(last.each.name, stanceOf(debate.seats, last.each.seat ?? '')), key: last.quote.key }
}
