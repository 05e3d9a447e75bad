import { useState } from 'preact/hooks'
import { call } from '../api/client'
import { type Action, LABELS } from '../api/generated'
import { PeopleActions } from '../people/actions'
import { go } from '../router'
import { may } from '../session'
import { Icon, type IconName } from '../ui/icons'
import { Dialog, tell, tellError } from '../ui/parts'
import { canNotify, notifying, toggleNotifying } from '../ui/waiting'
import { short } from '../ui/words'
import { AnotherModel } from './another'
import { forkAt } from './fork'
import type { Watched } from './watched'

type Move = 'start' | 'stop' | 'resume' | 'cancel' | 'retry'

const ICONS: Partial<Record<Action, IconName>> = {
  start: 'play',
  resume: 'play',
  retry: 'retry',
  stop: 'pause',
  cancel: 'cross',
  guide: 'speak',
  fork: 'fork',
}

/** What a button for an action shows. */
function Label({ action }: { action: Action }) {
  const icon = ICONS[action]
  return <>{icon && <Icon name={icon} />} {LABELS[action]}</>
}

export function Controls({ watched }: { watched: Watched }) {
  const debate = watched.debate.value
  const [asking, setAsking] = useState<'cancel' | 'delete' | 'guide' | 'model' | undefined>()
  const can = (action: Action) => debate.actions.includes(action)
  const move = async (name: Move) => {
    try {
      const now = await call(`${name}Debate`, { params: { debate_id: debate.id } })
      watched.learn({ ...now, outcome: now.outcome ?? watched.debate.peek().outcome })
    } catch (error) {
      tellError(error)
    }
  }
  const remove = async () => {
    try {
      await call('deleteDebate', { params: { debate_id: debate.id } })
      tell(`Debate ${short(debate.id)} is deleted.`)
      go('/')
    } catch (error) {
      tellError(error)
    }
  }
  return (
    <div class="controls" role="group" aria-label="Controls">
      {may('run') &&
        (['start', 'resume', 'retry', 'stop'] as const).filter(can).map((name) => (
          <button key={name} class={name === 'stop' ? '' : 'primary'} onClick={() => void move(name)}>
            <Label action={name} />
          </button>
        ))}
      {may('run') && can('retry') && can('fork') && <button onClick={() => setAsking('model')}><Icon name="compare" /> Try with another model</button>}
      {may('decide') && can('guide') && (
        <button onClick={() => setAsking('guide')}>
          <Label action="guide" />
        </button>
      )}
      {may('run') && can('fork') && (
        <button onClick={() => (forkAt.value = '')}>
          <Label action="fork" />
        </button>
      )}
      {!debate.outcome && <PeopleActions debate={debate} />}
      {may('run') && can('cancel') && (
        <button class="quiet" onClick={() => setAsking('cancel')}>
          <Label action="cancel" />
        </button>
      )}
      {can('stop') && canNotify() && (
        <button class="quiet" aria-pressed={notifying.value} onClick={() => void toggleNotifying()}>
          <Icon name="bell" filled={notifying.value} /> {notifying.value ? 'You are told when it waits' : 'Tell me when it waits'}
        </button>
      )}
      {may('admin') && can('delete') && (
        <button class="quiet" onClick={() => setAsking('delete')}>
          <Label action="delete" />
        </button>
      )}
      {asking === 'delete' && (
        <Dialog title="Delete this debate?" onClose={() => setAsking(undefined)}>
          <p>Everything of it goes, for good: what was said, the questions and answers, its place in memory. Forks of it stay.</p>
          <form method="dialog" class="dialog-actions">
            <button>Keep it</button>
            <button class="danger" onClick={() => void remove()}>Delete the debate</button>
          </form>
        </Dialog>
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
      {asking === 'model' && <AnotherModel debate={debate} close={() => setAsking(undefined)} />}
      {asking === 'guide' && <Guide watched={watched} close={() => setAsking(undefined)} />}
    </div>
  )
}

function Guide({ watched, close }: { watched: Watched; close: () => void }) {
  const [text, setText] = useState('')
  const send = async () => {
    try {
      await call('guideDebate', { params: { debate_id: watched.debate.peek().id }, body: { text } })
      tell('The seats that are asked next hear it.')
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
          <small>The seats that are asked next hear it; a debate that rests hears it when it goes on.</small>
        </label>
        <div class="dialog-actions"><button class="primary">Send</button></div>
      </form>
    </Dialog>
  )
}
