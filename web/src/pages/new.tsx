import { useEffect, useRef, useState } from 'preact/hooks'
import { call, newKey, Refusal, said } from '../api/client'
import type { Estimate, Format, FormatProblem, Providers } from '../api/generated'
import { Field, type Form } from '../new/field'
import { changes, resolved, type Schema, type Settings } from '../new/schema'
import { ask, go, query } from '../router'
import { useLoad } from '../ui/load'
import { Failed, Loading } from '../ui/parts'
import { count, modelName, money, seconds } from '../ui/words'

// Which settings stand where, by their names. What no group takes stands first, or under "More"; nothing is left out.
const GROUPS: Array<[title: string, takes: RegExp]> = [
  ['Models', /^model_|_models$|^sampling$|^temperature/],
  ['Limits', /_(tokens|seconds|usd)(_|$)|^token_/],
]
const QUIET_MS = 350
const AUTO = 'auto'
const EFFORTS: Array<[name: string, words: string]> = [
  ['', 'as usual'],
  ['quick', 'quick: the fewest calls'],
  ['standard', 'standard'],
  ['thorough', 'thorough: more rounds, and the verdict is checked'],
]

/** Own settings of the format before those that others have, too. */
function ordered(format: Format, formats: Format[]): string[] {
  const names = (each: Format) => Object.keys((each.settings_schema as Schema).properties ?? {})
  const shared = (name: string) => formats.filter((each) => names(each).includes(name)).length
  const rank = (name: string) => (name === format.length ? 0 : shared(name))
  return names(format).filter((name) => name !== 'seats').sort((one, two) => rank(one) - rank(two))
}

const isSimple = (schema: Schema, root: Schema): boolean => !['array', 'object'].includes(resolved(schema, root).schema.type ?? '')

export function NewPage() {
  const formats = useLoad(() => call('listFormats'), [])
  const providers = useLoad(() => call('listProviders'), [])
  useEffect(() => {
    document.title = 'New debate · moot'
  }, [])
  if (formats.error) return <div class="page"><Failed error={formats.error} again={formats.again} /></div>
  if (!formats.value) return <div class="page"><Loading /></div>
  return <Editor formats={formats.value.items} problems={formats.value.problems} providers={providers.value} />
}

function Editor({ formats, problems, providers }: { formats: Format[]; problems: FormatProblem[]; providers: Providers | undefined }) {
  const named = query.value.get('format') ?? formats.find((each) => each.default)?.name ?? AUTO
  const chosenByName = formats.find((each) => each.name === named)
  const format = chosenByName ?? formats[0]!
  const auto = !chosenByName
  const [effort, setEffort] = useState('')
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
  const body = {
    topic: topic.trim() || 'A question',
    format: auto ? AUTO : format.name,
    settings: auto ? {} : changes(settings, format.defaults),
    start: true,
    ...(effort ? { effort: effort as 'quick' | 'standard' | 'thorough' } : {}),
  }
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
  const known = ordered(format, formats)
  const groups = GROUPS.map(([title, takes]) => [title, known.filter((name) => takes.test(name))] as const)
  const grouped = new Set(groups.flatMap(([, names]) => names))
  const first = known.filter((name) => !grouped.has(name) && isSimple(schema.properties![name]!, schema))
  const more = known.filter((name) => !grouped.has(name) && !first.includes(name))
  const shown = (names: string[]) => names.map((name) => <Field key={`${format.name}-${name}`} form={form} schema={schema.properties![name]!} path={[name]} />)
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
              {auto
                ? formats.flatMap((each) => each.examples.slice(0, 1)).map((example) => (
                    <button key={example.title} type="button" class="small" title={example.topic} onClick={() => setTopic(example.topic)}>{example.title}</button>
                  ))
                : format.examples.map((example) => (
                    <button key={example.title} type="button" class="small" title={example.topic} onClick={() => (setTopic(example.topic), setSettings({ ...format.defaults, ...example.settings }))}>{example.title}</button>
                  ))}
            </div>
          </div>
          <fieldset>
            <legend>Format</legend>
            <div class="formats">
              <label>
                <input type="radio" name="format" value={AUTO} checked={auto} onChange={() => ask({ format: AUTO })} />
                <strong>Let moot choose</strong>
                <small>{auto && topic.trim() && estimate && !stale ? estimate.chosen[0] ?? '' : 'By how it is asked.'}</small>
              </label>
              {formats.map((each) => (
                <label key={each.name}>
                  <input type="radio" name="format" value={each.name} checked={!auto && each.name === format.name} onChange={() => ask({ format: each.name })} />
                  <strong>{each.purpose}</strong>
                  <small><span class="tag format">{each.name}</span> {each.summary}</small>
                </label>
              ))}
            </div>
            {problems.map(({ name, problem }) => <p key={name} class="problem">The format {name} can’t be used. {problem}</p>)}
          </fieldset>
          <fieldset>
            <legend>How it goes</legend>
            <div class="fields">
              <div class="field">
                <label class="field-name" for="effort">Effort</label>
                <select id="effort" value={effort} onChange={(event) => setEffort(event.currentTarget.value)}>
                  {EFFORTS.map(([name, words]) => <option key={name} value={name}>{words}</option>)}
                </select>
              </div>
              {!auto && shown(first)}
            </div>
            {auto && <p class="dim">Choose a format to change its settings.</p>}
          </fieldset>
          {!auto && format.catalog.length > 0 && (
            <details class="group">
              <summary>What it chooses from</summary>
              <dl class="inside catalog">{format.catalog.map((each) => <div key={each.name}><dt>{each.name}</dt><dd>{each.about}</dd></div>)}</dl>
            </details>
          )}
          {!auto && groups.map(([title, names]) => (
            <details key={title} class="group" open={failing(title === 'Models' ? [...names, 'seats'] : names) || undefined}>
              <summary>{title}</summary>
              <div class="fields">
                {shown(names)}
                {title === 'Models' && <Seats form={form} format={format} />}
              </div>
            </details>
          ))}
          {!auto && more.length > 0 && <details class="group" open={failing(more) || undefined}><summary>More</summary><div class="fields">{shown(more)}</div></details>}
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
  const models = [...new Set((estimate?.seats ?? []).map((seat) => modelName(seat.model)))]
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
            <div><dt>Format</dt><dd>{estimate.format}</dd></div>
            <div><dt>Models</dt><dd>{models.join(', ')}</dd></div>
          </dl>
        </div>
      ) : <p class="dim">Working it out …</p>}
      {general && <Failed error={general} />}
      <button class="primary" disabled={busy}>{busy ? 'Starting …' : 'Start the debate'}</button>
      {estimate && <ul class="notes">{[...estimate.chosen, ...estimate.notes].map((note) => <li key={note}>{note}</li>)}</ul>}
    </aside>
  )
}

/** Where each problem belongs: the field that the server names, or nowhere in particular. */
function atFields(error: unknown): Record<string, string> {
  if (!(error instanceof Refusal)) return { '': said(error) }
  const listed = error.problem.errors ?? []
  const found: Record<string, string> = {}
  for (const { where, message } of listed) found[where.replace(/^body\./, '').replace(/^settings\./, '')] = message
  const named = /^Setting ([\w.]+):? ([\s\S]*)$/.exec(error.message)
  if (named) found[named[1] ?? ''] = named[2] ?? ''
  if (error.slug === 'unknown-model' && !named) found.model_debater ??= error.message
  return Object.keys(found).length ? found : { '': error.message }
}
