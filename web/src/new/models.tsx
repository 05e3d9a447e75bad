import { useState } from 'preact/hooks'
import { call } from '../api/client'
import type { Providers } from '../api/generated'
import { useLoad } from '../ui/load'
import { count, modelName, money } from '../ui/words'

type Detected = Providers['detected'][number]

const OTHER = '\0other'

/** Price and size of a model, as far as they are known. */
export function aboutModel({ usd_in, usd_out, context, demonstration }: Detected): string {
  const price = usd_in === null ? 'price unknown' : !usd_in && !usd_out ? 'free' : `${money(usd_in)} read, ${money(usd_out)} written a million tokens`
  return [demonstration ? 'demonstration' : '', price, context ? `${count(context)} tokens of context` : ''].filter(Boolean).join(', ')
}

export const useProviders = () => useLoad(() => call('listProviders'), [])

/** One model for everyone: what was found on the server, or any other by its name. Empty: the server's own choice. */
export function ModelPicker({ value, choose }: { value: string; choose: (model: string) => void }) {
  const found = useProviders().value?.detected ?? []
  const [first] = found
  const listed = !value || found.some((each) => each.model === value)
  const [other, setOther] = useState(false)
  const shown = other || !listed ? OTHER : value
  const chosen = found.find((each) => each.model === value) ?? (value ? undefined : first)
  return (
    <div class="field model-picker">
      <label class="field-name" for="model">Model</label>
      <select id="model" value={shown} aria-describedby="model-about" onChange={(event) => {
        const given = event.currentTarget.value
        setOther(given === OTHER)
        choose(given === OTHER ? '' : given)
      }}>
        <option value="">{first ? `${modelName(first.model)} (chosen for you)` : 'Chosen for you'}</option>
        {found.slice(first ? 1 : 0).map((each) => <option key={each.model} value={each.model}>{modelName(each.model)}</option>)}
        <option value={OTHER}>Another model …</option>
      </select>
      {shown === OTHER && <input aria-label="Name of the model" placeholder="provider:model" value={value} onInput={(event) => choose(event.currentTarget.value.trim())} />}
      <small id="model-about">{chosen ? aboutModel(chosen) : ''}</small>
    </div>
  )
}
