import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { call } from '../api/client'
import type { Turn } from '../api/generated'
import { useLoad } from '../ui/load'
import { Dialog, Failed, Loading, Prose } from '../ui/parts'
import { count, exactly, modelName, money, plural, seconds } from '../ui/words'
import { phaseName } from './block'
import type { Watched } from './watched'

/** The key of the turn that is looked into; empty: none is. */
export const inspected = signal('')

interface Message { role: string; text: string }
type Audited = Turn & { messages?: Message[]; raw?: string | null }

export function Inspector({ watched }: { watched: Watched }) {
  return inspected.value ? <Inspecting key={inspected.value} at={inspected.value} watched={watched} /> : null
}

/** Everything about one turn: what was asked, what came back, and what it took. */
function Inspecting({ at, watched }: { at: string; watched: Watched }) {
  const debate = watched.debate.value
  const loaded = useLoad((signal) => call('auditDebate', { params: { debate_id: debate.id }, query: { step: at }, signal }), [debate.id, at])
  const turn = loaded.value?.turns.find((each) => each.key === at) as Audited | undefined
  return (
    <Dialog title={turn ? `${watched.name(turn.seat)}: ${phaseName(debate, turn.phase)}` : 'A turn'} wide onClose={() => (inspected.value = '')}>
      {loaded.error ? <Failed error={loaded.error} again={loaded.again} /> : !loaded.value ? <Loading /> : turn ? <Facts turn={turn} /> : <p>There is no turn {at} yet.</p>}
    </Dialog>
  )
}

function Facts({ turn }: { turn: Audited }) {
  const failed = Array.isArray(turn.metadata.attempts) ? turn.metadata.attempts.map(String) : []
  const sent = turn.messages ?? []
  const facts: Array<[string, ComponentChildren]> = [
    ['Step', <code>{turn.key}</code>],
    ['Model', <span title={turn.model}>{modelName(turn.model)}</span>],
    ['Tokens read', `${count(turn.tokens_in)}${turn.tokens_in ? `, ${Math.round((100 * turn.tokens_cached) / turn.tokens_in)}% from the cache` : ''}`],
    ['Tokens written', count(turn.tokens_out)],
    ['Price', money(turn.cost_usd)],
    ['Took', `${seconds(turn.duration_ms / 1000)}, begun ${exactly(turn.started_at)}`],
    ['Tries', failed.length ? `${failed.length + 1}, the last one counts` : 'one'],
    ['Ended', turn.finish_reason || '–'],
    ['Prompt', <><code>{turn.prompt || '–'}</code> <span class="dim">{turn.prompt_hash}</span></>],
  ]
  return (
    <div class="inspected">
      <dl class="facts">{facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
      {turn.failure && <p class="problem">{turn.failure.message}</p>}
      {failed.length > 0 && <><h3>Tries that failed</h3><ul class="bullets">{failed.map((each, at) => <li key={at}>{each}</li>)}</ul></>}
      <h3>Answer</h3>
      {turn.content ? <Prose html={turn.html} text={turn.content} /> : <p class="dim">None.</p>}
      {turn.data && <details><summary>As typed data</summary><pre tabIndex={0}>{JSON.stringify(turn.data, null, 2)}</pre></details>}
      <h3>What was asked</h3>
      {sent.length ? sent.map((message, at) => <Sent key={at} message={message} open={at === sent.length - 1} />) : <p class="dim">Nothing was sent to a model.</p>}
    </div>
  )
}

function Sent({ message, open }: { message: Message; open: boolean }) {
  return (
    <details open={open}>
      <summary>{message.role} <span class="dim">{plural(message.text.length, 'character')}</span></summary>
      <pre class="sent" tabIndex={0}>{message.text}</pre>
    </details>
  )
}
