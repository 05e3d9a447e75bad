import { type Signal, signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { call, said } from '../api/client'
import type { DebateSummary } from '../api/generated'
import { Stream } from '../api/stream'
import { isOlder } from '../debate/watched'
import { hidden } from '../people/deletion'
import { nameOf } from '../people/labels'
import { DebateMenu } from '../people/menu'
import { ask, Link, query } from '../router'
import { Icon } from '../ui/icons'
import { useKeys } from '../ui/keys'
import { useLoad } from '../ui/load'
import { Empty, Failed, Loading } from '../ui/parts'
import { Demonstration, progressOf, Status, STATUSES } from '../ui/status'
import { ago, capital, count, exactly, money, short } from '../ui/words'

type Status = DebateSummary['status']

interface Filter {
  status?: Status | undefined
  format?: string | undefined
  q?: string | undefined // characters in the question or title
  parent?: string | undefined
  follows?: string | undefined
  tag?: string | undefined
  pinned?: boolean | undefined
  archived?: boolean | undefined
}

const QUIET_MS = 200 // while someone types
const PAGE = 50

/** Debates as they are now, newest first: pages from the API, kept fresh by the stream. */
class Debates {
  readonly items: Signal<DebateSummary[]> = signal([])
  readonly next: Signal<string | null | undefined> = signal(undefined) // undefined: the first page is on its way
  readonly error = signal('')
  private readonly stream: Stream
  private filter: Filter = {}
  private pages: DebateSummary[] = []
  private pinned: DebateSummary[] = [] // those that fit the filter, however old
  private readonly told = new Map<string, DebateSummary>() // by the stream, or changed here
  private abort = new AbortController()
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor() {
    this.stream = new Stream(() => 'newest=true', {
      opened: () => this.error.peek() && void this.more(),
      debate: (debate) => this.learn(debate),
    })
  }

  learn(debate: DebateSummary): void {
    const known = this.told.get(debate.id)
    if (known && isOlder(debate, known)) return
    this.told.set(debate.id, debate)
    this.settle()
  }

  close(): void {
    clearTimeout(this.timer)
    this.abort.abort()
    this.stream.close()
  }

  show(filter: Filter): void {
    const typed = filter.q !== this.filter.q
    this.filter = filter
    this.abort.abort()
    this.abort = new AbortController()
    this.next.value = undefined
    this.settle()
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void this.more(), typed ? QUIET_MS : 0)
  }

  async more(): Promise<void> {
    const { signal } = this.abort
    const first = !this.next.peek()
    try {
      const [page, pinned] = await Promise.all([
        call('listDebates', { query: { ...this.filter, cursor: this.next.peek() ?? undefined, limit: PAGE }, signal }),
        first && !this.filter.pinned ? call('listDebates', { query: { ...this.filter, pinned: true, limit: PAGE }, signal }) : undefined,
      ])
      if (signal.aborted) return
      if (pinned) this.pinned = pinned.items
      this.error.value = ''
      this.pages = first ? page.items : [...this.pages, ...page.items]
      this.next.value = page.next
      this.settle()
    } catch (error) {
      if (!signal.aborted) this.error.value = said(error)
    }
  }

  /** Of what the stream tells of, only what belongs to the pages that are there: no gap is hidden. */
  private settle(): void {
    const oldest = this.next.peek() ? (this.pages.at(-1)?.created_at ?? 0) : 0
    const all = new Map([...this.pinned, ...this.pages].map((each) => [each.id, each]))
    for (const each of this.told.values()) {
      const known = all.get(each.id)
      if (known ? !isOlder(each, known) : each.pinned || each.created_at >= oldest) all.set(each.id, each)
    }
    this.items.value = [...all.values()].filter((each) => this.fits(each)).sort((a, b) => Number(b.pinned) - Number(a.pinned) || b.created_at - a.created_at || (a.id < b.id ? 1 : -1))
  }

  private fits(debate: DebateSummary): boolean {
    const { status, format, q, parent, follows, tag, pinned, archived } = this.filter
    return (
      (!status || debate.status === status) &&
      (!format || debate.format === format) &&
      (!q || [debate.topic, debate.title].some((each) => each.toLowerCase().includes(q.toLowerCase()))) &&
      (!tag || debate.tags.includes(tag)) &&
      (!pinned || debate.pinned) &&
      debate.archived === Boolean(archived) &&
      (!parent || (debate.parent ?? '').startsWith(parent)) &&
      (!follows || (debate.follows ?? '').startsWith(follows))
    )
  }
}

