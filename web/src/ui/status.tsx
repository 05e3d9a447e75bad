import type { DebateSummary } from '../api/generated'
import { Icon, type IconName } from './icons'

type Look = [icon: IconName, word: string, tone: string]

const LOOKS: Record<DebateSummary['status'], Look> = {
  pending: ['clock', 'Pending', 'quiet'],
  running: ['play', 'Running', 'live'],
  waiting: ['hand', 'Waiting for you', 'ask'],
  stopping: ['pause', 'Stopping', 'warn'],
  stopped: ['pause', 'Stopped', 'warn'],
  failed: ['warn', 'Failed', 'bad'],
  completed: ['check', 'Completed', 'good'],
  canceled: ['cross', 'Canceled', 'quiet'],
}

export const STATUSES = Object.keys(LOOKS) as DebateSummary['status'][]

export function statusWord(debate: Pick<DebateSummary, 'status' | 'interrupted'>): string {
  return debate.interrupted ? 'Interrupted' : LOOKS[debate.status][1]
}

export function Status({ debate }: { debate: Pick<DebateSummary, 'status' | 'interrupted'> }) {
  const [icon, word, tone] = debate.interrupted ? (['warn', 'Interrupted', 'warn'] as Look) : LOOKS[debate.status]
  return (
    <span class={`status ${tone}`} data-status={debate.status}>
      <Icon name={icon} filled={icon === 'play'} />
      {word}
    </span>
  )
}

export function Demonstration() {
  return (
    <span class="tag" title="A simulated or very small model takes part: what it decides means nothing.">
      Demonstration
    </span>
  )
}

export function progressOf({ progress }: DebateSummary): string {
  const { done, of, unit } = progress
  return of === null ? `${unit} ${done}` : `${unit} ${Math.min(done, of)} of ${of}`
}
