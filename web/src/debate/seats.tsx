import type { Debate } from '../api/generated'

/** Colour, shape and dash pattern of the n-th debater: no meaning hangs on colour alone. */
export const SHAPES = ['●', '■', '▲', '◆', '★', '⬢', '✚', '▼'] as const
export const DASHES = ['', '7 4', '2 3', '9 3 2 3', '1 4', '12 4', '4 2', '6 2 1 2'] as const

export function seatIndex(debate: Debate, seat: string): number {
  return debate.cast.filter((each) => each.role === 'debater').findIndex((each) => each.id === seat)
}

export const seatClass = (index: number): string => (index < 0 ? 'seat-none' : `seat-${index % 4}`)

export function Mark({ index }: { index: number }) {
  return (
    <span class={`mark ${seatClass(index)}`} aria-hidden="true">
      {index < 0 ? '○' : SHAPES[index % SHAPES.length]}
    </span>
  )
}

const STANCES: Record<string, string> = { pro: 'For', con: 'Against' }

/** What a seat stands for, where the settings say so. */
export function stanceOf(debate: Debate, seat: string): string {
  const { settings } = debate
  const first = settings.a_stance as string | undefined
  if (debate.format === 'classic' && first) {
    const own = seat === 'a' ? first : first === 'pro' ? 'con' : 'pro'
    return STANCES[own] ?? own
  }
  if (debate.format === 'duel' && settings.premise) return seat === 'a' ? 'Upholds the premise' : 'Denies the premise'
  return ''
}
