import type { Debate, Event } from '../api/generated'
import { DASHES, seatClass, seatIndex, SHAPES } from './seats'

interface Point { x: number; y: number }
interface Series { name: string; seat: number; points: Point[] }
interface Chart { title: string; unit: string; most: number; across: string; series: Series[] }

/** The chart that the format declares, from the points of its events. No number is read out of prose. */
export function chartOf(debate: Debate, events: Event[]): Chart | undefined {
  const { chart, unit: across } = debate.vocabulary
  const series = new Map<string, Series>()
  for (const { points } of events)
    for (const { seat, label, x, y } of points) {
      const key = `${seat}/${label}`
      if (!series.has(key)) series.set(key, { name: label, seat: Math.max(0, seatIndex(debate, seat)), points: [] })
      series.get(key)?.points.push({ x, y })
    }
  if (!chart || !series.size) return undefined
  return { title: / by /.test(chart.title) ? chart.title : `${chart.title} by ${across}`, unit: chart.unit, most: chart.most, across, series: [...series.values()] }
}

const MOST_MARKED = 24 // points that are marked one by one
const MOST_TICKS = 10
const W = 340, H = 168, LEFT = 42, RIGHT = 14, TOP = 12, BOTTOM = 24

export function Scores({ chart }: { chart: Chart }) {
  const xs = chart.series.flatMap((each) => each.points.map((point) => point.x))
  const first = Math.min(...xs), last = Math.max(...xs, first + 1)
  const px = (x: number) => LEFT + ((x - first) / (last - first)) * (W - LEFT - RIGHT)
  const py = (y: number) => TOP + (1 - y / chart.most) * (H - TOP - BOTTOM)
  const step = Math.max(1, Math.ceil((last - first) / MOST_TICKS))
  const ticks = [0, chart.most / 2, chart.most]
  const told = chart.series.map((each) => `${each.name}: ${each.points.map((point) => `${chart.across} ${point.x} ${Math.round(point.y)}${chart.unit}`).join(', ')}`).join('. ')
  return (
    <figure class="chart">
      <figcaption>{chart.title}</figcaption>
      <svg viewBox={`0 0 ${W} ${H}`} role="img" aria-label={`${chart.title}. ${told}.`}>
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="grid" x1={LEFT} x2={W - RIGHT} y1={py(tick)} y2={py(tick)} />
            <text class="axis" x={LEFT - 6} y={py(tick) + 4} text-anchor="end">{tick}{chart.unit}</text>
          </g>
        ))}
        {Array.from({ length: last - first + 1 }, (_, at) => first + at).filter((x) => x <= Math.max(...xs) && (x - first) % step === 0).map((x) => (
          <text key={x} class="axis" x={px(x)} y={H - 6} text-anchor="middle">{x}</text>
        ))}
        {chart.series.map((each) => (
          <g key={each.name} class={seatClass(each.seat)}>
            <polyline class={xs.length > MOST_MARKED ? 'series thin' : 'series'} stroke-dasharray={DASHES[each.seat % DASHES.length]} points={each.points.map((point) => `${px(point.x)},${py(point.y)}`).join(' ')} />
            {(xs.length <= MOST_MARKED ? each.points : each.points.slice(-1)).map((point) => (
              <text key={point.x} class="point" x={px(point.x)} y={py(point.y) + 4} text-anchor="middle">{SHAPES[each.seat % SHAPES.length]}</text>
            ))}
          </g>
        ))}
      </svg>
      <ul class="legend">
        {chart.series.map((each) => (
          <li key={each.name} class={seatClass(each.seat)}>
            <svg viewBox="0 0 28 10" aria-hidden="true"><line class="series" x1="0" x2="28" y1="5" y2="5" stroke-dasharray={DASHES[each.seat % DASHES.length]} /></svg>
            <span aria-hidden="true">{SHAPES[each.seat % SHAPES.length]}</span> {each.name} <b class="num">{Math.round((each.points.at(-1)?.y ?? 0) * 10) / 10}{chart.unit}</b>
          </li>
        ))}
      </ul>
    </figure>
  )
}
