import { signal } from '@preact/signals'

export type Theme = 'auto' | 'light' | 'dark'
const ORDER: Theme[] = ['auto', 'light', 'dark']

function stored(): Theme {
  const value = localStorage.getItem('moot.theme')
  return value === 'dark' || value === 'light' ? value : 'auto'
}

export const theme = signal<Theme>(stored())

export function nextTheme(): void {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] ?? 'auto'
  if (theme.value === 'auto') {
    localStorage.removeItem('moot.theme')
    delete document.documentElement.dataset.theme
  } else {
    localStorage.setItem('moot.theme', theme.value)
    document.documentElement.dataset.theme = theme.value
  }
}
