import { signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { Dialog } from './parts'

interface Shortcut {
  key: string
  does: string
  act: () => void
}

const shortcuts = signal<Shortcut[]>([])
export const helpOpen = signal(false)

/** Shortcuts last as long as what they act on is shown, from its first frame on; the newest wins. */
export function useKeys(keys: Shortcut[], on: unknown[] = []): void {
  useLayoutEffect(() => {
    shortcuts.value = [...shortcuts.peek(), ...keys]
    return () => {
      shortcuts.value = shortcuts.peek().filter((each) => !keys.includes(each))
    }
  }, on)
}

const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

addEventListener('keydown', (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented || typing(event.target)) return
  if (document.querySelector('dialog[open]')) return
  const found = shortcuts.peek().findLast((each) => each.key === event.key)
  if (!found) return
  event.preventDefault()
  found.act()
})

export function Help() {
  if (!helpOpen.value) return null
  const seen = new Map(shortcuts.value.map((each) => [each.key, each.does]))
  return (
    <Dialog title="Keyboard" onClose={() => (helpOpen.value = false)}>
      <dl class="keys">
        {[...seen].map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
