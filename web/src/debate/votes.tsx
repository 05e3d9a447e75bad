import type { Debate, Outcome } from '../api/generated'
import { plural } from '../ui/words'
import { sideName, stanceOf } from './seats'

type Poll = Outcome['polls'][number]

/** "5 to 1, 1 for neither": the winner's votes first. Empty where nothing was counted. */
export function tallyOf({ tally, winner }: Outcome): string {
  if (!tally) return ''
  const { tie = 0, abstains = 0, ...seats } = tally
  const sides = Object.entries(seats).sort(([one, a], [two, b]) => (two === winner ? 1 : 0) - (one === winner ? 1 : 0) || b - a).map(([, votes]) => votes)
  if (!sides.length) return ''
  return [`${sides.join(' to ')}`, tie ? `${tie} for neither` : '', abstains ? `${abstains} invalid` : ''].filter(Boolean).join(', ')
}

/** Readings in both orders: each voter who read twice, and whether the choice changed. */
function readTwice(outcome: Outcome): boolean[] {
  const choice = new Map(outcome.votes.map((vote) => [vote.key ?? '', vote.choice]))
  return (outcome.polls.at(-1)?.ballots ?? []).flatMap(({ keys = [] }) => {
    const given = keys.map((key) => choice.get(key))
    return given.length > 1 && given.every(Boolean) ? [new Set(given).size > 1] : []
  })
}

/** "0 of 3 flipped". */
export function flipsOf(outcome: Outcome): string {
  if (outcome.flip_rate === null) return ''
  const twice = readTwice(outcome)
  if (twice.length) return `${twice.filter(Boolean).length} of ${twice.length} flipped`
  return outcome.flip_rate ? 'flips with the order' : 'the same in both orders'
}

/** Every vote: who, in which order, for what. */
export function Votes({ debate, outcome }: { debate: Debate; outcome: Outcome }) {
  const poll = outcome.polls.findLast((each) => each.decides) ?? outcome.polls.at(-1)
  if (!poll || poll.ballots.length < 2) return null
  const choices = new Map(outcome.votes.map((vote) => [vote.key ?? '', vote.choice]))
  const orders = Math.max(...poll.ballots.map(({ keys = [] }) => keys.filter((key) => choices.has(key)).length))
  return (
    <details class="votes">
      <summary>{plural(poll.ballots.length, 'ballot')}{orders > 1 ? ', read in both orders' : ''}</summary>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Ballots">
        {orders > 1 ? <Orders debate={debate} poll={poll} choices={choices} outcome={outcome} /> : <Ranked debate={debate} poll={poll} outcome={outcome} />}
      </div>
    </details>
  )
}

function nameOf(debate: Debate, outcome: Outcome, seat: string): string {
  return outcome.names[seat] ?? debate.seats.find((each) => each.id === seat)?.name ?? seat
}

function choiceName(debate: Debate, outcome: Outcome, choice: string | undefined): string {
  if (choice === 'tie') return 'neither'
  if (!choice || choice === 'abstains') return 'no valid vote'
  return stanceOf(debate.seats, choice) || nameOf(debate, outcome, choice)
}

function Orders({ debate, poll, choices, outcome }: { debate: Debate; poll: Poll; choices: Map<string, string>; outcome: Outcome }) {
  return (
    <table class="matrix">
      <thead><tr><th>Who</th><th>First order</th><th>Other order</th><th>Counts</th></tr></thead>
      <tbody>
        {poll.ballots.map(({ voter, keys = [], ranking = [] }) => {
          const given = keys.map((key) => choices.get(key)).filter(Boolean)
          const flipped = new Set(given).size > 1
          const counted = ranking.length ? choiceName(debate, outcome, poll.candidates.find((each) => each.id === ranking[0])?.author || ranking[0]) : flipped ? 'neither' : 'no valid vote'
          return (
            <tr key={voter} class={flipped ? 'flipped' : ''}>
              <th scope="row">{nameOf(debate, outcome, voter)}</th>
              {[0, 1].map((at) => <td key={at}>{at < given.length ? <a href={`#${encodeURIComponent(keys[at] ?? '')}`}>{choiceName(debate, outcome, given[at])}</a> : '–'}</td>)}
              <td>{flipped ? <span class="tag bad">flipped: {counted}</span> : counted}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

/** Each ballot, best first. */
function Ranked({ debate, poll, outcome }: { debate: Debate; poll: Poll; outcome: Outcome }) {
  const title = (id: string) => {
    const candidate = poll.candidates.find((each) => each.id === id)
    const stance = stanceOf(debate.seats, candidate?.author || id)
    return candidate?.title || sideName(nameOf(debate, outcome, candidate?.author || id), stance)
  }
  const most = Math.max(1, ...poll.ballots.map(({ ranking = [] }) => ranking.length))
  return (
    <table class="matrix">
      <thead><tr><th>Who</th>{Array.from({ length: most }, (_, at) => <th key={at}>{most === 1 ? 'Vote' : at + 1}</th>)}</tr></thead>
      <tbody>
        {poll.ballots.map(({ voter, ranking = [], reason }) => (
          <tr key={voter}>
            <th scope="row">{nameOf(debate, outcome, voter)}</th>
            {ranking.length ? Array.from({ length: most }, (_, at) => <td key={at}>{ranking[at] ? title(ranking[at]) : ''}</td>) : <td colSpan={most}>no valid vote{reason ? `: ${reason}` : ''}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
