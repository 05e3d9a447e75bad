import type { Debate } from '../api/generated'
import { go } from '../router'
import { may } from '../session'
import { Icon } from '../ui/icons'
import { Prose, tell } from '../ui/parts'
import { modelName, money, seconds, spaced } from '../ui/words'
import { foldAt, folds, isOpen } from './folds'
import { forkAt } from './fork'
import { inspected } from './inspector'
import { Note, Notes } from './notes'
import type { Block, Watched } from './watched'

/** What a turn of a phase is called. */
export const phaseName = ({ vocabulary }: Debate, phase: string): string => vocabulary.phases[phase] ?? spaced(phase.replaceAll('-', ' '))

export function BlockView({ block, watched, named = false }: { block: Block; watched: Watched; named?: boolean }) {
  if (!block.turn && !block.flight) return <Note block={block} watched={watched} />
  if (!block.public) return <Folded block={block} watched={watched} named={named} />
  return (
    <article class={`block${block.event?.quiet ? ' quiet' : ''}${block.flight ? ' live' : ''}`} id={block.key} data-key={block.key}>
      <Heading block={block} watched={watched} named={named} />
      <Body block={block} />
    </article>
  )
}

function Heading({ block, watched, named }: { block: Block; watched: Watched; named: boolean }) {
  const turn = block.turn
  const debate = watched.debate.value
  const words = debate.vocabulary.events[block.type]
  const verb = turn?.failure ? words?.failed : named && words?.verb
  return (
    <header>
      <span class="what">
        {named && <strong>{watched.name(block.seat)}</strong>}
        <span>{verb || phaseName(debate, block.phase)}</span>
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
          {turn.kind === 'ask' && (
            <button class="plain tiny cost" aria-label={`Details of ${block.key}`} title={`${modelName(turn.model)}, ${money(turn.cost_usd)}: look into it`} onClick={() => (inspected.value = block.key)}>
              {seconds(turn.duration_ms / 1000)}
            </button>
          )}
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
  return (
    <>
      <Notes caption={block.event?.caption} />
      <Prose html={turn.html} text={turn.content} />
    </>
  )
}

/** Never drawn again while text comes in: the flight writes into its own text node. */
function FlightText({ block }: { block: Block }) {
  const flight = block.flight
  return <div class="prose flight" dir="auto" ref={(element) => flight?.show(element)} data-flight={block.key} />
}

/** Plans, thoughts and lists, which stay with their seat. */
function Folded({ block, watched, named }: { block: Block; watched: Watched; named: boolean }) {
  const debate = watched.debate.value
  const name = `${debate.id.slice(0, 8)}/${block.key}`
  const label = `${named ? `${watched.name(block.seat)}: ` : ''}${phaseName(debate, block.phase)}`
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
