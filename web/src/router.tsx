import { computed, signal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'

const here = signal(location.pathname + location.search + location.hash)
export const path = computed(() => new URL(here.value, location.origin).pathname)
export const query = computed(() => new URL(here.value, location.origin).searchParams)
export const hash = computed(() => decoded(new URL(here.value, location.origin).hash.slice(1)))

/** A part of an address in plain characters; one that is no valid encoding stays as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function go(to: string, { replace = false } = {}): void {
  if (to === here.value) return
  const before = path.value
  history[replace ? 'replaceState' : 'pushState'](null, '', to)
  here.value = to
  if (path.value !== before) {
    scrollTo(0, 0)
    // A screen reader hears of the new page when what it is about gets the focus.
    requestAnimationFrame(() => {
      const main = document.querySelector<HTMLElement>('main')
      if (!main?.contains(document.activeElement)) main?.focus({ preventScroll: true })
    })
  }
}

/** Change what the query says and keep the rest; nothing and false are left out. */
export function ask(changes: Record<string, string | boolean | undefined>, { replace = true } = {}): void {
  const params = new URLSearchParams(query.peek())
  for (const [name, value] of Object.entries(changes)) {
    if (value) params.set(name, String(value))
    else params.delete(name)
  }
  const search = params.toString()
  go(path.peek() + (search ? `?${search}` : ''), { replace })
}

addEventListener('popstate', () => {
  here.value = location.pathname + location.search + location.hash
})
addEventListener('hashchange', () => {
  here.value = location.pathname + location.search + location.hash
})

export function match(pattern: string, at: string): Record<string, string> | undefined {
  const names: string[] = []
  const source = pattern.replaceAll(/:(\w+)/g, (_, name: string) => (names.push(name), '([^/]+)'))
  const found = new RegExp(`^${source}/?$`).exec(at)
  return found ? Object.fromEntries(names.map((name, i) => [name, decoded(found[i + 1] ?? '')])) : undefined
}

type LinkProps = JSX.IntrinsicElements['a'] & { href: string; children?: ComponentChildren }

export function Link({ href, onClick, ...rest }: LinkProps) {
  return (
    <a
      href={href}
      onClick={(event) => {
        onClick?.(event)
        if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        go(href)
      }}
      {...rest}
    />
  )
}
