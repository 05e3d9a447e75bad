import { signal } from '@preact/signals'

const PLACE = 'moot.folds'
const MOST = 500

interface Folds {
  thoughts: boolean // whether what is not public is open by default
  open: Record<string, boolean>
}

function stored(): Folds {
  try {
    const found = JSON.parse(localStorage.getItem(PLACE) ?? '') as Partial<Folds>
    return { thoughts: found.thoughts ?? false, open: found.open ?? {} }
  } catch {
    return { thoughts: false, open: {} }
  }
}

/** What is folded, remembered in this browser. */
export const folds = signal<Folds>(stored())

function keep(next: Folds): void {
  const newest = Object.entries(next.open).slice(-MOST)
  folds.value = { ...next, open: Object.fromEntries(newest) }
  localStorage.setItem(PLACE, JSON.stringify(folds.value))
}

export const isOpen = (name: string, otherwise: boolean): boolean => folds.value.open[name] ?? otherwise

/** By a click or a key on its summary. Kept at once: the toggle event comes later, and a page that is left before it forgets. */
export function foldAt(event: MouseEvent & { currentTarget: HTMLElement }, name: string): void {
  const details = event.currentTarget.parentElement as HTMLDetailsElement
  event.preventDefault()
  details.open = !details.open
  const now = stored() // another window may have changed it
  const { [name]: _, ...rest } = now.open
  keep({ ...now, open: { ...rest, [name]: details.open } })
}

/** All thoughts at once; what was opened or closed one by one is forgotten. */
export function toggleThoughts(): void {
  keep({ thoughts: !folds.peek().thoughts, open: {} })
}
