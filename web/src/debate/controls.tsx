import { useState } from 'preact/hooks'
import { call } from '../api/client'
import type { DebateSummary } from '../api/generated'
import { Link } from '../router'
import { may } from '../session'
import { Icon, type IconName } from '../ui/icons'
import { Dialog, tell, tellError } from '../ui/parts'
import { forkAt } from './fork'
import type { Watched } from './watched'

type Action = DebateSummary['actions'][number]
type Move = 'start' | 'stop' | 'resume' | 'cancel' | 'retry'

const MOVES: Record<Move, [word: string, icon: IconName, operation: 'startDebate' | 'stopDebate' | 'resumeDebate' | 'cancelDebate' | 'retryDebate']> = {
  start: ['Start', 'play', 'startDebate'],
  resume: ['Resume', 'play', 'resumeDebate'],
  retry: ['Try again', 'retry', 'retryDebate'],
  stop: ['Stop', 'pause', 'stopDebate'],
  cancel: ['Cancel', 'cross', 'cancelDebate'],
}

export function Controls({ watched }: { watched: Watched }) {
  const debate = watched.debate.value
  const [asking, setAsking] = useState<'cancel' | 'guide' | undefined>()
  const can = (action: Action) => debate.actions.includes(action)
  const move = async (name: Move) => {
    try {
      const now = await call(MOVES[name][2], { params: { debate_id: debate.id } })
      watched.learn({ ...now, outcome: now.outcome ?? watched.debate.peek().outcome })
    } catch (error) {
      tellError(error)
    }
  }
  return (
    <div class="controls" role="group" aria-label="Controls">
      {can('record') && (
        <Link class="button primary" href={`/debates/${debate.id}/record`}>
          <Icon name="check" /> Record
        </Link>
      )}
      {may('run') &&
        (['start', 'resume', 'retry', 'stop'] as const).filter(can).map((name) => (
          <button key={name} class={name === 'stop' ? '' : 'primary'} onClick={() => void move(name)}>
            <Icon name={MOVES[name][1]} /> {MOVES[name][0]}
          </button>
        ))}
      {may('decide') && can('guide') && (
        <button onClick={() => setAsking('guide')}>
          <Icon name="speak" /> Guide
        </button>
      )}
      {may('run') && can('fork') && (
        <button onClick={() => (forkAt.value = '')}>
          <Icon name="fork" /> Fork
        </button>
      )}
      {may('run') && can('cancel') && (
        <button class="quiet" onClick={() => setAsking('cancel')}>
          <Icon name="cross" /> Cancel
        </button>
      )}
      {asking === 'cancel' && (
        <Dialog title="Cancel this debate?" onClose={() => setAsking(undefined)}>
          <p>It ends for good, without a verdict. To pause it instead, stop it; it can be resumed.</p>
          <form method="dialog" class="dialog-actions">
            <button>Keep it</button>
            <button class="danger" onClick={() => void move('cancel')}>Cancel the debate</button>
          </form>
        </Dialog>
      )}
      {asking === 'guide' && <Guide watched={watched} close={() => setAsking(undefined)} />}
    </div>
  )
}

function Guide({ watched, close }: { watched: Watched; close: () => void }) {
  const [text, setText] = useState('')
  const send = async () => {
    try {
      await call('guideDebate', { params: { debate_id: watched.debate.peek().id }, body: { text } })
      tell('Whoever is asked next hears it.')
      close()
    } catch (error) {
      tellError(error)
    }
  }
  return (
    <Dialog title="Say something to the debate" onClose={close}>
      <form class="stacked" onSubmit={(event) => (event.preventDefault(), void send())}>
        <label>
          <span>Guidance</span>
          <textarea rows={4} required value={text} onInput={(event) => setText(event.currentTarget.value)} autofocus />
          <small>Whoever is asked next hears it; a debate that rests hears it when it goes on.</small>
        </label>
        <div class="dialog-actions"><button class="primary">Send</button></div>
      </form>
    </Dialog>
  )
}
