import type { OutcomeCheck } from '../api/generated'

const MARKS = { passed: '✓', failed: '✗', open: '–' } as const
const WORDS = { passed: 'Holds', failed: 'Doubtful', open: 'Not checked' } as const

const stateOf = ({ passed }: OutcomeCheck) => (passed === null ? 'open' : passed ? 'passed' : 'failed')

/** What code has checked about the verdict: what failed first. Marks and words, so that nothing hangs on colour. */
export function Checks({ checks }: { checks: readonly OutcomeCheck[] | undefined }) {
  if (!checks?.length) return null
  const sorted = (['failed', 'passed', 'open'] as const).flatMap((state) => checks.filter((check) => stateOf(check) === state))
  return (
    <ul class="checks" aria-label="What was checked about the verdict">
      {sorted.map((check) => {
        const state = stateOf(check)
        return (
          <li key={check.name} class={state}>
            <span class="check-mark" aria-hidden="true">{MARKS[state]}</span> <span class={state === 'failed' ? 'check-word' : 'unseen'}>{WORDS[state]}:</span> {check.words}
          </li>
        )
      })}
    </ul>
  )
}
