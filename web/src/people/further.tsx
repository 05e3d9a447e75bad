import { useState } from 'preact/hooks'
import { call, newKey } from '../api/client'
import type { Debate } from '../api/generated'
import { go } from '../router'
import { Dialog, tellError } from '../ui/parts'

const MODELS = ['model_debater', 'model_judge']

/** The models of the debate before, where they are said in full. */
function modelsOf(settings: Debate['settings']): Debate['settings'] {
  return Object.fromEntries(MODELS.map((name) => [name, settings[name]]).filter(([, spec]) => typeof spec === 'string' && !spec.includes('***')))
}

/** Asks a question after this debate: the debate that begins is told what this one was about and came to. */
export function FurtherDialog({ debate, close }: { debate: Debate; close: () => void }) {
  const [topic, setTopic] = useState('')
  const [key] = useState(newKey)
  const [busy, setBusy] = useState(false)
  const begin = async () => {
    setBusy(true)
    try {
      const body = { topic, format: debate.format, settings: modelsOf(debate.settings), follows: debate.id }
      const made = await call('createDebate', { body, key })
      close()
      go(`/debates/${made.id}`)
    } catch (error) {
      tellError(error)
      setBusy(false)
    }
  }
  const submit = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && topic.trim()) void begin()
  }
  return (
    <Dialog title="Ask further" onClose={close}>
      <form class="stacked" onSubmit={(event) => (event.preventDefault(), void begin())}>
        <label>
          <span>Your question</span>
          <textarea rows={3} required value={topic} dir="auto" onInput={(event) => setTopic(event.currentTarget.value)} onKeyDown={submit} autofocus />
          <small>A new debate begins, of the same kind. Everyone in it is told what this one was about and came to.</small>
        </label>
        <div class="dialog-actions"><button class="primary" disabled={busy}>Start the debate</button></div>
      </form>
    </Dialog>
  )
}
