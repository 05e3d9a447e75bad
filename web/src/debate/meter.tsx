import { useEffect, useState } from 'preact/hooks'
import type { Event } from '../api/generated'
import { count, money, seconds } from '../ui/words'
import type { Watched } from './watched'

const CHARS_PER_TOKEN = 4 // about, until the turn says how many

export function Meter({ watched }: { watched: Watched }) {
  return (
    <dl class="meter">
      <Tokens watched={watched} />
      <Cost watched={watched} />
      <Time watched={watched} />
    </dl>
  )
}

function Tokens({ watched }: { watched: Watched }) {
  const debate = watched.debate.value
  const limit = Number(debate.settings.max_total_output_tokens ?? 0)
  return (
    <div>
      <dt>Tokens written</dt>
      <dd>
        <Count watched={watched} /> <small>of {count(limit)}, {count(debate.tokens_in)} read</small>
        <Bar share={limit ? debate.tokens_out / limit : 0} />
      </dd>
    </div>
  )
}

/** Its own component: it changes with every frame while text comes in, and nothing else does. */
function Count({ watched }: { watched: Watched }) {
  return <b class="num">{count(watched.debate.value.tokens_out + Math.round(watched.flying.value / CHARS_PER_TOKEN))}</b>
}

function Cost({ watched }: { watched: Watched }) {
  const debate = watched.debate.value
  const limit = debate.settings.max_cost_usd as number | null
  return (
    <div>
      <dt>Cost</dt>
      <dd>
        <b class="num">{money(debate.cost_usd)}</b> <small>{limit ? `of ${money(limit)}` : 'no limit'}</small>
        <Bar share={limit ? (debate.cost_usd ?? 0) / limit : 0} />
      </dd>
    </div>
  )
}

function Time({ watched }: { watched: Watched }) {
  const debate = watched.debate.value
  const [now, setNow] = useState(Date.now() / 1000)
  const running = (debate.status === 'running' || debate.status === 'stopping') && !debate.interrupted
  useEffect(() => {
    if (!running) return
    const timer = setInterval(() => setNow(Date.now() / 1000), 1000)
    return () => clearInterval(timer)
  }, [running])
  const taken = runningSeconds(watched.events.value, running ? now : undefined)
  const { done, of, unit } = debate.progress
  return (
    <div>
      <dt>{of === null ? 'Steps' : `${unit === 'turn' ? 'Turns' : 'Rounds'}`}</dt>
      <dd>
        <b class="num">{of === null ? done : Math.min(done, of)}</b> <small>{of === null ? '' : `of ${of}, `}{seconds(taken)}</small>
        <Bar share={of ? done / of : 0} goal />
      </dd>
    </div>
  )
}

/** As `running_seconds` of moot/core/lifecycle.py; `now` ends a drive that is still under way. */
function runningSeconds(events: Event[], now?: number): number {
  let [total, last] = [0, 0]
  let began: number | undefined
  for (const { type, data, created_at } of events) {
    const status = type === 'status' ? data.status : undefined
    if (began !== undefined && status && status !== 'stopping') {
      total += Math.max(0, (status === 'running' || data.by === 'recovery' ? last : created_at) - began)
      began = undefined
    }
    if (status === 'running') began = created_at
    last = created_at
  }
  return began === undefined ? total : total + Math.max(0, (now ?? last) - began)
}

/** Towards a limit it warns when it is near; towards a goal it does not. */
function Bar({ share, goal }: { share: number; goal?: boolean }) {
  return (
    <span class="bar" aria-hidden="true">
      <span class={!goal && share > 0.85 ? 'near' : ''} style={{ width: `${Math.min(100, share * 100)}%` }} />
    </span>
  )
}
