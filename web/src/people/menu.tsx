import { useEffect, useRef, useState } from 'preact/hooks'
import type { DebateSummary } from '../api/generated'
import { may } from '../session'
import { Icon, type IconName } from '../ui/icons'
import { Dialog } from '../ui/parts'
import { deleteSoon } from './deletion'
import { label, nameOf, tagsIn } from './labels'
import { ShareDialog } from './share'

interface Item { icon: IconName; word: string; act: () => void }

/** What can be done with a debate of a list. `learn` is told what became of it. */
export function DebateMenu({ debate, learn }: { debate: DebateSummary; learn: (now: DebateSummary) => void }) {
  const ref = useRef<HTMLDetailsElement>(null)
  const [open, setOpen] = useState(false)
  const [asking, setAsking] = useState<'labels' | 'share' | undefined>()
  const change = async (changes: Parameters<typeof label>[1], said: string) => {
    const now = await label(debate, changes, said)
    if (now) learn(now)
  }
  const items: Item[] = []
  if (may('run')) {
    items.push({ icon: 'edit', word: 'Rename and tag', act: () => setAsking('labels') })
    items.push({ icon: 'pin', word: debate.pinned ? 'Unpin' : 'Pin', act: () => void change({ pinned: !debate.pinned }, debate.pinned ? 'is no longer pinned' : 'is pinned') })
    items.push({ icon: 'box', word: debate.archived ? 'Back into the list' : 'Archive', act: () => void change({ archived: !debate.archived }, debate.archived ? 'is back in the list' : 'is in the archive') })
  }
  if (may('run')) items.push({ icon: 'share', word: 'Share', act: () => setAsking('share') })
  if (may('admin') && debate.actions.includes('delete')) items.push({ icon: 'bin', word: 'Delete', act: () => deleteSoon(debate) })
  const shut = (): void => {
    if (ref.current) ref.current.open = false
  }
  useEffect(() => {
    if (!open) return
    const outside = (event: Event) => ref.current?.contains(event.target as Node) || shut()
    addEventListener('pointerdown', outside)
    addEventListener('focusin', outside)
    return () => {
      removeEventListener('pointerdown', outside)
      removeEventListener('focusin', outside)
    }
  }, [open])
  if (!items.length) return null
  const escape = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !open) return
    shut()
    ref.current?.querySelector('summary')?.focus()
  }
  return (
    <>
      <details class="menu row-menu" ref={ref} onToggle={(event) => setOpen(event.currentTarget.open)} onKeyDown={escape}>
        <summary class="plain" aria-label={`More for “${nameOf(debate)}”`} title="Rename, pin, tag, archive, share, delete">
          <Icon name="more" />
        </summary>
        <ul>
          {items.map(({ icon, word, act }) => (
            <li key={word}><button class="quiet" onClick={() => (shut(), act())}><Icon name={icon} /> {word}</button></li>
          ))}
        </ul>
      </details>
      {asking === 'labels' && <LabelDialog debate={debate} save={(changes) => void change(changes, 'is saved')} close={() => setAsking(undefined)} />}
      {asking === 'share' && <ShareDialog debate={debate} close={() => setAsking(undefined)} />}
    </>
  )
}

function LabelDialog({ debate, save, close }: { debate: DebateSummary; save: (changes: { title: string; tags: string[] }) => void; close: () => void }) {
  const [title, setTitle] = useState(debate.title)
  const [tags, setTags] = useState(debate.tags.join(', '))
  const send = (event: Event) => {
    event.preventDefault()
    save({ title, tags: tagsIn(tags) })
    close()
  }
  return (
    <Dialog title="Rename and tag" onClose={close}>
      <form class="stacked" onSubmit={send}>
        <label>
          <span>Title</span>
          <input value={title} maxLength={200} placeholder={debate.topic} onInput={(event) => setTitle(event.currentTarget.value)} autofocus dir="auto" />
          <small>Without one, its question is shown.</small>
        </label>
        <label>
          <span>Tags</span>
          <input value={tags} placeholder="infra, q4" onInput={(event) => setTags(event.currentTarget.value)} dir="auto" />
          <small>With commas between them.</small>
        </label>
        <div class="dialog-actions"><button class="primary">Save</button></div>
      </form>
    </Dialog>
  )
}
