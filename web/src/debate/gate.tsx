import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { call, Refusal, said } from '../api/client'
import type { Gate } from '../api/generated'
import { may, me } from '../session'
import { Icon } from '../ui/icons'
import { useKeys } from '../ui/keys'
import { announce, Failed, Prose, tell, tellError } from '../ui/parts'
import { atTime, capital } from '../ui/words'
import { Artifacts } from './artifacts'
import type { Watched } from './watched'

const TITLES: Record<Gate['kind'], string> = {
  checkpoint: 'Your turn: how should it go on?',
  clarification: 'What do you mean? You are asked to say more',
  approval: 'Your approval is needed',
  statement: 'It is your turn to speak',
  guidance: 'Guidance',
}
const WORDS: Record<string, string> = { continue: 'Continue', guide: 'Guide', end: 'End early', approve: 'Approve', reject: 'Reject' }
const WITH_WORDS = new Set(['guide'])
const SHORT = 400 // characters of a question that is shown whole

export function GatePanel({ watched }: { watched: Watched }) {
  const gate = watched.openGate.value
  return (
    <>
      <Answered watched={watched} />
      {gate ? <Open key={gate.key} gate={gate} watched={watched} /> : null}
    </>
  )
}

function Open({ gate, watched }: { gate: Gate; watched: Watched }) {
  const [text, setText] = useState('')
  const [guiding, setGuiding] = useState(false)
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const [folded, setFolded] = useState(false)
  const sent = useRef(false) // at once, where `busy` is only known when it is drawn: a key can be pressed twice
  const words = useRef<HTMLTextAreaElement>(null)
  const allowed = may('decide')
  useEffect(() => {
    watched.asked.add(gate.key)
    announce(TITLES[gate.kind])
  }, [gate.key])
  const written = useRef('')
  written.current = text
  useLayoutEffect(() => {
    if (guiding) words.current?.focus() // at once: what is typed next are words and no shortcuts
  }, [guiding])
  useEffect(
    () => () => {
      if (written.current.trim() && !watched.answered.has(gate.key)) watched.unsent.value = written.current.trim()
    },
    [],
  )

  const answer = async (choice: string | undefined) => {
    if (choice && WITH_WORDS.has(choice) && !text.trim()) {
      setGuiding(true)
      return
    }
    if (sent.current) return
    sent.current = true
    watched.answered.add(gate.key) // before the stream can tell of it
    setBusy(true)
    try {
      const told = await call('answerGate', {
        params: { debate_id: gate.debate },
        body: { key: gate.key, choice: choice ?? null, text },
      })
      watched.learn(told.debate)
      watched.seeGates()
    } catch (problem) {
      setBusy((sent.current = false))
      watched.answered.delete(gate.key)
      if (problem instanceof Refusal && problem.slug === 'already-answered') {
        tell(`${String(problem.problem.answered_by ?? 'Someone else')} was faster and has answered already.`, true)
        watched.unsent.value = text.trim()
        watched.seeGates()
      } else setError(said(problem))
    }
  }
  useKeys(
    allowed
      ? gate.choices.map((choice) => ({ key: choice.charAt(0), does: WORDS[choice] ?? capital(choice), act: () => void answer(choice) }))
      : [],
    [gate.key, text, allowed],
  )
  const free = !gate.choices.length
  const wordsNeeded = free || guiding || gate.kind === 'approval'
  return (
    <section class={folded ? 'gate folded' : 'gate'} aria-label={TITLES[gate.kind]} data-gate={gate.kind} data-key={gate.key}>
      <header>
        <Icon name="hand" />
        <h2>{TITLES[gate.kind]}</h2>
        {gate.expires_at && <span class="expires">{gate.expires_at * 1000 > Date.now() ? `until ${atTime(gate.expires_at)}` : 'paused: the time is over'}</span>}
        <button class="small quiet fold-gate" aria-expanded={!folded} onClick={() => setFolded(!folded)}>{folded ? 'Unfold' : 'Fold'}</button>
      </header>
      <Asked gate={gate} />
      <Artifacts gate={gate} watched={watched} />
      {wordsNeeded && (
        <label class="words">
          <span>{gate.kind === 'statement' ? 'What you say' : free ? 'Your answer' : guiding ? 'Guidance for the next round' : 'Reason (optional)'}</span>
          <textarea
            ref={words}
            rows={3}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void answer(free ? undefined : guiding ? 'guide' : 'approve')
            }}
          />
        </label>
      )}
      {error && <Failed error={error} />}
      {allowed ? (
        <div class="gate-actions">
          {free && (
            <button class="primary" disabled={busy || (gate.kind !== 'clarification' && !text.trim())} onClick={() => void answer(undefined)}>
              {gate.kind === 'statement' ? 'Say it' : text.trim() || gate.kind !== 'clarification' ? 'Answer' : 'Nothing to add'}
            </button>
          )}
          {gate.choices.map((choice, at) => (
            <button
              key={choice}
              class={(guiding ? choice === 'guide' : at === 0) ? 'primary' : ''}
              disabled={busy}
              onClick={() => void answer(choice)}
            >
              {guiding && choice === 'guide' ? 'Send guidance' : (WORDS[choice] ?? capital(choice))}
              <kbd>{choice.charAt(0).toUpperCase()}</kbd>
            </button>
          ))}
        </div>
      ) : (
        <p class="note-line">Your token does not allow you to answer (scope decide).</p>
      )}
    </section>
  )
}

