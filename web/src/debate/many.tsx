import { plural } from '../ui/words'
import { BlockView, phaseName } from './block'
import { isOpen, foldAt } from './folds'
import type { Block, Watched } from './watched'

const MOST = 4 // of the same kind in a row that are shown one by one

/** Blocks in their order; many of the same kind in a row, by seats that don't speak on stage, are one fold. */
export function grouped(blocks: Block[], watched: Watched): Array<Block | Block[]> {
  const voices = new Set(watched.voices.value)
  const runs: Block[][] = []
  for (const block of blocks) {
    const last = runs.at(-1)
    const like = last?.[0]
    if (like && block.seat && !voices.has(block.seat) && like.type === block.type && like.phase === block.phase) last.push(block)
    else runs.push([block])
  }
  return runs.flatMap((run) => (run.length > MOST ? [run] : run))
}

/** What most of them say, with the others in a fold. */
export function Many({ blocks, watched }: { blocks: Block[]; watched: Watched }) {
  const [first] = blocks as [Block, ...Block[]]
  const debate = watched.debate.value
  const name = `${debate.id.slice(0, 8)}/many/${first.key}`
  const said = new Map<string, number>()
  for (const { event, turn } of blocks) {
    const words = turn?.failure ? debate.vocabulary.events[first.type]?.failed : event?.caption?.notes[0]?.text
    if (words) said.set(words, (said.get(words) ?? 0) + 1)
  }
  const most = [...said].sort((one, two) => two[1] - one[1]).slice(0, 4)
  return (
    <details class="many" open={isOpen(name, blocks.some((block) => block.key === location.hash.slice(1)))}>
      <summary onClick={(event) => foldAt(event, name)}>
        <strong>{plural(blocks.length, phaseName(debate, first.phase).toLowerCase())}</strong>
        {most.map(([words, times]) => <span key={words} class="tag">{words} <b class="num">{times}</b></span>)}
      </summary>
      {blocks.map((block) => <BlockView key={block.key} block={block} watched={watched} named />)}
    </details>
  )
}
