import type { Debate } from '../api/generated'
import { cut } from '../ui/words'
import { seatClass, SHAPES } from './seats'
import type { Watched } from './watched'

interface Node { seats: string[]; name: string; x: number; y: number; debater: number }

const W = 340, H = 152, TOP = 46, LOW = 112, NODE = 15
const MOST_OTHERS = 3
// Formats whose debaters hear each other; and whether they hear what is summed up at the table, or nobody does.
const ANSWERING: Record<string, boolean> = { classic: false, duel: false, council: false, crucible: false, panel: true }

function placed(debate: Debate, names: Record<string, string>): { debaters: Node[]; others: Node[] } {
  const across = (at: number, of: number) => (W / of) * (at + 0.5)
  const debating = debate.cast.filter((seat) => seat.role === 'debater')
  const rest = debate.cast.filter((seat) => seat.role !== 'debater')
  const shown = rest.length <= MOST_OTHERS ? rest.map((seat) => [seat]) : [[rest[0]!], rest.slice(1)]
  return {
    debaters: debating.map((seat, at) => ({ seats: [seat.id], name: names[seat.id] ?? seat.name, x: across(at, debating.length), y: TOP, debater: at })),
    others: shown.map((seats, at) => ({
      seats: seats.map((seat) => seat.id),
      name: seats.length > 1 ? `${seats.length} more` : (names[seats[0]!.id] ?? seats[0]!.name),
      x: across(at, shown.length),
      y: LOW,
      debater: -1,
    })),
  }
}

/** Who hears whom under the rules of the format; whoever is speaking is lit. */
export function Topology({ watched }: { watched: Watched }) {
  const debate = watched.debate.value
  const { debaters, others } = placed(debate, watched.names.value)
  const speaking = watched.speaking.value
  const lit = (node: Node) => node.seats.some((seat) => speaking.has(seat))
  const answering = ANSWERING[debate.format]
  if (answering === undefined) return null
  const pairs = debaters.flatMap((one, at) => debaters.slice(at + 1).map((two) => [one, two] as const))
  const down = debaters.flatMap((one) => others.map((two) => [one, two] as const))
  const listeners = others.map((each) => each.name).join(', ')
  const told = `The debaters hear each other.${listeners ? ` ${listeners}: ${answering ? 'hears all of them, and is heard' : 'hears all of them, and is heard by nobody'}.` : ''}`
  return (
    <figure class="chart topology">
      <figcaption>Who hears whom</figcaption>
      <svg viewBox={`0 0 ${W} ${H}`} role="img" aria-label={`Who hears whom. ${told}`}>
        <defs>
          <marker id="hears" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M1 1l6 3-6 3" class="hears" /></marker>
        </defs>
        {pairs.map(([one, two]) => {
          const near = two.debater - one.debater === 1
          const d = near
            ? `M${one.x + NODE + 3} ${TOP}H${two.x - NODE - 3}`
            : `M${one.x + 6} ${TOP - NODE - 2}Q${(one.x + two.x) / 2} ${TOP - NODE - 8 - 10 * (two.debater - one.debater)} ${two.x - 6} ${TOP - NODE - 2}`
          return <path key={`${one.debater}/${two.debater}`} class={`heard ${lit(one) || lit(two) ? 'lit' : ''}`} d={d} marker-start="url(#hears)" marker-end="url(#hears)" />
        })}
        {down.map(([one, two]) => {
          const length = Math.hypot(two.x - one.x, LOW - TOP), dx = (two.x - one.x) / length, dy = (LOW - TOP) / length
          const d = `M${one.x + dx * (NODE + 16)} ${TOP + dy * (NODE + 16)}L${two.x - dx * (NODE + 3)} ${LOW - dy * (NODE + 3)}`
          return <path key={`${one.debater}-${two.name}`} class={`heard ${lit(one) || (answering && lit(two)) ? 'lit' : ''}`} d={d} marker-start={answering ? 'url(#hears)' : undefined} marker-end="url(#hears)" />
        })}
        {[...debaters, ...others].map((node) => (
          <g key={node.seats[0]} class={`node ${seatClass(node.debater)}${lit(node) ? ' lit' : ''}`}>
            <circle cx={node.x} cy={node.y} r={NODE} />
            <text class="shape" x={node.x} y={node.y + 5} text-anchor="middle">{node.debater < 0 ? '○' : SHAPES[node.debater % SHAPES.length]}</text>
            <text x={node.x} y={node.y + NODE + 13} text-anchor="middle">{cut(node.name, Math.max(8, Math.floor(W / (node.debater < 0 ? others.length : debaters.length) / 7.4)))}</text>
          </g>
        ))}
      </svg>
    </figure>
  )
}
