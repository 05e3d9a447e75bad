import { useState } from 'preact/hooks'
import type { Debate } from '../api/generated'
import { Link } from '../router'
import { may } from '../session'
import { Icon } from '../ui/icons'
import { short } from '../ui/words'
import { FurtherDialog } from './further'
import { ShareDialog } from './share'

/** What people do with a debate afterwards: ask further, share; and what it was asked after. */
export function PeopleActions({ debate }: { debate: Debate }) {
  const [asking, setAsking] = useState<'further' | 'share' | undefined>()
  const close = () => setAsking(undefined)
  return (
    <>
      {debate.follows && <span class="dim">Asked after <Link href={`/debates/${debate.follows}`}>{short(debate.follows)}</Link></span>}
      {may('run') && debate.outcome && <button onClick={() => setAsking('further')}><Icon name="speak" /> Ask further</button>}
      {may('run') && <button onClick={() => setAsking('share')}><Icon name="share" /> Share</button>}
      {asking === 'further' && <FurtherDialog debate={debate} close={close} />}
      {asking === 'share' && <ShareDialog debate={debate} close={close} />}
    </>
  )
}
