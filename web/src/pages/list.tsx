import { type Signal, signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { call, said } from '../api/client'
import type { DebateSummary } from '../api/generated'
import { Stream } from '../api/stream'
import { isOlder } from '../debate/watched'
import { ask, Link, query } from '../router'
import { useLoad } from '../ui/load'
import { Empty, Failed, Loading } from '../ui/parts'
import { Demonstration, progressOf, Status, STATUSES } from '../ui/status'
import { ago, capital, count, exactly, money, short } from '../ui/words'

type Status = DebateSummary['status']

interface Filter {
  status?: Status | undefined
  format?: string | undefined
  q?: string | undefined // characters in the question
  parent?: string | undefined
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
  private readonly told = new Map<string, DebateSummary>() // by the stream
  private abort = new AbortController()
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor() {
    this.stream = new Stream(() => 'newest=true', {
      opened: () => this.error.peek() && void this.more(),
      debate: (debate) => {
        this.told.set(debate.id, debate)
        this.settle()
      },
    })
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
      const page = await call('listDebates', { query: { ...this.filter, cursor: this.next.peek() ?? undefined, limit: PAGE }, signal })
      if (signal.aborted) return
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
    const all = new Map(this.pages.map((each) => [each.id, each]))
    for (const each of this.told.values()) {
      const known = all.get(each.id)
      if (known ? !isOlder(each, known) : each.created_at >= oldest) all.set(each.id, each)
    }
    this.items.value = [...all.values()].filter((each) => this.fits(each)).sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1))
  }

  private fits(debate: DebateSummary): boolean {
    const { status, format, q, parent } = this.filter
    return (
      (!status || debate.status === status) &&
      (!format || debate.format === format) &&
      (!q || debate.topic.toLowerCase().includes(q.toLowerCase())) &&
      (!parent || (debate.parent ?? '').startsWith(parent))
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
  const [debates, setDebates] = useState<Debates>()
  const formats = useLoad(() => call('listFormats'), [])
  useEffect(() => {
    document.title = 'Debates · moot'
    const made = new Debates()
    setDebates(made)
    return () => made.close()
  }, [])
  useEffect(() => debates?.show({ status, format, q, parent }), [debates, status, format, q, parent])
  return (
    <div class="page">
      <div class="page-head">
        <h1>Debates</h1>
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
          <label>
            <span class="unseen">Text in the question</span>
            <input type="search" placeholder="Filter by words of the question" maxLength={200} value={text} onInput={(event) => ask({ q: event.currentTarget.value })} />
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
        </form>
      </div>
      {parent && (
        <p class="lead forks-of">
          Forks of <Link href={`/debates/${parent}`}>{short(parent)}</Link> <button class="small" onClick={() => ask({ parent: '' })}>Show all debates</button>
        </p>
      )}
      {debates && <Rows debates={debates} filtered={Boolean(status || format || q || parent)} />}
    </div>
  )
}

function Rows({ debates, filtered }: { debates: Debates; filtered: boolean }) {
  const [busy, setBusy] = useState(false)
  const shown = debates.items.value
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
        {shown.map((debate) => <li key={debate.id}><Row debate={debate} /></li>)}
      </ul>
      {error ? (
        <Failed error={error} again={() => void more()} />
      ) : next === undefined ? (
        !shown.length && <Loading />
      ) : (
        !shown.length && (
          <Empty title={filtered ? 'No debate fits these filters.' : 'No debates yet.'}>
            {filtered ? <button class="small" onClick={() => ask({ status: '', format: '', q: '', parent: '' })}>Show all</button> : <><p>Models argue a question out under rules; what remains is a decision, and the record of how it came about.</p><Link class="button primary" href="/new">Start the first one</Link></>}
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
        <span class="row-topic" dir="auto" title={debate.topic}>{debate.topic}</span>
        <span class={debate.headline ? 'row-under answered-line' : 'row-under'} dir="auto" title={debate.headline ?? undefined}>
          {debate.headline ?? debate.error?.message ?? (over ? 'No outcome' : capital(progressOf(debate)))}
        </span>
      </span>
      <span class="row-tags">
        <span class="tag format">{debate.format}</span>
        {debate.parent && <span class="tag">fork</span>}
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
