import { signal } from '@preact/signals'
import { call, whenLoginNeeded } from './api/client'
import type { Me } from './api/generated'
import { go, path } from './router'
import { tellError } from './ui/parts'

export const me = signal<Me | undefined>(undefined)

export const may = (scope: Me['scopes'][number]): boolean => !me.value || me.value.scopes.includes(scope)

export async function whoAmI(): Promise<void> {
  me.value = await call('getSession').catch(() => undefined)
}

export async function logout(): Promise<void> {
  try {
    await call('logout')
    me.value = undefined
    go('/login')
  } catch (error) {
    tellError(error)
  }
}

whenLoginNeeded(() => {
  me.value = undefined
  if (path.peek() !== '/login') go(`/login?next=${encodeURIComponent(location.pathname + location.search)}`)
})
