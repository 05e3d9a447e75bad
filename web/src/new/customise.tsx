import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Format, FormatProblem, Providers } from '../api/generated'
import { Field, type Form } from './field'
import { resolved, type Schema } from './schema'

// Which settings stand where, by their names. What no group takes stands first, or under "More"; nothing is left out.
const GROUPS: Array<[title: string, takes: RegExp]> = [
  ['Models', /^model_|_models$|^sampling$|^temperature/],
  ['Limits', /_(tokens|seconds|usd)(_|$)|^token_|^max_calls$/],
]
export const AUTO = 'auto'

/** Own settings of the format before those that others have, too. */
function ordered(format: Format, formats: Format[]): string[] {
  const names = (each: Format) => Object.keys((each.settings_schema as Schema).properties ?? {})
  const shared = (name: string) => formats.filter((each) => names(each).includes(name)).length
  const rank = (name: string) => (name === format.length ? 0 : shared(name))
  return names(format).filter((name) => name !== 'seats').sort((one, two) => rank(one) - rank(two))
}

function isSimple(schema: Schema, root: Schema): boolean {
  const { schema: plain } = resolved(schema, root)
  return plain.by_number === true || !['array', 'object'].includes(plain.type ?? '')
}

/** Formats by what they are good for. */
export function Formats({ formats, problems, chosen, choose, why }: { formats: Format[]; problems: FormatProblem[]; chosen: Format | undefined; choose: (name: string) => void; why: string }) {
  return (
    <fieldset>
      <legend>How it is debated</legend>
      <div class="formats">
        <label>
          <input type="radio" name="format" value={AUTO} checked={!chosen} onChange={() => choose(AUTO)} />
          <strong>Let moot choose</strong>
          <small>{why || 'By how it is asked.'}</small>
        </label>
        {formats.map((each) => (
          <label key={each.name}>
            <input type="radio" name="format" value={each.name} checked={each === chosen} onChange={() => choose(each.name)} />
            <strong>{each.purpose}</strong>
            <small>{each.summary} <span class="tag format">{each.name}</span></small>
          </label>
        ))}
      </div>
      {problems.map(({ name, problem }) => <p key={name} class="problem">The format {name} can’t be used. {problem}</p>)}
    </fieldset>
  )
}

/** Every setting of a format, drawn from its schema. */
export function AllSettings({ form, format, formats, providers }: { form: Form; format: Format; formats: Format[]; providers: Providers | undefined }) {
  const { root, errors } = form
  const known = ordered(format, formats)
  const groups = GROUPS.map(([title, takes]) => [title, known.filter((name) => takes.test(name))] as const)
  const grouped = new Set(groups.flatMap(([, names]) => names))
  const first = known.filter((name) => !grouped.has(name) && isSimple(root.properties![name]!, root))
  const more = known.filter((name) => !grouped.has(name) && !first.includes(name))
  const shown = (names: string[]) => names.map((name) => <Field key={`${format.name}-${name}`} form={form} schema={root.properties![name]!} path={[name]} />)
  const failing = (names: string[]) => Object.keys(errors).some((path) => names.includes(path.split('.')[0] ?? ''))
  return (
    <>
      <fieldset><legend>How it goes</legend><div class="fields">{shown(first)}</div></fieldset>
      {format.catalog.length > 0 && (
        <Group title="What it chooses from">
          <dl class="inside catalog">{format.catalog.map((each) => <div key={each.name}><dt>{each.name}</dt><dd>{each.about}</dd></div>)}</dl>
        </Group>
      )}
      {groups.map(([title, names]) => (
        <Group key={title} title={title} failing={failing(title === 'Models' ? [...names, 'seats'] : names)}>
          <div class="fields">
            {shown(names)}
            {title === 'Models' && <Seats form={form} format={format} />}
          </div>
        </Group>
      ))}
      {more.length > 0 && <Group title="More" failing={failing(more)}><div class="fields">{shown(more)}</div></Group>}
      <datalist id="models">{(providers?.detected ?? []).map((each) => <option key={each.model} value={each.model} />)}{(providers?.items ?? []).filter((each) => each.usable).map((each) => <option key={each.name} value={each.example}>{each.about}</option>)}</datalist>
    </>
  )
}

/** A fold that only its reader closes. */
function Group({ title, failing = false, children }: { title: string; failing?: boolean; children: ComponentChildren }) {
  const [open, setOpen] = useState(failing)
  useEffect(() => {
    if (failing) setOpen(true)
  }, [failing])
  return (
    <details class="group" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {children}
    </details>
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
