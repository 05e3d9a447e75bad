import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../api/client'
import { go } from '../router'
import { may } from '../session'
import { nextTheme } from '../theme/theme'
import { Icon, type IconName } from '../ui/icons'
import { Dialog } from '../ui/parts'
import { statusWord } from '../ui/status'
import { ago } from '../ui/words'
import { nameOf } from './labels'

interface Entry { id: string; icon: IconName; word: string; about: string; act: () => void }

const QUIET_MS = 120
const MOST = 8

export const paletteOpen = signal(false)

addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
  event.preventDefault()
  if (!document.querySelector('dialog[open]')) paletteOpen.value = true
})

const PLACES: Array<[IconName, string, string]> = [
  ['plus', 'New debate', '/new'],
  ['list', 'Debates', '/'],
  ['pin', 'Pinned debates', '/?pinned=true'],
  ['box', 'Archive', '/?archived=true'],
  ['search', 'History', '/history'],
  ['compare', 'Compare two debates', '/compare'],
  ['check', 'Evaluations', '/evaluations'],
]

function placesFor(text: string): Entry[] {
  const places = PLACES.filter(([, , to]) => to !== '/new' || may('run')).map(([icon, word, to]): Entry => ({ id: `to-${word}`, icon, word, about: 'page', act: () => go(to) }))
  places.push({ id: 'theme', icon: 'auto', word: 'Dark, light or as the system says', about: 'theme', act: nextTheme })
  return places.filter(({ word }) => text.toLowerCase().split(/\s+/).every((part) => word.toLowerCase().includes(part)))
}

async function debatesFor(q: string): Promise<Entry[]> {
  const found = await call('listDebates', { query: { ...(q && { q }), limit: MOST } })
  return found.items.map((debate) => ({
    id: debate.id,
    icon: 'speak' as const,
    word: nameOf(debate),
    about: `${statusWord(debate)} · ${ago(debate.created_at)}`,
    act: () => go(`/debates/${debate.id}`),
  }))
}

export function Palette() {
  return paletteOpen.value ? <Open close={() => (paletteOpen.value = false)} /> : null
}

function Open({ close }: { close: () => void }) {
  const [text, setText] = useState('')
  const [debates, setDebates] = useState<Entry[]>([])
  const [at, setAt] = useState(0)
  const list = useRef<HTMLUListElement>(null)
  const entries = [...placesFor(text.trim()), ...debates]
  useEffect(() => {
    let over = false
    const timer = setTimeout(() => {
      debatesFor(text.trim()).then((found) => over || setDebates(found), () => over || setDebates([]))
    }, text ? QUIET_MS : 0)
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [text])
  const chosen = entries[Math.min(at, entries.length - 1)]
  useEffect(() => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [chosen?.id])
  const act = (entry: Entry | undefined) => {
    if (!entry) return
    close()
    entry.act()
  }
  const step = (by: number) => setAt((Math.min(at, entries.length - 1) + by + entries.length) % Math.max(1, entries.length))
  const key = (event: KeyboardEvent) => {
    const does = { ArrowDown: () => step(1), ArrowUp: () => step(-1), Enter: () => act(chosen) }[event.key]
    if (!does) return
    event.preventDefault()
    does()
  }
  return (
    <Dialog title="Go to" onClose={close}>
      <input
        class="palette-field" type="text" role="combobox" aria-expanded="true" aria-controls="palette" aria-label="A page, or words of a question or title"
        aria-activedescendant={chosen && `palette-${chosen.id}`} autocomplete="off" spellcheck={false} maxLength={200} placeholder="A page, or words of a question or title"
        value={text} onInput={(event) => (setText(event.currentTarget.value), setAt(0))} onKeyDown={key} autofocus
      />
      <ul class="palette" id="palette" role="listbox" aria-label="Pages and debates" ref={list}>
        {entries.map((entry) => (
          <li key={entry.id} id={`palette-${entry.id}`} role="option" aria-selected={entry === chosen} onClick={() => act(entry)} onMouseMove={() => setAt(entries.indexOf(entry))}>
            <Icon name={entry.icon} /> <span class="palette-word" dir="auto">{entry.word}</span> <span class="dim">{entry.about}</span>
          </li>
        ))}
      </ul>
      {!entries.length && <p class="lead" role="status">Nothing has these words.</p>}
    </Dialog>
  )
}
