import { signal } from '@preact/signals'

export type Mode = 'reading' | 'lanes'

const PLACE = 'moot.mode'
const MANY_VOICES = 4
const enough = matchMedia('(min-width: 1000px)')
const wide = signal(enough.matches)
const chosen = signal(localStorage.getItem(PLACE) as Mode | null)
enough.addEventListener('change', () => (wide.value = enough.matches))

/** Lanes stand side by side where there is width for them; otherwise everything is one column. */
export function modeOf(voices: number): Mode {
  if (!wide.value) return 'reading'
  return chosen.value ?? (voices >= MANY_VOICES ? 'reading' : 'lanes')
}

export function setMode(mode: Mode): void {
  chosen.value = mode
  localStorage.setItem(PLACE, mode)
}
