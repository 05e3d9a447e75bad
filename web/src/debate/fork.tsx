import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { call, newKey, said } from '../api/client'
import type { Turn } from '../api/generated'
import { useTurns } from '../api/turns'
import { go } from '../router'
import { Dialog, Failed } from '../ui/parts'
import { spaced } from '../ui/words'
import { phaseName } from './block'
import type { Watched } from './watched'

/** The step to fork at; empty: where the debate stands; undefined: the dialog is closed. */
export const forkAt = signal<string | undefined>(undefined)

const LABELS: Record<string, string> = { model_debater: 'Model of the debaters', model_judge: 'Model of the judge' }

export function ForkDialog({ watched }: { watched: Watched }) {
  return forkAt.value === undefined ? null : <Forking at={forkAt.value} watched={watched} />
}

function Forking({ at, watched }: { at: string; watched: Watched }) {
  const debate = watched.debate.value
  const turns = useTurns(debate)
  const [key] = useState(newKey)
  const [picked, pick] = useState<string>()
  const [error, setError] = useState('')
  const steps = (turns.value ?? []).filter((turn) => turn.kind === 'ask')
  const voices = new Set(debate.seats.filter((seat) => seat.voice).map((seat) => seat.id))
  const spoken = steps.filter((turn) => voices.has(turn.seat) && !turn.metadata.off_record)
  const chosen = at || (debate.status === 'completed' ? (spoken.at(-1)?.key ?? '') : '')
  const { length, ledger } = debate.vocabulary
  const tunable = [...Object.keys(LABELS), length ?? ''].filter((name) => name in debate.settings)
  const submit = async (form: FormData) => {
    const settings: Record<string, unknown> = {}
    for (const name of tunable) {
      const given = String(form.get(name) ?? '').trim()
      if (given && given !== String(debate.settings[name] ?? '')) settings[name] = /^\d+$/.test(given) ? Number(given) : given
    }
    if (form.get('claims') && !debate.settings.claims) settings.claims = true
    const guidance = String(form.get('guidance') ?? '').trim()
    try {
      const branch = await call('forkDebate', {
        params: { debate_id: debate.id },
        body: { at: String(form.get('at') ?? '') || null, settings, guidance: guidance || null, start: true },
        key,
      })
      forkAt.value = undefined
      go(`/debates/${branch.id}`)
    } catch (problem) {
      setError(said(problem))
    }
  }
  return (
    <Dialog title="Fork this debate" wide onClose={() => (forkAt.value = undefined)}>
      <form class="stacked" onSubmit={(event) => (event.preventDefault(), void submit(new FormData(event.currentTarget)))}>
        <p class="lead">A new debate with every turn before a step; that step is asked anew, under what you change here. This one stays as it is.</p>
        <label>
          <span>Ask anew from</span>
          <select name="at" value={picked ?? chosen} onChange={(event) => pick(event.currentTarget.value)}>
            {debate.status !== 'completed' && <option value="">where it stands now</option>}
            {steps.map((turn) => (
              <option key={turn.key} value={turn.key} selected={turn.key === (picked ?? chosen)}>{stepName(turn, watched)}</option>
            ))}
          </select>
        </label>
        <label>
          <span>Guidance for the branch</span>
          <textarea name="guidance" rows={3} placeholder="What should it look at?" />
        </label>
        <div class="fields two">
          {tunable.map((name) => (
            <label key={name}>
              <span>{LABELS[name] ?? spaced(name)}</span>
              <input name={name} defaultValue={String(debate.settings[name] ?? '')} placeholder="as before" inputMode={name === length ? 'numeric' : 'text'} />
            </label>
          ))}
        </div>
        {ledger && !debate.settings.claims && (
          <label class="switch"><input type="checkbox" name="claims" /> <span>Keep a ledger of claims</span></label>
        )}
        {error && <Failed error={error} />}
        <div class="dialog-actions"><button class="primary">Fork and run</button></div>
      </form>
    </Dialog>
  )
}

function stepName(turn: Turn, watched: Watched): string {
  return `${turn.round ? `${turn.round} · ` : ''}${watched.name(turn.seat)}: ${phaseName(watched.debate.peek(), turn.phase)}`
}
