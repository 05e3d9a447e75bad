import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { call, newKey, Refusal, said } from '../api/client'
import type { Estimate, Example, Format, Providers } from '../api/generated'
import { AllSettings, AUTO, Formats } from '../new/customise'
import { type Draft, forget, keep, kept } from '../new/draft'
import { ModelPicker, useProviders } from '../new/models'
import { changes, type Schema, type Settings } from '../new/schema'
import { ask, go, query } from '../router'
import { Icon } from '../ui/icons'
import { useLoad } from '../ui/load'
import { Failed, Loading } from '../ui/parts'
import { count, modelName, money, seconds } from '../ui/words'

const QUIET_MS = 350
const EXAMPLES = 3
const EFFORTS: Array<[name: string, word: string, about: string]> = [
  ['quick', 'Quick', 'the fewest calls'],
  ['', 'Standard', 'as the format does it'],
  ['thorough', 'Thorough', 'more rounds, and the verdict is checked'],
]

/** The settings that make a format ask a person, as far as a switch can say it. */
const attended = (formats: Format[]): Settings => Object.fromEntries(formats.flatMap(({ unattended }) => Object.entries(unattended)).filter(([, value]) => value === false).slice(0, 1).map(([name]) => [name, true]))

export function NewPage() {
  const formats = useLoad(() => call('listFormats'), [])
  const items = formats.value?.items ?? []
  const providers = useProviders().value
  const [draft, setDraft] = useState<Draft>(() => ({ ...kept(), ...(query.peek().get('topic') && { topic: query.peek().get('topic') ?? '' }) }))
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [busy, setBusy] = useState(false)
  const words = useRef<HTMLTextAreaElement>(null)
  const key = useRef(newKey())
  const change = (more: Partial<Draft>) => setDraft((old) => ({ ...old, ...more }))
  const named = query.value.get('format') || draft.format || items.find((each) => each.default)?.name || AUTO
  const format = items.find((each) => each.name === named)
  const [open, setOpen] = useState(Boolean(query.peek().get('format')))
  const settings = format ? { ...format.defaults, ...draft.settings[format.name] } : {}
  const body = bodyOf(draft, format, settings, items)
  const { estimate, stale } = useEstimate(body, items.length > 0, (found) => setErrors((old) => (old.topic && !draft.topic.trim() ? { topic: old.topic, ...found } : found)))
  useEffect(() => {
    document.title = 'New debate · moot'
  }, [])
  useLayoutEffect(() => words.current?.focus(), []) // at once: what is typed next are words and no shortcuts
  useEffect(() => keep(draft), [draft])
  useEffect(() => {
    key.current = newKey()
  }, [JSON.stringify(body)])

  const choose = (name: string) => {
    change({ format: name })
    ask({ format: name })
  }
  const start = async () => {
    if (!draft.topic.trim()) {
      setErrors({ topic: 'What should be debated?' })
      words.current?.focus()
      return
    }
    setBusy(true)
    try {
      const debate = await call('createDebate', { body, key: key.current })
      forget()
      go(`/debates/${debate.id}`)
    } catch (error) {
      setBusy(false)
      setErrors(atFields(error))
      setOpen(true)
      requestAnimationFrame(() => document.querySelector<HTMLElement>('[aria-invalid=true]')?.focus())
    }
  }
  const withMe = draft.withMe ?? Object.keys(format?.unattended ?? {}).length > 0
  const asks = format ? Object.keys(format.unattended).length > 0 : Object.keys(attended(items)).length > 0
  return (
    <div class="page composer-page">
      <form
        class="composer"
        noValidate
        onSubmit={(event) => (event.preventDefault(), void start())}
        onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !busy && (event.preventDefault(), void start())}
      >
        <h1>What should be debated?</h1>
        <div class="card ask-card">
          <div class="topic">
            <label class="unseen" for="topic">The question</label>
            <textarea ref={words} id="topic" rows={3} dir="auto" value={draft.topic} placeholder="Should we use Redis or PostgreSQL for caching?" aria-invalid={errors.topic ? true : undefined} aria-describedby={errors.topic ? 'topic-error' : undefined} onInput={(event) => change({ topic: event.currentTarget.value })} />
            {errors.topic && <span class="field-error" id="topic-error">{errors.topic}</span>}
          </div>
          <div class="ask-bar">
            <ModelPicker value={draft.model} choose={(model) => change({ model })} />
            <fieldset class="effort">
              <legend class="field-name">Effort</legend>
              <div class="segments">
                {EFFORTS.map(([name, word, about]) => (
                  <label key={name} title={about}><input type="radio" name="effort" value={name} checked={draft.effort === name} onChange={() => change({ effort: name })} /><span>{word}</span></label>
                ))}
              </div>
            </fieldset>
            <label class="switch with-me" title={asks ? 'You are asked between rounds.' : 'This format does not ask anyone.'}>
              <input type="checkbox" checked={asks && withMe} disabled={!asks} onChange={(event) => change({ withMe: event.currentTarget.checked })} /> <span>With me<small>asked between rounds</small></span>
            </label>
          </div>
          {errors[''] && <Failed error={errors['']} />}
          <div class="ask-foot">
            <Summary estimate={estimate} stale={stale} formats={items} />
            <button class="primary start" disabled={busy} title="Ctrl+Enter">{busy ? 'Starting …' : <>Start the debate <kbd>Ctrl ⏎</kbd></>}</button>
          </div>
        </div>
        {!draft.topic.trim() && <Examples formats={items} format={format} take={(each, example) => (change({ topic: example.topic, format: each.name, settings: { ...draft.settings, [each.name]: example.settings } }), ask({ format: each.name }), words.current?.focus())} />}
        <details class="customise" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Customise <span class="dim">{format ? `${format.purpose}, ` : ''}format, rounds, models of each seat, limits</span></summary>
          <div class="new-form">
            {formats.error ? <Failed error={formats.error} again={formats.again} /> : !formats.value ? <Loading /> : (
              <>
                <Formats formats={items} problems={formats.value.problems} chosen={format} choose={choose} why={draft.topic.trim() && !stale ? estimate?.chosen[0] ?? '' : ''} />
                {format ? <AllSettings form={{ root: format.settings_schema as Schema, settings, set: (next) => change({ settings: { ...draft.settings, [format.name]: changes(next, format.defaults) } }), errors }} format={format} formats={items} providers={providers} /> : <p class="dim">Choose a format to change its settings.</p>}
              </>
            )}
          </div>
        </details>
        <FirstRun providers={providers} />
      </form>
    </div>
  )
}

