import type { ArmSummary, EvaluationReport } from '../api/generated'
import { capital, count, money, plural } from '../ui/words'

const percent = (share: number): string => `${(share * 100).toFixed(1)}%`
const points = (share: number): string => `${share > 0 ? '+' : share < 0 ? '−' : ''}${Math.abs(share * 100).toFixed(1)}`

const endsOf = ({ interval: [low = 0, high = 0] }: { interval: number[] }): [number, number] => [low, high]
const between = (ends: [number, number], word: (value: number) => string): string => ends.map(word).join(' to ')

/** A value in its interval on a line from `low` to `high`; the numbers stand beside it. */
function Interval({ at, ends: [from, to], low, high }: { at: number; ends: [number, number]; low: number; high: number }) {
  const place = (value: number) => Math.max(0, Math.min(100, ((value - low) / (high - low)) * 100))
  return (
    <span class="interval" aria-hidden="true">
      {low < 0 && <span class="interval-zero" style={{ left: `${place(0)}%` }} />}
      <span class="interval-range" style={{ left: `${place(from)}%`, width: `${place(to) - place(from)}%` }} />
      <span class="interval-dot" style={{ left: `${place(at)}%` }} />
    </span>
  )
}

/** How often each way to answer is right, baselines first. */
export function Arms({ report }: { report: EvaluationReport }) {
  const rows: Array<[string, ArmSummary, boolean]> = [...Object.entries(report.baselines).map(([name, each]) => [name, each, true] as [string, ArmSummary, boolean]), ...Object.entries(report.arms).map(([name, each]) => [name, each, false] as [string, ArmSummary, boolean])]
  return (
    <section aria-label="How often each is right">
      <h2>How often each is right</h2>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Table of arms">
        <table>
          <thead><tr><th>Arm</th><th>Right</th><th class="wide-cell">0 to 100%, with the 95% interval</th><th>Interval</th><th>No answer</th><th>Failed</th><th>Cost of an item</th><th>Tokens of an item</th></tr></thead>
          <tbody>
            {rows.map(([name, each, baseline]) => (
              <tr key={name} class={baseline ? 'baseline' : ''}>
                <th scope="row">{name}</th>
                <td class="num"><b>{percent(each.accuracy)}</b></td>
                <td><Interval at={each.accuracy} ends={endsOf(each)} low={0} high={1} /></td>
                <td class="num">{between(endsOf(each), percent)}</td>
                <td class="num">{percent(each.no_answer / each.n)}{each.samples && <span class="dim"> ({count(each.samples.no_answer)} of {count(each.samples.given)} samples)</span>}</td>
                <td class="num">{each.failed || ''}</td>
                <td class="num">{money(each.usd_per_item)}</td>
                <td class="num">{count(Math.round(each.tokens_per_item))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** Each debate less each baseline, item by item. */
export function Comparisons({ report }: { report: EvaluationReport }) {
  const most = Math.min(1, Math.max(0.05, ...report.comparisons.flatMap((each) => each.interval.map(Math.abs))))
  return (
    <section aria-label="Differences, item by item">
      <h2>Differences, item by item</h2>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Table of differences">
        <table>
          <thead><tr><th>Arm</th><th>Less</th><th>Points</th><th class="wide-cell">Worse to better, with the 95% interval</th><th>Interval</th><th>p, corrected</th></tr></thead>
          <tbody>
            {report.comparisons.map((each) => (
              <tr key={`${each.arm}/${each.baseline}`}>
                <th scope="row">{each.arm}</th>
                <td>{each.baseline}{each.samples !== null && <span class="dim">, {plural(each.samples, 'sample')}</span>}</td>
                <td class="num"><b>{points(each.difference)}</b></td>
                <td><Interval at={each.difference} ends={endsOf(each)} low={-most} high={most} /></td>
                <td class="num">{between(endsOf(each), points)}</td>
                <td class="num">{each.p_holm < 0.001 ? '< 0.001' : each.p_holm.toFixed(3)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

const W = 760, H = 260, LEFT = 46, RIGHT = 20, TOP = 14, BOTTOM = 28

/** Accuracy over cost: samples as a line, arms as points, each tied to the samples that cost as much. */
export function Curve({ report }: { report: EvaluationReport }) {
  const { arms, baseline } = report.standing
  const { head, rows } = report.costs
  const most = Math.max(1e-12, ...report.curve.map((each) => each.cost), ...arms.map((each) => each.cost))
  const x = (cost: number) => LEFT + (cost / most) * (W - LEFT - RIGHT)
  const y = (share: number) => TOP + (1 - share) * (H - TOP - BOTTOM)
  const cost = (value: number) => (report.unit === 'usd' ? money(value) : `${count(Math.round(value))} tokens`)
  const told = rows.map(([name, price, , right]) => `${name}, ${price}: ${right}`).join('. ')
  const debates = arms.filter((each) => each.debate).map((each) => each.arm)
  return (
    <section aria-label="Accuracy over cost">
      <h2>Accuracy over cost</h2>
      <figure class="chart curve">
        <figcaption>{baseline}, by samples, as a line; arms as points; a ring marks as many samples as an arm costs. Cost of an item in {report.unit === 'usd' ? 'US dollars' : 'tokens, those written count four times'}</figcaption>
        <svg viewBox={`0 0 ${W} ${H}`} role="img" aria-label={`Accuracy over cost. ${told}.`}>
          {[0, 0.25, 0.5, 0.75, 1].map((tick) => (
            <g key={tick}>
              <line class="grid" x1={LEFT} x2={W - RIGHT} y1={y(tick)} y2={y(tick)} />
              <text class="axis" x={LEFT - 6} y={y(tick) + 4} text-anchor="end">{tick * 100}%</text>
            </g>
          ))}
          <text class="axis" x={LEFT} y={H - 8}>0</text>
          <text class="axis" x={W - RIGHT} y={H - 8} text-anchor="end">{cost(most)}</text>
          <polyline class="curve-line" points={report.curve.map((each) => `${x(each.cost)},${y(each.accuracy)}`).join(' ')} />
          {report.curve.map((each) => <circle key={each.samples} class="curve-dot" cx={x(each.cost)} cy={y(each.accuracy)} r="3" />)}
          {arms.map((each) => (
            <g key={each.arm}>
              {each.samples_accuracy !== null && (
                <>
                  <line class="equal-cost" x1={x(each.cost)} y1={y(each.accuracy)} x2={x(each.samples_cost)} y2={y(each.samples_accuracy)} />
                  <circle class="equal-ring" cx={x(each.samples_cost)} cy={y(each.samples_accuracy)} r="7" />
                </>
              )}
              <circle class={each.debate ? 'arm-dot' : 'arm-dot other'} cx={x(each.cost)} cy={y(each.accuracy)} r="5" />
              <text class={each.debate ? 'arm-name' : 'arm-name other'} x={x(each.cost) + (x(each.cost) > W / 2 ? -9 : 9)} y={y(each.accuracy) - 8} text-anchor={x(each.cost) > W / 2 ? 'end' : 'start'}>{each.arm}</text>
            </g>
          ))}
        </svg>
      </figure>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Table of costs">
        <table>
          <thead><tr>{head.map((each) => <th key={each}>{capital(each)}</th>)}</tr></thead>
          <tbody>
            {rows.map(([name = '', ...cells]) => (
              <tr key={name} class={debates.includes(name) ? '' : 'baseline'}>
                <th scope="row">{name}</th>
                {cells.map((each, at) => <td key={head[at + 1]} class={at < 3 ? 'num' : ''}>{each}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** What a debate changed, and whether confidence can be believed. */
export function Changes({ report }: { report: EvaluationReport }) {
  const rows = Object.entries(report.arms)
  const brier = (found: { brier: number; ece: number; n: number } | null | undefined) => (found ? `${found.brier.toFixed(3)} (ECE ${found.ece.toFixed(3)}, ${count(found.n)} answers)` : '–')
  return (
    <section aria-label="What the debate changed">
      <h2>What the debate changed, and whether confidence can be believed</h2>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Table of changes">
        <table>
          <thead><tr><th>Arm</th><th>Right by vote before it</th><th>Added, in points</th><th>Repaired</th><th>Broken</th><th>Brier score of stated confidence</th><th>Of agreement</th></tr></thead>
          <tbody>
            {rows.map(([name, each]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="num">{each.first_vote ? percent(each.first_vote.accuracy) : '–'}</td>
                <td class="num">{each.first_vote ? `${points(each.first_vote.added.difference)} (${between(endsOf(each.first_vote.added), points)})` : '–'}</td>
                <td class="num">{each.first_vote?.repaired ?? '–'}</td>
                <td class="num">{each.first_vote?.broken ?? '–'}</td>
                <td class="num">{brier(each.calibration.stated)}</td>
                <td class="num">{brier(each.calibration.agreement)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
