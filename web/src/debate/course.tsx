import { useEffect, useRef } from 'preact/hooks'
import type { Debate, Event } from '../api/generated'
import { announce } from '../ui/parts'
import type { Watched } from './watched'

type State = 'done' | 'now' | 'ahead' | 'broken' | 'left' | 'off'
interface Step { name: string; state: State }

const MARKS: Record<State, string> = { done: '✓', now: '▸', ahead: '·', broken: '✗', left: '–', off: '–' }
const WORDS: Record<State, string> = { done: 'done', now: 'under way', ahead: 'to come', broken: 'broken off', left: 'not played', off: 'off' }

/** The parts of a debate and how far it is, as the events with which its parts begin say. Empty where they don't. */
function stepsOf({ vocabulary, status }: Debate, events: Event[]): Step[] {
  const begins = vocabulary.chapters ? events.filter((event) => event.type === vocabulary.chapters) : []
  const last = begins.at(-1)
  if (!last || !Array.isArray(last.data.rail)) return []
  const begun = new Set(begins.map((event) => Number(event.data.number)))
  const at = Number(last.data.number)
  const ended = status === 'completed' || status === 'canceled'
  const played = last.data.rail.map((name, index): Step => {
    const number = index + 1
    const here: State = status === 'completed' ? 'done' : status === 'canceled' ? 'broken' : 'now'
    return { name: String(name), state: number === at ? here : begun.has(number) ? 'done' : number < at || ended ? 'left' : 'ahead' }
  })
  const off = Array.isArray(last.data.off) ? last.data.off : []
  return [...played, ...off.map((name): Step => ({ name: String(name), state: 'off' }))]
}

/** Which parts are behind, which one is under way, and which are to come; those that are switched off come last. */
export function Course({ watched }: { watched: Watched }) {
  const steps = stepsOf(watched.debate.value, watched.events.value)
  const now = steps.find((step) => step.state === 'now')?.name ?? ''
  const heard = useRef('')
  useEffect(() => {
    if (now && heard.current) announce(`${now} begins.`) // what was under way when the page was opened is no news
    heard.current = now || heard.current
  }, [now])
  if (!steps.length) return null
  return (
    <ol class="course" aria-label="How far it is">
      {steps.map(({ name, state }, at) => (
        <li key={at} class={state} aria-current={state === 'now' ? 'step' : undefined}>
          <span class="course-mark" aria-hidden="true">{MARKS[state]}</span> {name}<span class="unseen">, {WORDS[state]}</span>
          {(state === 'broken' || state === 'left' || state === 'off') && <span class="course-word" aria-hidden="true">{WORDS[state]}</span>}
        </li>
      ))}
    </ol>
  )
}
