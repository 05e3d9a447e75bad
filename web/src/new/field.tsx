import { useState } from 'preact/hooks'
import { spaced } from '../ui/words'
import { at, choices, put, resolved, type Schema, type Settings } from './schema'

export interface Form {
  root: Schema
  settings: Settings
  set: (settings: Settings) => void
  errors: Record<string, string>
}

const LABELS: Record<string, string> = {
  model_debater: 'Model of the debaters',
  model_judge: 'Model of the judge',
  max_cost_usd: 'Money limit, in US dollars',
  max_total_output_tokens: 'Token limit',
  max_runtime_seconds: 'Time limit, in seconds',
}

/** One setting, drawn from its schema; settings inside settings are drawn the same way. */
export function Field({ form, schema: given, path }: { form: Form; schema: Schema; path: string[] }) {
  const { schema, nullable } = resolved(given, form.root)
  const name = path.at(-1) ?? ''
  const value = at(form.settings, path)
  const set = (next: unknown) => form.set(put(form.settings, path, next))
  const id = `field-${path.join('-')}`
  const error = form.errors[path.join('.')]
  const label = LABELS[name] ?? spaced(name)
  const shared = { id, 'aria-invalid': error ? true : undefined, 'aria-describedby': error ? `${id}-error` : undefined }
  const below = (
    <>
      {error && <span class="field-error" id={`${id}-error`}>{error}</span>}
      {schema.description && <small>{schema.description}</small>}
    </>
  )

  const options = choices(schema)
  if (options)
    return (
      <div class="field">
        <label class="field-name" for={id}>{label}</label>
        <select {...shared} value={String(value ?? '')} onChange={(event) => set(options.find((each) => String(each) === event.currentTarget.value))}>
          {options.map((each) => <option key={String(each)} value={String(each)}>{String(each)}</option>)}
        </select>
        {below}
      </div>
    )
  if (schema.type === 'boolean')
    return (
      <div class="field">
        <label class="switch"><input type="checkbox" {...shared} checked={value === true} onChange={(event) => set(event.currentTarget.checked)} /> <span>{label}{schema.description && <small>{schema.description}</small>}</span></label>
        {error && <span class="field-error" id={`${id}-error`}>{error}</span>}
      </div>
    )
  if (schema.type === 'integer' || schema.type === 'number')
    return (
      <div class="field">
        <label class="field-name" for={id}>{label}</label>
        <input {...shared} type="number" step={schema.type === 'integer' ? 1 : 'any'} value={value === null || value === undefined ? '' : String(value)} placeholder={nullable ? 'none' : ''}
          onInput={(event) => set(event.currentTarget.value === '' ? null : Number(event.currentTarget.value))} />
        {below}
      </div>
    )
  if (schema.type === 'string') {
    const long = (schema.maxLength ?? 0) > 300
    const props = { ...shared, value: String(value ?? ''), placeholder: nullable ? (name.startsWith('model') ? 'chosen by the server' : 'none') : '', onInput: (event: { currentTarget: { value: string } }) => set(event.currentTarget.value || (nullable ? null : '')) }
    return (
      <div class={long ? 'field full' : 'field'}>
        <label class="field-name" for={id}>{label}</label>
        {long ? <textarea rows={2} {...props} /> : <input list={name.startsWith('model') ? 'models' : undefined} {...props} />}
        {below}
      </div>
    )
  }
  if (schema.type === 'array') return <List form={form} schema={schema} path={path} label={label} />
  if (schema.type === 'object' && schema.properties)
    return (
      <fieldset class="nested"><legend>{label}</legend><div class="fields">{Object.entries(schema.properties).map(([each, inside]) => <Field key={each} form={form} schema={inside} path={[...path, each]} />)}</div></fieldset>
    )
  return null
}

/** A list of which only the length matters, until someone names each. */
function HowMany({ form, schema, path, label, value, name }: { form: Form; schema: Schema; path: string[]; label: string; value: number; name: () => void }) {
  const id = `field-${path.join('-')}`
  const error = form.errors[path.join('.')]
  return (
    <div class="field">
      <label class="field-name" for={id}>{label}</label>
      <input id={id} type="number" step={1} min={schema.minItems} max={schema.maxItems} value={value || ''} aria-invalid={error ? true : undefined} onInput={(event) => form.set(put(form.settings, path, Number(event.currentTarget.value)))} />
      {error && <span class="field-error">{error}</span>}
      <button type="button" class="small quiet" onClick={name}>Name each</button>
    </div>
  )
}

function List({ form, schema, path, label }: { form: Form; schema: Schema; path: string[]; label: string }) {
  const given = at(form.settings, path)
  const [naming, setNaming] = useState(false)
  const value = Array.isArray(given) ? (given as unknown[]) : []
  const set = (next: unknown[]) => form.set(put(form.settings, path, next))
  const items = schema.items ? resolved(schema.items, form.root).schema : undefined
  const error = form.errors[path.join('.')]
  const id = `field-${path.join('-')}`
  if (items?.type === 'string')
    return (
      <div class="field full">
        <label class="field-name" for={id}>{label}</label>
        <textarea id={id} rows={2} value={value.join('\n')} placeholder="one in each line" onChange={(event) => set(event.currentTarget.value.split('\n').map((each) => each.trim()).filter(Boolean))} />
        {error && <span class="field-error">{error}</span>}
        {schema.description && <small>{schema.description}</small>}
      </div>
    )
  const blank = () => Object.fromEntries(Object.entries(items?.properties ?? {}).map(([name, each]) => [name, each.default ?? (each.type === 'array' ? [] : '')]))
  if (schema.by_number && !naming) {
    const count = Array.isArray(given) ? given.length : Number(given)
    const name = () => (Array.isArray(given) || set(Array.from({ length: count }, blank)), setNaming(true))
    return <HowMany form={form} schema={schema} path={path} label={label} value={count} name={name} />
  }
  const fixed = schema.prefixItems !== undefined
  const shape = (i: number): Schema => resolved(schema.prefixItems?.[i] ?? schema.items ?? {}, form.root).schema
  return (
    <fieldset class="nested">
      <legend>{label}</legend>
      {schema.description && <small>{schema.description}</small>}
      {error && <span class="field-error">{error}</span>}
      {value.map((_, i) => (
        <fieldset key={i} class="nested">
          <legend>{label} {i + 1}</legend>
          <div class="fields">{Object.entries(shape(i).properties ?? {}).map(([each, inside]) => <Field key={each} form={form} schema={inside} path={[...path, String(i), each]} />)}</div>
          {!fixed && <button type="button" class="small" onClick={() => set(value.filter((__, other) => other !== i))}>Remove</button>}
        </fieldset>
      ))}
      {!fixed && <button type="button" class="small" onClick={() => set([...value, blank()])}>Add one</button>}
    </fieldset>
  )
}