/** The question. Of a long one, which quotes what was said, its last paragraph says what to do; the rest is a fold. */
function Asked({ gate }: { gate: Gate }) {
  const last = gate.question.trim().split(/\n{2,}/).at(-1) ?? ''
  if (gate.question.length <= SHORT) return <div class="question"><Prose html={gate.html} text={gate.question} /></div>
  return (
    <div class="question">
      <p>{last.replaceAll(/[*`]/g, '')}</p>
      <details><summary>All that you are asked</summary><Prose html={gate.html} text={gate.question} /></details>
    </div>
  )
}

const TIMED_OUT = 'no one: the time was over' // the reviewer of a question that its time-out has decided

/** Who answered last, when it was not from here. */
function Answered({ watched }: { watched: Watched }) {
  const last = watched.gates.value.filter((gate) => gate.status === 'decided' && gate.kind !== 'guidance').at(-1)
  const unsent = watched.unsent.value
  const others = last && (last.reviewer !== me.value?.name || watched.asked.has(last.key))
  if (!last || !others || watched.answered.has(last.key) || (watched.openGate.value && !unsent)) return null
  const choice = String(last.decision?.choice ?? 'answered')
  return (
    <div class="answered">
      <p>
        <Icon name="check" /> {last.reviewer === TIMED_OUT ? 'No one answered in time' : last.reviewer ?? 'No answer'}: {WORDS[choice] ?? choice}
        {last.decided_at ? `, ${atTime(last.decided_at)}` : ''}
      </p>
      {unsent && <Unsent text={unsent} watched={watched} />}
    </div>
  )
}

/** Words for a question that another person answered first: they can still be sent. */
function Unsent({ text, watched }: { text: string; watched: Watched }) {
  const send = async () => {
    try {
      await call('guideDebate', { params: { debate_id: watched.debate.peek().id }, body: { text } })
      watched.unsent.value = ''
      tell('The seats that are asked next hear it.')
    } catch (error) {
      tellError(error)
    }
  }
  return (
    <div class="unsent">
      <p>You had written: <q>{text}</q></p>
      {watched.debate.value.actions.includes('guide') && <button class="small" onClick={() => void send()}>Send it as guidance</button>}
      <button class="small quiet" onClick={() => (watched.unsent.value = '')}>Discard</button>
    </div>
  )
}
