import { useEffect, useRef, useState } from 'preact/hooks'
import { call, newKey, Refusal, said } from '../api/client'
import type { Estimate, Format, Providers } from '../api/generated'
import { Field, type Form } from '../new/field'
import { changes, type Schema, type Settings } from '../new/schema'
import { ask, go, query } from '../router'
import { useLoad } from '../ui/load'
import { Failed, Loading } from '../ui/parts'
import { count, modelName, money, seconds } from '../ui/words'

// Which settings stand where. What no group names comes under "More"; nothing is left out.
const GROUPS: Array<[title: string, names: string[]]> = [
  ['Models', ['model_debater', 'model_judge', 'jury_models', 'jury', 'swap']],
  ['Limits', ['max_cost_usd', 'max_total_output_tokens', 'max_runtime_seconds', 'debater_max_tokens', 'judge_max_tokens']],
]
const FIRST = ['premise', 'a_stance', 'max_rounds', 'min_rounds', 'turns', 'perspectives', 'members', 'depth', 'checkpoints', 'claims', 'judge_every_round', 'recall_decisions']
const QUIET_MS = 350

export function NewPage() {
  const formats = useLoad(() => call('listFormats'), [])
  const providers = useLoad(() => call('listProviders'), [])
  useEffect(() => {
    document.title = 'New debate · moot'
  }, [])
  if (formats.error) return <div class="page"><Failed error={formats.error} again={formats.again} /></div>
  if (!formats.value) return <div class="page"><Loading /></div>
  return <Editor formats={formats.value.items} providers={providers.value} />
}

function Editor({ formats, providers }: { formats: Format[]; providers: Providers | undefined }) {
  const named = query.value.get('format')
  const format = formats.find((each) => each.name === named) ?? formats.find((each) => each.default) ?? formats[0]!
  const [topic, setTopic] = useState(query.peek().get('topic') ?? '')
  const [settings, setSettings] = useState<Settings>(format.defaults)
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [estimate, setEstimate] = useState<Estimate>()
  const [stale, setStale] = useState(true)
  const [busy, setBusy] = useState(false)
  const key = useRef(newKey())
  const chosen = useRef(format.name)
  if (chosen.current !== format.name) {
    chosen.current = format.name
    setSettings(format.defaults)
  }
  const body = { topic: topic.trim() || 'A question', format: format.name, settings: changes(settings, format.defaults), start: true }
  const asked = JSON.stringify(body)
  // An estimate is made without a question; that it is missing stays said.
  const show = (found: Record<string, string>) => setErrors((old) => (old.topic && !topic.trim() ? { topic: old.topic, ...found } : found))
  useEffect(() => {
    key.current = newKey()
    setStale(true)
    const abort = new AbortController()
    const timer = setTimeout(() => {
      call('estimateDebate', { body, signal: abort.signal }).then(
        (told) => (setEstimate(told), show({}), setStale(false)),
        (error: unknown) => abort.signal.aborted || show(atFields(error)),
      )
    }, QUIET_MS)
    return () => (clearTimeout(timer), abort.abort())
  }, [asked])

  const start = async () => {
    if (!topic.trim()) {
      setErrors({ topic: 'What should be debated?' })
      document.getElementById('topic')?.focus()
      return
    }
    setBusy(true)
    try {
      const debate = await call('createDebate', { body, key: key.current })
      go(`/debates/${debate.id}`)
    } catch (error) {
      setBusy(false)
      const found = atFields(error)
      setErrors(found)
      requestAnimationFrame(() => document.querySelector<HTMLElement>('[aria-invalid=true]')?.focus())
    }
  }
  const schema = format.settings_schema as Schema
  const form: Form = { root: schema, settings, set: setSettings, errors }
  const known = Object.keys(schema.properties ?? {})
  const first = FIRST.filter((name) => known.includes(name))
  const grouped = new Set([...FIRST, ...GROUPS.flatMap(([, names]) => names), 'seats'])
  const more = known.filter((name) => !grouped.has(name))
  const shown = (names: string[]) => names.filter((name) => known.includes(name)).map((name) => <Field key={`${format.name}-${name}`} form={form} schema={schema.properties![name]!} path={[name]} />)
  const failing = (names: string[]) => Object.keys(errors).some((path) => names.includes(path.split('.')[0] ?? ''))
  return (
    <div class="page">
      <div class="page-head"><h1>New debate</h1></div>
      <form class="new-page" noValidate onSubmit={(event) => (event.preventDefault(), void start())}>
        <div class="new-form">
          <div class="field topic">
            <label class="field-name" for="topic">The question</label>
            <textarea id="topic" rows={2} autofocus value={topic} placeholder="Should we use Redis or PostgreSQL for caching?" aria-invalid={errors.topic ? true : undefined} aria-describedby={errors.topic ? 'topic-error' : undefined} onInput={(event) => setTopic(event.currentTarget.value)} />
            {errors.topic && <span class="field-error" id="topic-error">{errors.topic}</span>}
            <div class="examples">
              {format.examples.map((example) => (
                <button key={example.title} type="button" class="small" title={example.topic} onClick={() => (setTopic(example.topic), setSettings({ ...format.defaults, ...example.settings }))}>{example.title}</button>
              ))}
            </div>
          </div>
          <fieldset>
            <legend>Format</legend>
            <div class="formats">
              {formats.map((each) => (
                <label key={each.name}>
                  <input type="radio" name="format" value={each.name} checked={each.name === format.name} onChange={() => ask({ format: each.name })} />
                  <strong>{each.name}</strong>
                  <small>{each.summary}</small>
                </label>
              ))}
            </div>
          </fieldset>
          <fieldset><legend>How it goes</legend><div class="fields">{shown(first)}</div></fieldset>
          {format.perspectives.length > 0 && (
            <details class="group">
              <summary>Perspectives it can choose from</summary>
              <ul class="inside catalog">{format.perspectives.map((each) => <li key={each.name} class="tag" title={`${each.priorities.join(', ')}. ${each.trade_offs}`}>{each.name}</li>)}</ul>
            </details>
          )}
          {GROUPS.map(([title, names]) => (
            <details key={title} class="group" open={failing(title === 'Models' ? [...names, 'seats'] : names) || undefined}>
              <summary>{title}</summary>
              <div class="fields">
                {shown(names)}
                {title === 'Models' && <Seats form={form} format={format} />}
              </div>
            </details>
          ))}
          {more.length > 0 && <details class="group" open={failing(more) || undefined}><summary>More</summary><div class="fields">{shown(more)}</div></details>}
        </div>
        <EstimateCard estimate={estimate} stale={stale} errors={errors} busy={busy} />
      </form>
      <datalist id="models">{(providers?.items ?? []).filter((each) => each.usable).map((each) => <option key={each.name} value={each.example}>{each.about}</option>)}</datalist>
    </div>
  )
}