function bodyOf(draft: Draft, format: Format | undefined, settings: Settings, formats: Format[]) {
  const model = draft.model ? { model_debater: draft.model, model_judge: draft.model } : {}
  const attending = draft.withMe === null ? {} : format ? (draft.withMe ? {} : format.unattended) : draft.withMe ? attended(formats) : {}
  return {
    topic: draft.topic.trim() || 'A question',
    format: format?.name ?? AUTO,
    settings: { ...model, ...attending, ...(format ? changes(settings, format.defaults) : {}) },
    start: true,
    ...(draft.effort ? { effort: draft.effort as 'quick' | 'thorough' } : {}),
  }
}

/** What it would take, a moment after it was last changed. An estimate is made without a question; that it is missing stays said. */
function useEstimate(body: ReturnType<typeof bodyOf>, ready: boolean, show: (errors: Record<string, string>) => void): { estimate: Estimate | undefined; stale: boolean } {
  const [estimate, setEstimate] = useState<Estimate>()
  const [stale, setStale] = useState(true)
  useEffect(() => {
    if (!ready) return
    setStale(true)
    const abort = new AbortController()
    const timer = setTimeout(() => {
      call('estimateDebate', { body, signal: abort.signal }).then(
        (told) => (setEstimate(told), show({}), setStale(false)),
        (error: unknown) => abort.signal.aborted || show(atFields(error)),
      )
    }, QUIET_MS)
    return () => (clearTimeout(timer), abort.abort())
  }, [JSON.stringify(body), ready])
  return { estimate, stale }
}

/** What will happen, and what it costs, before it begins. */
function Summary({ estimate, stale, formats }: { estimate: Estimate | undefined; stale: boolean; formats: Format[] }) {
  if (!estimate) return <p class="estimate dim">Working out what it would take …</p>
  const { full_length: full, limits } = estimate
  const purpose = formats.find((each) => each.name === estimate.format)?.purpose ?? estimate.format
  const shows = estimate.prices.filter((each) => each.demonstration).map((each) => modelName(each.model))
  return (
    <div class={stale ? 'estimate stale' : 'estimate'} aria-label="Estimate" role="region">
      {estimate.demonstration && <p class="warning"><Icon name="warn" /> <span><strong>A demonstration.</strong> {shows.join(', ')} only {shows.length > 1 ? 'show' : 'shows'} how a debate goes: the verdict means nothing. Choose another model for an answer to rely on.</span></p>}
      <p>
        <strong>{purpose}</strong> · <span class="price">{full.cost_usd === null ? 'price unknown' : full.cost_usd ? `about ${money(full.cost_usd)}` : 'free'}</span> at full length
        <span class="dim"> · {count(full.calls)} calls, {count(full.tokens_in)} tokens read, {count(full.tokens_out)} written; never more than {estimate.most && `${count(estimate.most.calls)} calls, `}{count(limits.tokens_out)} tokens{limits.cost_usd !== null && `, ${money(limits.cost_usd)}`}, {seconds(limits.runtime_seconds)}</span>
      </p>
      <details><summary>What moot chose, and what to know</summary><ul class="bullets">{[...estimate.chosen, ...estimate.notes].map((note) => <li key={note}>{note}</li>)}</ul></details>
    </div>
  )
}

/** Questions to begin with, in place of an empty page; they never take the place of one that is being written. */
function Examples({ formats, format, take }: { formats: Format[]; format: Format | undefined; take: (format: Format, example: Example) => void }) {
  const shown = format ? format.examples.map((example) => ({ each: format, example })) : formats.flatMap((each) => each.examples.slice(0, 1).map((example) => ({ each, example })))
  if (!shown.length) return null
  return (
    <div class="examples" role="group" aria-label="Examples">
      {shown.slice(0, EXAMPLES).map(({ each, example }) => (
        <button key={`${each.name}/${example.title}`} type="button" onClick={() => take(each, example)}>
          <span>{example.topic}</span>
          <small>{format ? example.title : each.purpose}</small>
        </button>
      ))}
    </div>
  )
}

/** Which models are there, and how another one gets there. */
function FirstRun({ providers }: { providers: Providers | undefined }) {
  if (!providers || providers.detected.some((each) => !each.demonstration)) return null
  const keys = providers.items.filter((each) => each.key_variable && !each.usable).slice(0, 3)
  return (
    <section class="first-run">
      <h2>Only demonstration models were found</h2>
      <p>Found: {[...new Set(providers.detected.map((each) => modelName(each.model)))].join(', ')}. For answers to rely on, the server needs one of these:</p>
      <ul class="bullets">
        <li>A key of a provider, in the environment in which the server is started: {keys.map((each) => <span key={each.name}><code>{each.key_variable}</code> for {each.name}; </span>)}then start it again.</li>
        <li>Ollama on the same machine: its models are found by themselves.</li>
      </ul>
    </section>
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
