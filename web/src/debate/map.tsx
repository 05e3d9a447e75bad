import { call, Refusal } from '../api/client'
import type { Claim, Claims, Debate } from '../api/generated'
import { may } from '../session'
import { useLoad } from '../ui/load'
import { Empty, Failed, Loading } from '../ui/parts'
import { cut, plural } from '../ui/words'
import { forkAt } from './fork'
import { inspected } from './inspector'
import { seatClass, seatIndex, SHAPES } from './seats'

const W = 268, H = 62, GAP_X = 110, GAP_Y = 18, HEAD = 26
const SIGNS: Record<NonNullable<Claim['status']>, string> = { standing: '✓ standing', conceded: '✓✓ conceded', open: '? open', refuted: '✕ refuted' }

/** The ledger of claims, as a map: a column for each who claims, time downwards. */
export function ArgumentMap({ debate, version }: { debate: Debate; version: number }) {
  const loaded = useLoad(
    (signal) => call('getClaims', { params: { debate_id: debate.id }, signal }).catch((error: unknown) => {
      if (error instanceof Refusal && error.slug === 'not-found') return null
      throw error
    }),
    [debate.id, version],
  )
  if (loaded.error) return <Failed error={loaded.error} again={loaded.again} />
  if (loaded.value === undefined) return <Loading />
  const ledger = loaded.value
  if (!ledger || !ledger.claims.length)
    return (
      <Empty title={ledger ? 'No claims yet.' : 'This debate keeps no ledger of claims.'}>
        {!ledger && (
          <p>
            With the setting “claims”, speakers list what they claim, and code works out what stands.
            {may('run') && debate.actions.includes('fork') && <> <button class="small" onClick={() => (forkAt.value = '')}>Fork it with a ledger</button></>}
          </p>
        )}
      </Empty>
    )
  return <Map ledger={ledger} debate={debate} />
}

function Map({ ledger, debate }: { ledger: Claims; debate: Debate }) {
  const seats = [...new Set(ledger.claims.map((claim) => claim.seat))].sort((a, b) => seatIndex(debate, a) - seatIndex(debate, b))
  const waves = [...new Set(ledger.claims.map((claim) => claim.wave))].sort((a, b) => a - b)
  const places = new globalThis.Map<string, { x: number; y: number }>()
  let y = HEAD
  for (const wave of waves) {
    let tallest = 0
    seats.forEach((seat, column) => {
      ledger.claims.filter((claim) => claim.wave === wave && claim.seat === seat).forEach((claim, at) => {
        places.set(claim.id, { x: column * (W + GAP_X) + 6, y: y + at * (H + GAP_Y) })
        tallest = Math.max(tallest, at + 1)
      })
    })
    y += tallest * (H + GAP_Y)
  }
  const width = seats.length * (W + GAP_X) - GAP_X + 48
  return (
    <div class="map">
      <p class="lead">
        {plural(ledger.claims.length, 'claim')}: {Object.entries(ledger.counts).filter(([, n]) => n).map(([status, n]) => `${n} ${status}`).join(', ')}.
        A status says how a claim came out of this debate, not whether it is true. A click opens the statement that makes it.
      </p>
      <ul class="legend wide">
        <li><svg viewBox="0 0 34 10"><path class="edge attacks" d="M1 5h26" marker-end="url(#cross)" /></svg> attacks</li>
        <li><svg viewBox="0 0 34 10"><path class="edge supports" d="M1 5h26" marker-end="url(#head)" /></svg> supports</li>
        <li><svg viewBox="0 0 34 10"><path class="edge void" d="M1 5h30" /></svg> counts for nothing</li>
      </ul>
      <div class="map-scroll" tabIndex={0} role="region" aria-label="Argument map">
        <svg width={width} height={y + 4} viewBox={`0 0 ${width} ${y + 4}`} role="img" aria-label="Argument map. The table below says the same.">
          <defs>
            <marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M1 1l6 3-6 3" class="marker" /></marker>
            <marker id="cross" viewBox="0 0 8 8" refX="5" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M2 1l5 6M7 1L2 7" class="marker bad" /></marker>
          </defs>
          {seats.map((seat, column) => (
            <text key={seat} class={`name ${seatClass(seatIndex(debate, seat))}`} x={column * (W + GAP_X) + 6} y={16}>{SHAPES[Math.max(0, seatIndex(debate, seat)) % SHAPES.length]} {ledger.names[seat] ?? seat}</text>
          ))}
          {ledger.claims.map((claim) => <Edge key={claim.id} claim={claim} places={places} />)}
          {ledger.claims.map((claim) => {
            const at = places.get(claim.id)
            if (!at) return null
            const [one, two] = lines(claim.text)
            return (
              <g key={claim.id} class={`claim ${claim.status} ${seatClass(seatIndex(debate, claim.seat))}`} onClick={() => (inspected.value = claim.statement)}>
                <title>{`${claim.id} (${claim.status}): ${claim.text}`}</title>
                <rect x={at.x} y={at.y} width={W} height={H} rx={6} />
                <text class="claim-id" x={at.x + 9} y={at.y + 15}>{claim.id} · {SIGNS[claim.status ?? 'standing']}</text>
                <text x={at.x + 9} y={at.y + 33}>{one}</text>
                <text x={at.x + 9} y={at.y + 49}>{two}</text>
              </g>
            )
          })}
        </svg>
      </div>
      <details class="calls-table">
        <summary>All claims as a table</summary>
        <div class="table-scroll" tabIndex={0} role="region" aria-label="All claims">
          <table>
            <thead><tr><th>Id</th><th>Who</th><th>Status</th><th>Claim</th><th>Towards</th></tr></thead>
            <tbody>
              {ledger.claims.map((claim) => (
                <tr key={claim.id}>
                  <td><button class="link" title="Open its statement" onClick={() => (inspected.value = claim.statement)}>{claim.id}</button></td><td>{ledger.names[claim.seat] ?? claim.seat}</td><td>{claim.status}</td><td>{claim.text}</td>
                  <td>{claim.target ? `${claim.stance} ${claim.target}${claim.counts ? '' : ' (counts for nothing)'}` : ''}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </div>
  )
}

function Edge({ claim, places }: { claim: Claim; places: globalThis.Map<string, { x: number; y: number }> }) {
  const from = places.get(claim.id), to = places.get(claim.target ?? '')
  if (!from || !to || claim.stance === 'none') return null
  const same = from.x === to.x
  const leftward = to.x < from.x
  const x1 = same ? from.x + W : leftward ? from.x : from.x + W
  const x2 = same || leftward ? to.x + W : to.x
  const y1 = from.y + H / 2, y2 = to.y + H / 2
  const bend = same ? 36 : Math.max(24, Math.abs(x2 - x1) / 2)
  const d = same ? `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 + bend} ${y2} ${x2 + 4} ${y2}` : `M${x1} ${y1}C${x1 + (leftward ? -bend : bend)} ${y1} ${x2 + (leftward ? bend : -bend)} ${y2} ${x2 + (leftward ? 4 : -4)} ${y2}`
  const kind = claim.counts ? claim.stance : 'void'
  return <path class={`edge ${kind ?? ''}`} d={d} marker-end={claim.counts ? (claim.stance === 'attacks' ? 'url(#cross)' : 'url(#head)') : undefined} />
}

function lines(text: string): [string, string] {
  const most = 35
  if (text.length <= most) return [text, '']
  const at = text.lastIndexOf(' ', most)
  const head = text.slice(0, at > 10 ? at : most)
  return [head, cut(text.slice(head.length).trim(), most)]
}
