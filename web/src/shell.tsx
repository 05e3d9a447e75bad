import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { connection } from './api/stream'
import { go, Link, path } from './router'
import { Undo } from './people/deletion'
import { Palette, paletteOpen } from './people/palette'
import { logout, may, me } from './session'
import { nextTheme, theme } from './theme/theme'
import { Icon } from './ui/icons'
import { Help, helpOpen, useKeys } from './ui/keys'
import { Announcer, Notice, untell } from './ui/parts'
import { waiting } from './ui/waiting'
import { plural } from './ui/words'

const PLACES = [
  ['/', 'Debates'],
  ['/history', 'History'],
  ['/compare', 'Compare'],
  ['/evaluations', 'Evaluations'],
] as const

const THEMES = { auto: 'auto', light: 'sun', dark: 'moon' } as const

export function Shell({ children }: { children: ComponentChildren }) {
  useEffect(() => untell, [path.value]) // what was said on another page
  useKeys([
    { key: '?', does: 'Show these shortcuts', act: () => (helpOpen.value = true) },
    { key: 'n', does: 'New debate', act: () => go('/new') },
    { key: 'l', does: 'List of debates', act: () => go('/') },
    { key: 'h', does: 'History', act: () => go('/history') },
    { key: '/', does: 'Go to the search field', act: () => document.querySelector<HTMLElement>('[type=search]')?.focus() },
    { key: 'Ctrl K', does: 'Go to a page or a debate', act: () => (paletteOpen.value = true) },
    { key: 'd', does: 'Dark, light or as the system says', act: nextTheme },
  ])
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.querySelector('main')?.focus())}>
        Skip to content
      </a>
      <header class="top">
        <Link href="/" class="brand" aria-label="moot, list of debates">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="8" />
            <path d="M7.5 10h11a3.4 3.4 0 0 1 0 6.8H13l-4 3.2v-3.2H7.5z" />
            <path class="line" d="M24.5 14.5v7a2.5 2.5 0 0 1-2.5 2.5h-1.5v2.6L17 24h-4" />
          </svg>
          <span>moot</span>
        </Link>
        <nav aria-label="Main">
          {PLACES.map(([href, word]) => (
            <Link key={href} href={href} class={href === '/evaluations' ? 'wide-only' : undefined} aria-current={path.value.split('/')[1] === href.slice(1) ? 'page' : undefined}>
              {word}
              {href === '/' && waiting.value > 0 && <Waiting />}
            </Link>
          ))}
        </nav>
        <span class="grow" />
        <Lost />
        <button
          class="plain"
          onClick={nextTheme}
          aria-label={`Theme: ${theme.value}. Change it.`}
          title={`Theme: ${theme.value} (d)`}
        >
          <Icon name={THEMES[theme.value]} />
        </button>
        <button class="plain wide-only" onClick={() => (helpOpen.value = true)} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">
          <Icon name="keys" />
        </button>
        {me.value?.token_needed && (
          <button class="plain named" onClick={() => void logout()} title="Log out">
            <span>{me.value.name}</span>
            <Icon name="out" />
            <span class="unseen">Log out</span>
          </button>
        )}
        {may('run') && path.value !== '/login' && (
          <Link href="/new" class="button primary new" aria-label="New debate" title="New debate (n)">
            <Icon name="plus" />
            <span>New debate</span>
          </Link>
        )}
      </header>
      <Announcer />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Notice />
      <Undo />
      <Palette />
      <Help />
    </>
  )
}

function Waiting() {
  return (
    <span class="badge-count" title={`${plural(waiting.value, 'debate')} waiting for you`}>
      {waiting.value}<span class="unseen"> waiting for you</span>
    </span>
  )
}

function Lost() {
  if (connection.value !== 'lost') return null
  return (
    <span class="status warn lost" role="status">
      <Icon name="retry" />
      <span>Reconnecting</span>
    </span>
  )
}
