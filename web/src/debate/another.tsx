import { useState } from 'preact/hooks'
import { call, newKey, said } from '../api/client'
import type { Debate } from '../api/generated'
import { ModelPicker } from '../new/models'
import { go } from '../router'
import { Dialog, Failed } from '../ui/parts'

/** A debate that failed goes on with another model: as a fork, which has everything that was said. */
export function AnotherModel({ debate, close }: { debate: Debate; close: () => void }) {
  const [model, setModel] = useState('')
  const [error, setError] = useState('')
  const [key] = useState(newKey)
  const start = async () => {
    try {
      const settings = model ? { model_debater: model, model_judge: model } : {}
      const branch = await call('forkDebate', { params: { debate_id: debate.id }, body: { at: null, settings, guidance: null, start: true }, key })
      close()
      go(`/debates/${branch.id}`)
    } catch (problem) {
      setError(said(problem))
    }
  }
  return (
    <Dialog title="Try with another model" onClose={close}>
      <form class="stacked" onSubmit={(event) => (event.preventDefault(), void start())}>
        <p class="lead">A copy of this debate goes on from where it failed. Nothing that was said is paid for again.</p>
        <ModelPicker value={model} choose={setModel} />
        {error && <Failed error={error} />}
        <div class="dialog-actions"><button class="primary" disabled={!model}>Go on with it</button></div>
      </form>
    </Dialog>
  )
}
