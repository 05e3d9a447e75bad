import { go } from '../router'
import { may } from '../session'
import { Icon } from '../ui/icons'
import { Prose, tell } from '../ui/parts'
import { capital, modelName, money, plural, seconds } from '../ui/words'
import { foldAt, folds, isOpen } from './folds'
import { forkAt } from './fork'
import { Note, NOTES } from './notes'
import type { Block, Watched } from './watched'

const PHASES: Record<string, string> = {
  speak: 'Statement',
  argue: 'Argument',
  rebut: 'Rebuttal',
  plan: 'Plan',
  think: 'Thoughts',
  evaluate: 'Evaluation',
  score: 'Score',
  rule: 'Ruling',
  deliberate: 'Deliberation',
  analyze: 'Analysis of the question',
  answer: 'Answer',
  rank: 'Ballot',
  object: 'Objection',
  propose: 'Proposal',
  defend: 'Defence',
  critique: 'Critique',
  synthesize: 'Synthesis',
  rag: 'Reasoning templates',
  recall: 'Earlier decisions',
  checkpoint: 'At the checkpoint',
  clarify: 'Clarification',
  guidance: 'Guidance',
}

export const phaseName = (phase: string): string => PHASES[phase] ?? capital(phase.replace(/^claims-/, 'Claims: ').replaceAll('-', ' '))

export function BlockView({ block, watched, named }: { block: Block; watched: Watched; named?: boolean }) {
  if (!block.turn && !block.flight) return <Note block={block} watched={watched} />
  if (block.type === 'THINK' || block.type === 'PLAN') return <Thought block={block} watched={watched} named={named ?? false} />
  if (block.type === 'CLAIMS') return <ClaimList block={block} watched={watched} />
  return (
    <article class={`block ${block.type.toLowerCase()}${block.flight ? ' live' : ''}`} id={block.key} data-key={block.key}>
      <Heading block={block} watched={watched} named={named ?? false} />
      <Body block={block} />
    </article>
  )
}

function Heading({ block, watched, named }: { block: Block; watched: Watched; named: boolean }) {
  const turn = block.turn
  const debate = watched.debate.value
  const who = turn?.kind === 'gate' || turn?.kind === 'guidance' ? 'You' : watched.name(block.seat)
  return (
    <header>
      <span class="what">
        {named && <strong>{who}</strong>}
        <span>{phaseName(block.phase)}</span>
        {block.round > 0 && <span class="round">{block.round}</span>}
      </span>
      {block.flight && <span class="writing">{block.flight.attempt > 1 ? `try ${block.flight.attempt}` : 'writing'}</span>}
      {turn && (
        <span class="block-tools">
          <button class="plain tiny" aria-label={`Link to ${block.key}`} title="Link to this turn" onClick={() => link(block.key)}>
            <Icon name="link" />
          </button>
          {may('run') && debate.actions.includes('fork') && turn.kind === 'ask' && (
            <button class="plain tiny" aria-label={`Fork at ${block.key}`} title="Fork here: ask this step anew" onClick={() => (forkAt.value = block.key)}>
              <Icon name="fork" />
            </button>
          )}
          {turn.kind === 'ask' && <span class="cost" title={`${modelName(turn.model)}, ${money(turn.cost_usd)}`}>{seconds(turn.duration_ms / 1000)}</span>}
        </span>
      )}
    </header>
  )
}

function link(key: string): void {
  go(`${location.pathname}${location.search}#${encodeURIComponent(key)}`, { replace: true })
  navigator.clipboard?.writeText(location.href).then(
    () => tell('The link to this turn is in the clipboard.'),
    () => tell('The address bar has the link to this turn.'),
  )
}

function Body({ block }: { block: Block }) {
  if (block.flight) return <FlightText block={block} />
  const turn = block.turn
  if (!turn) return null
  if (turn.failure) return <p class="problem"><Icon name="warn" /> {turn.failure.message}</p>
  const typed = NOTES[block.type]
  return (
    <>
      {typed?.(block)}
      <Prose html={turn.html} text={turn.content} />
    </>
  )
}

/** Never drawn again while text comes in: the flight writes into its own text node. */
function FlightText({ block }: { block: Block }) {
  const flight = block.flight
  return <div class="prose as-text flight" ref={(element) => flight?.show(element)} data-flight={block.key} />
}

function Thought({ block, watched, named }: { block: Block; watched: Watched; named: boolean }) {
  const name = `${watched.debate.peek().id.slice(0, 8)}/${block.key}`
  const label = `${named ? `${watched.name(block.seat)}: ` : ''}${phaseName(block.phase)}`
  return (
    <details
      class={block.flight ? 'thought live' : 'thought'}
      id={block.key}
      data-key={block.key}
      open={isOpen(name, folds.value.thoughts)}
    >
      <summary onClick={(event) => foldAt(event, name)}>
        {label}
        {block.round > 0 && <span class="round">{block.round}</span>}
        {block.flight && <span class="writing">writing</span>}
      </summary>
      <Body block={block} />
    </details>
  )
}

interface Listed {
  text: string
  stance: string
  target: string
}

function ClaimList({ block, watched }: { block: Block; watched: Watched }) {
  const listed = (block.turn?.data?.claims ?? []) as Listed[]
  const name = `${watched.debate.peek().id.slice(0, 8)}/${block.key}`
  return (
    <details class="claims" id={block.key} open={isOpen(name, false)}>
      <summary onClick={(event) => foldAt(event, name)}>{block.flight ? 'Listing claims …' : plural(listed.length, 'claim')}</summary>
      <ul>
        {listed.map((claim) => (
          <li key={claim.text}>
            {claim.stance !== 'none' && claim.target && <em>{claim.stance} {claim.target}: </em>}
            {claim.text}
          </li>
        ))}
      </ul>
    </details>
  )
}
