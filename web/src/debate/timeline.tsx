import type { Turn } from '../api/generated'
import { useTurns } from '../api/turns'
import { Empty, Failed, Loading } from '../ui/parts'
import { count, modelName, money, plural, seconds } from '../ui/words'
import { phaseName } from './block'
import { inspected } from './inspector'
import { seatClass, seatIndex } from './seats'
import type { Watched } from './watched'

interface Call { turn: Turn; from: number; to: number; row: number }
interface Lane { seat: string; top: number; rows: number }
interface Pause { at: number; seconds: number }

const PAUSE_SECONDS = 4 // without any call: a person was asked, or no process ran it
const PAUSE_WIDTH = 0.03
const ROW = 18
const WIDTH = 1000
const NAME = 150

/** Seconds from the first call on, with long pauses cut out. */
function laidOut(turns: Turn[]): { calls: Call[]; pauses: Pause[]; length: number } {
  const sorted = [...turns].sort((a, b) => a.started_at - b.started_at)
  const calls: Call[] = []
  const pauses: Pause[] = []
  let cutOut = sorted[0]?.started_at ?? 0
  let end = cutOut
  for (const turn of sorted) {
    const gap = turn.started_at - end
    if (gap > PAUSE_SECONDS) {
      pauses.push({ at: end - cutOut, seconds: gap })
      cutOut += gap
    }
    calls.push({ turn, from: turn.started_at - cutOut, to: turn.started_at - cutOut + turn.duration_ms / 1000, row: 0 })
    end = Math.max(end, turn.started_at + turn.duration_ms / 1000)
  }
  return { calls, pauses, length: Math.max(0.001, end - cutOut) }
}

function inLanes(calls: Call[]): { lanes: Lane[]; height: number } {
  const lanes = new Map<string, Call[]>()
  for (const each of calls) lanes.set(each.turn.seat, [...(lanes.get(each.turn.seat) ?? []), each])
  let top = 22
  const made = [...lanes].map(([seat, own]) => {
    const ends: number[] = []
    for (const each of own) {
      const free = ends.findIndex((end) => end <= each.from + 0.005)
      each.row = free < 0 ? ends.length : free
      ends[each.row] = each.to
    }
    const lane = { seat, top, rows: ends.length }
    top += ends.length * ROW + 8
    return lane
  })
  return { lanes: made, height: top }
}

function mostAtOnce(calls: Call[]): number {
  const edges = calls.flatMap((each) => [[each.from, 1], [each.to, -1]] as const).sort((a, b) => a[0] - b[0] || a[1] - b[1])
  let now = 0
  return edges.reduce((most, [, step]) => Math.max(most, (now += step)), 0)
}

export function Timeline({ watched }: { watched: Watched }) {
  const debate = watched.debate.value
  const loaded = useTurns(debate)
  if (loaded.error) return <Failed error={loaded.error} again={loaded.again} />
  if (!loaded.value) return <Loading />
  const turns = loaded.value.filter((turn) => turn.kind === 'ask')
  if (!turns.length) return <Empty title="No call has been answered yet." />
  const { calls, pauses, length } = laidOut(turns)
  const { lanes, height } = inLanes(calls)
  const shown = new Set(watched.events.value.filter((event) => event.turn && event.public).map((event) => event.key))
  const work = calls.reduce((sum, each) => sum + each.to - each.from, 0)
  const scale = (WIDTH - NAME - 8) * (1 - PAUSE_WIDTH)
  const px = (time: number) => NAME + (time / length) * scale
  return (
    <div class="timeline">
      <p class="lead">
        {plural(calls.length, 'call')}, {seconds(work)} of work in {seconds(length)}: {(work / length).toFixed(1)} at once on average, {mostAtOnce(calls)} at most. Strong bars are public, pale ones private.
      </p>
      <div class="timeline-scroll" tabIndex={0} role="region" aria-label="Timeline of calls">
        <svg viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={`Timeline: ${plural(calls.length, 'call')} in ${seconds(length)}, at most ${mostAtOnce(calls)} at once. The table below has every one.`}>
          {[0, 0.25, 0.5, 0.75, 1].map((share) => (
            <g key={share}>
              <line class="grid" x1={px(share * length)} x2={px(share * length)} y1={16} y2={height} />
              <text class="axis" x={px(share * length)} y={11} text-anchor={share === 1 ? 'end' : 'middle'}>{seconds(share * length)}</text>
            </g>
          ))}
          {lanes.map((lane) => (
            <g key={lane.seat} class={seatClass(seatIndex(debate, lane.seat))}>
              <text class="name" x={0} y={lane.top + 13}>{watched.name(lane.seat).slice(0, 22)}</text>
              {calls.filter((each) => each.turn.seat === lane.seat).map((each) => (
                <rect key={each.turn.key} class={shown.has(each.turn.key) ? 'call' : 'call private'} x={px(each.from)} y={lane.top + each.row * ROW} width={Math.max(2, px(each.to) - px(each.from) - 1)} height={ROW - 4} rx={3} onClick={() => (inspected.value = each.turn.key)}>
                  <title>{`${each.turn.key}: ${seconds(each.to - each.from)}, ${count(each.turn.tokens_out)} tokens`}</title>
                </rect>
              ))}
            </g>
          ))}
          {pauses.map((pause) => (
            <g key={pause.at}>
              <line class="pause" x1={px(pause.at)} x2={px(pause.at)} y1={16} y2={height} />
              <text class="axis" x={px(pause.at) + 4} y={height - 3}>{seconds(pause.seconds)} pause</text>
            </g>
          ))}
        </svg>
      </div>
      <details class="calls-table">
        <summary>All calls as a table</summary>
        <div class="table-scroll" tabIndex={0} role="region" aria-label="All calls">
          <table>
            <thead>
              <tr><th>Step</th><th>Who</th><th>What</th><th>Model</th><th class="num">Read</th><th class="num">Written</th><th class="num">Cost</th><th class="num">Took</th></tr>
            </thead>
            <tbody>
              {calls.map(({ turn }) => (
                <tr key={turn.key}>
                  <td><button class="link" onClick={() => (inspected.value = turn.key)}><code>{turn.key}</code></button></td><td>{watched.name(turn.seat)}</td><td>{phaseName(debate, turn.phase)}</td><td>{modelName(turn.model)}</td>
                  <td class="num">{count(turn.tokens_in)}</td><td class="num">{count(turn.tokens_out)}</td><td class="num">{money(turn.cost_usd)}</td><td class="num">{seconds(turn.duration_ms / 1000)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </div>
  )
}
