import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { said } from '../api/client'
import { Icon } from './icons'

/** What a screen reader is told when something has happened; never the words of models. */
const spoken = signal('')
export function announce(text: string): void {
  if (spoken.peek() !== text) spoken.value = text
}
export function Announcer() {
  return (
    <div class="unseen" role="status" aria-live="polite">
      {spoken}
    </div>
  )
}

const notice = signal<{ text: string; bad: boolean } | undefined>(undefined)
let fading: ReturnType<typeof setTimeout> | undefined
export function tell(text: string, bad = false): void {
  notice.value = { text, bad }
  clearTimeout(fading)
  if (!bad) fading = setTimeout(() => (notice.value = undefined), 5000)
}
export const untell = (): void => void (notice.value = undefined)
export const tellError = (error: unknown): void => tell(said(error), true)

export function Notice() {
  const now = notice.value
  return (
    <div class="notice-place" role="alert">
      {now && (
        <div class={now.bad ? 'notice bad' : 'notice'}>
          <Icon name={now.bad ? 'warn' : 'check'} />
          <span>{now.text}</span>
          <button class="plain" onClick={() => (notice.value = undefined)} aria-label="Close this note">
            <Icon name="cross" />
          </button>
        </div>
      )}
    </div>
  )
}

export function Dialog(props: { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean }) {
  const ref = useRef<HTMLDialogElement>(null)
  const closed = useRef(false)
  useLayoutEffect(() => {
    ref.current?.showModal()
  }, [])
  // Not left to the browser's `close` event: until that comes, the key that opens the dialog again would have no effect.
  const close = () => {
    if (closed.current) return
    closed.current = true
    ref.current?.close()
    props.onClose()
  }
  return (
    <dialog ref={ref} class={props.wide ? 'wide' : ''} aria-labelledby="dialog-title" onCancel={close} onClose={close}>
      <header>
        <h2 id="dialog-title">{props.title}</h2>
        <button class="plain" onClick={close} aria-label="Close">
          <Icon name="cross" />
        </button>
      </header>
      {props.children}
    </dialog>
  )
}

export function Empty(props: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      {props.children}
    </div>
  )
}

/** HTML that the server has rendered and sanitised. What is too wide for its place can be scrolled with the keyboard. */
export function Prose({ html, text }: { html: string | null | undefined; text: string }) {
  const ref = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    for (const wide of ref.current?.querySelectorAll<HTMLElement>('pre, table') ?? []) wide.tabIndex = 0
  }, [html])
  if (html) return <div ref={ref} class="prose" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
  return <div class="prose as-text" dir="auto">{text}</div>
}

export function Loading({ what = 'Loading' }: { what?: string }) {
  return (
    <p class="loading" role="status">
      {what} …
    </p>
  )
}

export function Failed({ error, again }: { error: string; again?: () => void }) {
  return (
    <div class="problem" role="alert">
      <Icon name="warn" /> <span>{error}</span>
      {again && (
        <button class="small" onClick={again}>
          Try again
        </button>
      )}
    </div>
  )
}
