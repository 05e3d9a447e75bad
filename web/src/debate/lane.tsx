import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from '../ui/icons'
import { modelName } from '../ui/words'
import { BlockView } from './block'
import { grouped, Many } from './many'
import { Mark, seatClass, seatIndex } from './seats'
import { type Lane, TABLE, type Watched } from './watched'

export function LaneView({ lane, watched, title }: { lane: Lane; watched: Watched; title: string }) {
  const debate = watched.debate.value
  const table = lane.id === TABLE
  const index = table ? -1 : seatIndex(debate, lane.id)
  const seat = debate.seats.find((each) => each.id === lane.id)
  const stance = seat?.stance
  const badge = watched.badges.value[lane.id]
  return (
    <section class={`lane ${seatClass(index)}`} aria-label={title} data-lane={lane.id}>
      <header class="lane-head">
        {!table && <Mark index={index} />}
        <div>
          <h2>{title}</h2>
          <p>
            {stance && <b>{stance}</b>}
            {stance && ' · '}
            {seat ? modelName(seat.model) : debate.seats.filter((each) => !each.voice).map((each) => modelName(each.model))[0]}
          </p>
        </div>
        {badge && <span class="tag badge">{badge}</span>}
        <Speaking lane={lane} watched={watched} />
      </header>
      <Blocks lane={lane} watched={watched} title={title} />
    </section>
  )
}

function Speaking({ lane, watched }: { lane: Lane; watched: Watched }) {
  const speaking = watched.speaking.value
  const own = lane.id !== TABLE ? speaking.has(lane.id) : [...speaking].some((seat) => !watched.lanes.has(seat))
  return own ? <span class="speaking"><i /><i /><i /><span class="unseen">is writing</span></span> : null
}

function Blocks({ lane, watched, title }: { lane: Lane; watched: Watched; title: string }) {
  const ref = useRef<HTMLDivElement>(null)
  const blocks = lane.blocks.value
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    lane.element = element
    // A question that appears above makes it smaller: a reader at the end stays there.
    const sized = new ResizeObserver(() => lane.follow.peek() && lane.toEnd())
    sized.observe(element)
    return () => {
      sized.disconnect()
      lane.element = undefined
    }
  }, [lane])
  useLayoutEffect(() => lane.toEnd(), [blocks])
  return (
    <div class="lane-body">
      <div
        ref={ref}
        class="blocks"
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={`What ${title} said`}
        onScroll={() => lane.scrolled()}
        onClick={() => lane.stay()}
      >
        {grouped(blocks, watched).map((each) =>
          Array.isArray(each) ? <Many key={each[0]?.key} blocks={each} watched={watched} /> : <BlockView key={each.key} block={each} watched={watched} named={lane.id === TABLE} />,
        )}
        {!blocks.length && <p class="hush">Nothing said yet.</p>}
      </div>
      <Jump lane={lane} watched={watched} />
    </div>
  )
}

/** Shown when there is something new below that its reader has not come to. */
export function Jump({ lane, watched }: { lane: Lane; watched: Watched }) {
  const over = watched.debate.value.status === 'completed' || watched.debate.value.status === 'canceled'
  if (lane.follow.value || !lane.unread.value || over) return null
  return (
    <button class="jump" onClick={() => jump(lane)}>
      <Icon name="down" /> Jump to live
    </button>
  )
}

export function jump(lane: Lane): void {
  lane.follow.value = true
  lane.unread.value = false
  lane.toEnd()
}
