import type { Debate } from '../api/generated'
import { cut } from '../ui/words'
import { seatClass, seatIndex, SHAPES } from './seats'
import type { Watched } from './watched'

/** A seat, or all seats of a role where there are many. */
interface Node { seats: string[]; role: string; name: string; index: number; x: number; y: number; at: number; of: number }
interface Edge { from: Node; to: Node; there: boolean; back: boolean } // whether `to` hears `from`, and `from` hears `to`

const W = 340, H = 152, HIGH = 46, LOW = 112, NODE = 15
const MOST_VOICES = 8
const MOST_OTHERS = 3

/** Voices above, the others below; only roles and seats that hear or are heard. */
function placed(debate: Debate, watched: Watched): Node[] {
  const roles = new Set(debate.vocabulary.hears.flatMap((each) => [each.listener, each.speaker]))
  const named = new Set(watched.voices.value)
  const seats = debate.seats.filter((seat) => (roles.has(seat.role) || roles.has(seat.id)) && (!seat.voice || named.has(seat.id)))
  return [true, false].flatMap((voice) => {
    const row = seats.filter((seat) => seat.voice === voice)
    const many = row.length > (voice ? MOST_VOICES : MOST_OTHERS)
    const groups = many ? [...new Set(row.map((seat) => seat.role))].map((role) => row.filter((seat) => seat.role === role)) : row.map((seat) => [seat])
    return groups.map((group, at) => {
      const first = group[0]!
      return {
        seats: group.map((seat) => seat.id),
        role: first.role,
        name: group.length > 1 ? `${group.length} × ${first.role}` : watched.name(first.id),
        index: seatIndex(debate, first.id),
        x: (W / groups.length) * (at + 0.5),
        y: voice ? HIGH : LOW,
        at,
        of: groups.length,
      }
    })
  })
}

function joined(debate: Debate, nodes: Node[]): Edge[] {
  const heard = new Set(debate.vocabulary.hears.map((each) => `${each.speaker}/${each.listener}`))
  const called = (node: Node) => (node.seats.length > 1 ? [node.role] : [node.role, ...node.seats])
  const hears = (to: Node, from: Node) => called(from).some((speaker) => called(to).some((listener) => heard.has(`${speaker}/${listener}`)))
  const edges = nodes.flatMap((from, at) => nodes.slice(at + 1).map((to) => ({ from, to, there: hears(to, from), back: hears(from, to) })))
  return edges.filter((each) => each.there || each.back)
}

function line({ from, to }: Edge): string {
  if (from.y === to.y) {
    const apart = to.at - from.at
    if (apart === 1) return `M${from.x + NODE + 3} ${from.y}H${to.x - NODE - 3}`
    return `M${from.x + 6} ${from.y - NODE - 2}Q${(from.x + to.x) / 2} ${from.y - NODE - 8 - 10 * apart} ${to.x - 6} ${to.y - NODE - 2}`
  }
  const length = Math.hypot(to.x - from.x, to.y - from.y), dx = (to.x - from.x) / length, dy = (to.y - from.y) / length
  return `M${from.x + dx * (NODE + 16)} ${from.y + dy * (NODE + 16)}L${to.x - dx * (NODE + 3)} ${to.y - dy * (NODE + 3)}`
}

/** Who hears whom under the rules of the format; who is speaking is lit. */
export function Topology({ watched }: { watched: Watched }) {
  const debate = watched.debate.value
  const nodes = placed(debate, watched)
  const edges = joined(debate, nodes)
  if (!edges.length) return null
  const speaking = watched.speaking.value
  const lit = (node: Node) => node.seats.some((seat) => speaking.has(seat))
  const words = debate.vocabulary.hears.map(({ listener, speaker }) => {
    const seat = debate.seats.some((each) => each.id === listener || each.id === speaker)
    if (seat) return `${watched.name(listener)} hears ${watched.name(speaker)}.`
    return listener === speaker ? `Each ${listener} hears the others.` : `The ${listener} hears the ${speaker}.`
  })
  return (
    <figure class="chart topology">
      <figcaption>Who hears whom</figcaption>
      <svg viewBox={`0 0 ${W} ${H}`} role="img" aria-label={`Who hears whom. ${words.join(' ')}`}>
        <defs>
          <marker id="hears" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M1 1l6 3-6 3" class="hears" /></marker>
        </defs>
        {edges.map((edge) => (
          <path
            key={`${edge.from.seats[0]}/${edge.to.seats[0]}`}
            class={`heard ${(edge.there && lit(edge.from)) || (edge.back && lit(edge.to)) ? 'lit' : ''}`}
            d={line(edge)}
            marker-start={edge.back ? 'url(#hears)' : undefined}
            marker-end={edge.there ? 'url(#hears)' : undefined}
          />
        ))}
        {nodes.map((node) => (
          <g key={node.seats[0]} class={`node ${seatClass(node.index)}${lit(node) ? ' lit' : ''}`}>
            <circle cx={node.x} cy={node.y} r={NODE} />
            <text class="shape" x={node.x} y={node.y + 5} text-anchor="middle">{node.index < 0 ? '○' : SHAPES[node.index % SHAPES.length]}</text>
            <text x={node.x} y={node.y + NODE + 13} text-anchor="middle">{cut(node.name, Math.max(8, Math.floor(W / node.of / 7.4)))}</text>
          </g>
        ))}
      </svg>
    </figure>
  )
}