export function ListPage() {
  const asked = query.value
  const status = (asked.get('status') ?? undefined) as Status | undefined
  const format = asked.get('format') ?? undefined
  const text = asked.get('q') ?? ''
  const q = text.trim() || undefined
  const parent = asked.get('parent') ?? undefined
  const follows = asked.get('follows') ?? undefined
  const tag = asked.get('tag') ?? undefined
  const pinned = asked.has('pinned') || undefined
  const archived = asked.has('archived') || undefined
  const [debates, setDebates] = useState<Debates>()
  const formats = useLoad(() => call('listFormats'), [])
  useEffect(() => {
    document.title = 'Debates · moot'
    const made = new Debates()
    setDebates(made)
    return () => made.close()
  }, [])
  useEffect(() => debates?.show({ status, format, q, parent, follows, tag, pinned, archived }), [debates, status, format, q, parent, follows, tag, pinned, archived])
  useKeys([
    { key: 'j', does: 'Next debate of the list', act: () => step(1) },
    { key: 'k', does: 'Debate before it', act: () => step(-1) },
  ])
  return (
    <div class="page">
      <div class="page-head">
        <h1>Debates</h1>
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
          <label>
            <span class="unseen">Text in the question or title</span>
            <input type="search" placeholder="Filter by words" maxLength={200} value={text} onInput={(event) => ask({ q: event.currentTarget.value })} />
          </label>
          <label>
            <span class="unseen">Status</span>
            <select value={status ?? ''} onChange={(event) => ask({ status: event.currentTarget.value })}>
              <option value="">Any status</option>
              {STATUSES.map((each) => <option key={each} value={each}>{each}</option>)}
            </select>
          </label>
          <label>
            <span class="unseen">Format</span>
            <select value={format ?? ''} onChange={(event) => ask({ format: event.currentTarget.value })}>
              <option value="">Any format</option>
              {(formats.value?.items ?? []).map(({ name }) => <option key={name} value={name} selected={name === format}>{name}</option>)}
            </select>
          </label>
          {debates && <Tags debates={debates} chosen={tag} />}
          <label>
            <span class="unseen">Which debates</span>
            <select value={archived ? 'archived' : pinned ? 'pinned' : ''} onChange={({ currentTarget: { value } }) => ask({ archived: value === 'archived', pinned: value === 'pinned' })}>
              <option value="">Active</option>
              <option value="pinned">Pinned</option>
              <option value="archived">Archived</option>
            </select>
          </label>
        </form>
      </div>
      {parent && (
        <p class="lead forks-of">
          Forks of <Link href={`/debates/${parent}`}>{short(parent)}</Link> <button class="small" onClick={() => ask({ parent: '' })}>Show all debates</button>
        </p>
      )}
      {follows && (
        <p class="lead forks-of">
          Asked after <Link href={`/debates/${follows}`}>{short(follows)}</Link> <button class="small" onClick={() => ask({ follows: '' })}>Show all debates</button>
        </p>
      )}
      {debates && <Rows debates={debates} filtered={Boolean(status || format || q || parent || follows || tag || pinned || archived)} />}
    </div>
  )
}

/** Move the focus along the debates of the list. */
function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('.debates .row')]
  const at = rows.findIndex((row) => row.parentElement?.contains(document.activeElement))
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

function Tags({ debates, chosen }: { debates: Debates; chosen: string | undefined }) {
  const found = new Set(debates.items.value.flatMap((each) => each.tags))
  if (chosen) found.add(chosen)
  if (!found.size) return null
  return (
    <label>
      <span class="unseen">Tag</span>
      <select value={chosen ?? ''} onChange={(event) => ask({ tag: event.currentTarget.value })}>
        <option value="">Any tag</option>
        {[...found].sort().map((each) => <option key={each} value={each} selected={each === chosen}>{each}</option>)}
      </select>
    </label>
  )
}

function Rows({ debates, filtered }: { debates: Debates; filtered: boolean }) {
  const [busy, setBusy] = useState(false)
  const shown = debates.items.value.filter(({ id }) => !hidden.value.has(id))
  const next = debates.next.value
  const error = debates.error.value
  const more = async () => {
    setBusy(true)
    await debates.more()
    setBusy(false)
  }
  return (
    <>
      <ul class="debates">
        {shown.map((debate) => <li key={debate.id}><Row debate={debate} /><DebateMenu debate={debate} learn={(now) => debates.learn(now)} /></li>)}
      </ul>
      {error ? (
        <Failed error={error} again={() => void more()} />
      ) : next === undefined ? (
        !shown.length && <Loading />
      ) : (
        !shown.length && (
          <Empty title={filtered ? 'No debate fits these filters.' : 'No debates yet.'}>
            {filtered ? <button class="small" onClick={() => ask({ status: '', format: '', q: '', parent: '', follows: '', tag: '', pinned: '', archived: '' })}>Show all</button> : <><p>Models argue a question out under rules; what remains is a decision, and the record of how it came about.</p><Link class="button primary" href="/new">Start the first one</Link></>}
          </Empty>
        )
      )}
      {next && !error && <button class="more" disabled={busy} onClick={() => void more()}>Older debates</button>}
    </>
  )
}

export function Row({ debate, to }: { debate: DebateSummary; to?: string }) {
  const over = debate.status === 'completed' || debate.status === 'canceled'
  const share = debate.progress.of ? Math.min(1, debate.progress.done / debate.progress.of) : 0
  return (
    <Link class="row" href={to ?? `/debates/${debate.id}`} data-id={debate.id}>
      <span class="row-status"><Status debate={debate} /></span>
      <span class="row-main">
        <span class="row-topic" dir="auto" title={nameOf(debate)}>{debate.pinned && <><Icon name="pin" filled /><span class="unseen">Pinned: </span></>}{nameOf(debate)}</span>
        <span class={debate.headline ? 'row-under answered-line' : 'row-under'} dir="auto" title={debate.headline ?? undefined}>
          {debate.headline ?? debate.error?.message ?? (over ? 'No outcome' : capital(progressOf(debate)))}
        </span>
      </span>
      <span class="row-tags">
        <span class="tag format">{debate.format}</span>
        {debate.parent && <span class="tag">fork</span>}
        {debate.tags.map((each) => <span key={each} class="tag own">{each}</span>)}
        {debate.demonstration && <Demonstration />}
      </span>
      <span class="row-facts">
        <span class="num">{count(debate.tokens_out)} tokens · {money(debate.cost_usd)}</span>
        <span title={exactly(debate.created_at)}>{ago(debate.created_at)}</span>
      </span>
      {!over && <span class="row-bar" aria-hidden="true"><span style={{ width: `${share * 100}%` }} /></span>}
    </Link>
  )
}
