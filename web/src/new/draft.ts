import type { Settings } from './schema'

const PLACE = 'moot.draft'

/** A question that is being written, kept in this browser until it is asked. */
export interface Draft {
  topic: string
  format: string
  effort: string
  model: string
  withMe: boolean | null // null: as the format does it by itself
  settings: Record<string, Settings> // by format: what differs from its defaults
}

export const BLANK: Draft = { topic: '', format: '', effort: '', model: '', withMe: null, settings: {} }

export function kept(): Draft {
  try {
    return { ...BLANK, ...(JSON.parse(localStorage.getItem(PLACE) ?? '{}') as Partial<Draft>) }
  } catch {
    return BLANK
  }
}

export function keep(draft: Draft): void {
  localStorage.setItem(PLACE, JSON.stringify(draft))
}

export const forget = (): void => localStorage.removeItem(PLACE)
