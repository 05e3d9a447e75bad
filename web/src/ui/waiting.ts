import { signal } from '@preact/signals'
import { call } from '../api/client'
import { path } from '../router'
import { me } from '../session'

const LOOK_MS = 20_000
const PLACE = 'moot.notify'

/** How many debates wait for a person. */
export const waiting = signal(0)
/** Whether the browser may say so while this page is in the background: only those who ask for it are told. */
export const notifying = signal(localStorage.getItem(PLACE) === 'yes' && 'Notification' in window && Notification.permission === 'granted')

export const canNotify = (): boolean => 'Notification' in window && Notification.permission !== 'denied'

export async function look(): Promise<void> {
  if (path.peek() === '/login' || !me.peek() || document.hidden) return
  const found = await call('listDebates', { query: { status: 'waiting', limit: 100 } }).catch(() => undefined)
  if (found) waiting.value = found.items.length
}

/** A debate has another status than before. */
export function waitingChanged(debate: { topic: string; status: string }): void {
  void look()
  if (debate.status === 'waiting' && notifying.peek() && document.hidden) new Notification('moot waits for you', { body: debate.topic, tag: 'moot' })
}

export async function toggleNotifying(): Promise<void> {
  notifying.value = !notifying.peek() && (await Notification.requestPermission()) === 'granted'
  localStorage.setItem(PLACE, notifying.peek() ? 'yes' : 'no')
}

setInterval(() => void look(), LOOK_MS)
me.subscribe(() => void look())