/** A model of its own for each seat. */
function Seats({ form, format }: { form: Form; format: Format }) {
  const seats = (form.settings.seats ?? {}) as Record<string, { model?: string | null }>
  return (
    <>
      {format.parts.map((part) => (
        <div key={part.id} class="field">
          <label class="field-name" for={`seat-${part.id}`}>Model of {part.name}</label>
          <input id={`seat-${part.id}`} list="models" placeholder="as above" value={seats[part.id]?.model ?? ''} aria-invalid={form.errors[`seats.${part.id}.model`] ? true : undefined}
            onInput={(event) => {
              const { [part.id]: own, ...rest } = seats
              const model = event.currentTarget.value
              form.set({ ...form.settings, seats: model ? { ...rest, [part.id]: { ...own, model } } : rest })
            }} />
        </div>
      ))}
    </>
  )
}

function EstimateCard({ estimate, stale, errors, busy }: { estimate: Estimate | undefined; stale: boolean; errors: Record<string, string>; busy: boolean }) {
  const general = errors['']
  const models = [...new Set((estimate?.cast ?? []).map((seat) => modelName(seat.model)))]
  return (
    <aside class="card estimate" aria-label="Estimate">
      <h2>At full length, about</h2>
      {estimate ? (
        <div class={stale ? 'stale' : ''}>
          <p class="price">{estimate.full_length.cost_usd === null ? 'price unknown' : money(estimate.full_length.cost_usd)}</p>
          <dl class="facts">
            <div><dt>Calls</dt><dd>{count(estimate.full_length.calls)}</dd></div>
            <div><dt>Tokens read</dt><dd>{count(estimate.full_length.tokens_in)}</dd></div>
            <div><dt>Tokens written</dt><dd>{count(estimate.full_length.tokens_out)}</dd></div>
            <div><dt>Never more than</dt><dd>{count(estimate.limits.tokens_out)} tokens, {seconds(estimate.limits.runtime_seconds)}{estimate.limits.cost_usd !== null ? `, ${money(estimate.limits.cost_usd)}` : ''}</dd></div>
            <div><dt>Models</dt><dd>{models.join(', ')}</dd></div>
          </dl>
        </div>
      ) : <p class="dim">Working it out …</p>}
      {general && <Failed error={general} />}
      <button class="primary" disabled={busy}>{busy ? 'Starting …' : 'Start the debate'}</button>
      {estimate && <ul class="notes">{estimate.notes.map((note) => <li key={note}>{note}</li>)}</ul>}
    </aside>
  )
}

/** Where each problem belongs: the field that the server names, or nowhere in particular. */
function atFields(error: unknown): Record<string, string> {
  if (!(error instanceof Refusal)) return { '': said(error) }
  const listed = error.problem.errors ?? []
  const found: Record<string, string> = {}
  for (const { where, message } of listed) found[where.replace(/^body\./, '').replace(/^settings\./, '')] = message
  const named = /^Setting ([\w.]+): ([\s\S]*)$/.exec(error.message)
  if (named) found[named[1] ?? ''] = named[2] ?? ''
  if (error.slug === 'unknown-model' && !named) found.model_debater ??= error.message
  return Object.keys(found).length ? found : { '': error.message }
}
