import type { Debate } from '../api/generated'

/** Colour, shape and dash pattern of the n-th voice: no meaning hangs on colour alone. */
export const SHAPES = ['●', '■', '▲', '◆', '★', '⬢', '✚', '▼'] as const
export const DASHES = ['', '7 4', '2 3', '9 3 2 3', '1 4', '12 4', '4 2', '6 2 1 2'] as const

/** The place of a seat among those with a voice; -1: it has none. */
export function seatIndex(debate: Debate, seat: string): number {
  return debate.seats.filter((each) => each.voice).findIndex((each) => each.id === seat)
}

export const seatClass = (index: number): string => (index < 0 ? 'seat-none' : `seat-${index % 4}`)

/** A name with what its seat stands for: "Debater A (Redis)". */
export const sideName = (name: string, stance: string | undefined): string => (stance ? `${name} (${stance})` : name)

/** The stance of a seat with a voice. */
export const stanceOf = (seats: ReadonlyArray<{ id: string; voice?: boolean; stance?: string }>, seat: string): string | undefined =>
  seats.find((each) => each.id === seat && each.voice)?.stance

export function Mark({ index }: { index: number }) {
  return (
    <span class={`mark ${seatClass(index)}`} aria-hidden="true">
      {index < 0 ? '○' : SHAPES[index % SHAPES.length]}
    </span>
  )
}
