import { useLayoutEffect, useRef } from 'preact/hooks'
import { capital } from '../ui/words'
import { BlockView } from './block'
import { Jump } from './lane'
import { grouped, Many } from './many'
import { Mark, seatClass, seatIndex } from './seats'
import type { Block, Watched } from './watched'

interface Part { round: number; title: string; blocks: Block[] }

/** The parts of a debate: by round. What comes without a turn belongs to what was said before it. */
function partsOf(watched: Watched): Part[] {
  const { unit, chapters } = watched.debate.value.vocabulary
  const parts = new Map<number | string, Part>()
  let round = 0
  let chapter = ''
  for (const block of watched.all.value) {
    if (chapters && block.type === chapters) {
      chapter = block.event?.caption?.heading ?? ''
      continue
    }
    if (block.turn || block.flight) round = Math.max(0, block.round)
    const at = chapters ? chapter : round
    if (!parts.has(at)) parts.set(at, { round, title: chapters ? chapter || 'To begin with' : '', blocks: [] })
    parts.get(at)?.blocks.push(block)
  }
  const voices = new Set(watched.voices.value)
  const sorted = chapters ? [...parts.values()] : [...parts.values()].sort((one, two) => one.round - two.round)
  return sorted.map((part, at) => ({
    ...part,
    title: part.title || (!part.round ? 'To begin with' : at === sorted.length - 1 && !part.blocks.some(({ seat }) => voices.has(seat)) ? 'To close' : `${capital(unit)} ${part.round}`),
  }))
}

/** Everything in one column, in the order in which it is best read. The page scrolls with it. */
export function Reading({ watched }: { watched: Watched }) {
  const ref = useRef<HTMLDivElement>(null)
  const { reader } = watched
  const parts = partsOf(watched)
  useLayoutEffect(() => {
    reader.element = document.documentElement
    const scrolled = () => reader.scrolled()
    const sized = new ResizeObserver(() => reader.follow.peek() && reader.toEnd())
    if (ref.current) sized.observe(ref.current)
    addEventListener('scroll', scrolled, { passive: true })
    return () => {
      sized.disconnect()
      removeEventListener('scroll', scrolled)
      reader.element = undefined
    }
  }, [reader])
  return (
    <div class="reading" ref={ref}>
      <div class="reading-text" role="log" aria-live="off" aria-label="What was said" onClick={() => reader.stay()}>
        {parts.map((part) => (
          <section key={part.title} class="part">
            <h2>{part.title}</h2>
            {grouped(part.blocks, watched).map((each) =>
              Array.isArray(each) ? <Many key={each[0]?.key} blocks={each} watched={watched} /> : <Spoken key={each.key} block={each} watched={watched} />,
            )}
          </section>
        ))}
        {!parts.length && <p class="hush">Nothing said yet.</p>}
      </div>
      <Jump lane={reader} watched={watched} />
    </div>
  )
}

const FEW = 3

/** Where the parts are; the one that is being played is marked. */
export function Parts({ watched }: { watched: Watched }) {
  const parts = partsOf(watched)
  const live = watched.speaking.value.size > 0
  if (parts.length < FEW) return null
  return (
    <nav class="chart parts" aria-label="Parts of the debate">
      <ol>
        {parts.map(({ title }, at) => (
          <li key={title} aria-current={live && at === parts.length - 1 ? 'step' : undefined}>
            <button class="link" onClick={() => document.querySelectorAll('.part')[at]?.scrollIntoView({ block: 'start' })}>{title}</button>
          </li>
        ))}
      </ol>
    </nav>
  )
}

function Spoken({ block, watched }: { block: Block; watched: Watched }) {
  const index = seatIndex(watched.debate.value, block.seat)
  if (index < 0) return <div class="aside-block"><BlockView block={block} watched={watched} named /></div>
  return (
    <div class={`voice-block ${seatClass(index)}`} data-seat={block.seat}>
      <Mark index={index} />
      <BlockView block={block} watched={watched} named />
    </div>
  )
}
