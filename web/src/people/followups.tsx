import { call } from '../api/client'
import type { Debate } from '../api/generated'
import { Link } from '../router'
import { useLoad } from '../ui/load'
import { Status } from '../ui/status'
import { nameOf } from './labels'

const MOST = 5

/** Questions that were asked after this debate, each with its answer. */
export function FollowUps({ debate }: { debate: Debate }) {
  const found = useLoad((signal) => call('listDebates', { query: { follows: debate.id, limit: MOST }, signal }), [debate.id]).value
  if (!found?.items.length) return null
  return (
    <section class="followups" aria-label="Asked further">
      <h2>Asked further</h2>
      <ul>
        {found.items.map((each) => (
          <li key={each.id}>
            <Link href={`/debates/${each.id}`} dir="auto">{nameOf(each)}</Link>
            {each.headline ? <span class="dim" dir="auto">{each.headline}</span> : <Status debate={each} />}
          </li>
        ))}
      </ul>
      {found.next && <Link href={`/?follows=${debate.id}`}>All questions that were asked further</Link>}
    </section>
  )
}
