import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { call } from '../api/client'
import type { DebateSummary } from '../api/generated'
import { Icon } from '../ui/icons'
import { tellError } from '../ui/parts'
import { cut, plural } from '../ui/words'
import { nameOf } from './labels'

const UNDO_MS = 8000

/** Debates that are about to be deleted. Nothing is sent before the time is over, so a page that is closed has deleted
 * nothing. */
const going = signal<DebateSummary[]>([])
const gone = signal<ReadonlySet<string>>(new Set())
let timer: ReturnType<typeof setTimeout> | undefined

/** Ids that lists leave out. */
export const hidden = computed(() => new Set([...gone.value, ...going.value.map(({ id }) => id)]))

export function deleteSoon(debate: DebateSummary): void {
  going.value = [...going.peek().filter(({ id }) => id !== debate.id), debate]
  wait()
}

function wait(): void {
  clearTimeout(timer)
  timer = setTimeout(() => void send(), UNDO_MS)
}

function undo(): void {
  clearTimeout(timer)
  going.value = []
}

async function send(): Promise<void> {
  clearTimeout(timer)
  const all = going.peek()
  gone.value = new Set([...gone.peek(), ...all.map(({ id }) => id)])
  going.value = []
  for (const { id } of all)
    await call('deleteDebate', { params: { debate_id: id } }).catch((error: unknown) => {
      gone.value = new Set([...gone.peek()].filter((each) => each !== id))
      tellError(error)
    })
}

export function Undo() {
  const all = going.value
  useEffect(() => {
    if (!all.length) return
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'z' || !(event.ctrlKey || event.metaKey) || event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return
      event.preventDefault()
      undo()
    }
    addEventListener('keydown', key)
    return () => removeEventListener('keydown', key)
  }, [all.length])
  return (
    <div class="undo-place" role="status">
      {all.length > 0 && (
        <div class="notice" onMouseEnter={() => clearTimeout(timer)} onMouseLeave={wait} onFocusCapture={() => clearTimeout(timer)} onBlurCapture={wait}>
          <Icon name="bin" />
          <span>{all.length === 1 && all[0] ? `“${cut(nameOf(all[0]), 60)}” will be deleted.` : `${plural(all.length, 'debate')} will be deleted.`}</span>
          <button class="small" onClick={undo}>Undo</button>
          <button class="plain" onClick={() => void send()} aria-label="Delete now" title="Delete now"><Icon name="cross" /></button>
        </div>
      )}
    </div>
  )
}
