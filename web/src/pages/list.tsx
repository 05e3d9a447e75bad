import { type Signal, signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { call, said } from '../api/client'
import type { DebateSummary } from '../api/generated'
import { Stream } from '../api/stream'
import { ask, Link, query } from '../router'
import { useLoad } from '../ui/load'
import { Empty, Failed, Loading } from '../ui/parts'
import { Demonstration, progressOf, Status, STATUSES } from '../ui/status'
import { ago, count, exactly, money } from '../ui/words'

type Status = DebateSummary['status']

/** Debates as they are now, newest first: pages from the API, kept fresh by the stream. */
class Debates {
  readonly items: Signal<DebateSummary[]> = signal([])
  readonly next: Signal<string | null | undefined> = signal(undefined)
  readonly error = signal('')
  private readonly stream: Stream

  constructor(
    private readonly status: Status | undefined,
    private readonly format: string | undefined,
  ) {
    void this.more()
    this.stream = new Stream(() => 'newest=true', { debate: (debate) => this.changed(debate) })
  }

  close(): void {
    this.stream.close()
  }

  async more(): Promise<void> {
    try {
      const page = await call('listDebates', { query: { status: this.status ?? null, format: this.format ?? null, cursor: this.next.peek() ?? null, limit: 50 } })
      this.error.value = ''
      this.next.value = page.next
      this.put(page.items)
    } catch (error) {
      this.error.value = said(error)
    }
  }

  private changed(debate: DebateSummary): void {
    const fits = (!this.status || debate.status === this.status) && (!this.format || debate.format === this.format)
    const known = this.items.peek().some((each) => each.id === debate.id)
    if (fits) this.put([debate])
    else if (known) this.items.value = this.items.peek().filter((each) => each.id !== debate.id)
  }

  private put(debates: DebateSummary[]): void {
    const all = new Map(this.items.peek().map((each) => [each.id, each]))
    for (const each of debates) all.set(each.id, each)
    this.items.value = [...all.values()].sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1))
  }
}

export function ListPage() {
  const status = (query.value.get('status') ?? undefined) as Status | undefined
  const format = query.value.get('format') ?? undefined
  const text = query.value.get('text') ?? ''
  const [debates, setDebates] = useState<Debates>()
  const formats = useLoad(() => call('listFormats'), [])
  useEffect(() => {
    document.title = 'Debates · moot'
    const made = new Debates(status, format)
    setDebates(made)
    return () => made.close()
  }, [status, format])
  return (
    <div class="page">
      <div class="page-head">
        <h1>Debates</h1>
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
          <label>
            <span class="unseen">Text in the question or outcome</span>
            <input type="search" placeholder="Filter by text" value={text} onInput={(event) => ask({ text: event.currentTarget.value })} />
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
              {(formats.value?.items ?? []).map(({ name }) => <option key={name} value={name}>{name}</option>)}
            </select>
          </label>
        </form>
      </div>
      {debates && <Rows debates={debates} text={text} filtered={Boolean(status || format || text)} />}
    </div>
  )
}

function Rows({ debates, text, filtered }: { debates: Debates; text: string; filtered: boolean }) {
  const [busy, setBusy] = useState(false)
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const shown = debates.items.value.filter((each) => {
    const about = `${each.topic} ${each.headline ?? ''} ${each.id}`.toLowerCase()
    return words.every((word) => about.includes(word))
  })
  const next = debates.next.value
  const more = async () => {
    setBusy(true)
    await debates.more()
    setBusy(false)
  }
  if (debates.error.value) return <Failed error={debates.error.value} again={() => void more()} />
  if (next === undefined && !shown.length) return <Loading />
  return (
    <>
      <ul class="debates">
        {shown.map((debate) => <li key={debate.id}><Row debate={debate} /></li>)}
      </ul>
      {!shown.length && (
        <Empty title={filtered ? 'No debate fits these filters.' : 'No debates yet.'}>
          {filtered ? <button class="small" onClick={() => ask({ status: '', format: '', text: '' })}>Show all</button> : <Link class="button primary" href="/new">Start the first one</Link>}
        </Empty>
      )}
      {next && <button class="more" disabled={busy} onClick={() => void more()}>{text ? 'Look through older debates' : 'Older debates'}</button>}
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
        <span class="row-topic">{debate.topic}</span>
        <span class="row-under">
          {debate.headline ?? debate.error?.message ?? (over ? 'No outcome' : progressOf(debate))}
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
