import { useState } from 'preact/hooks'
import type { DebateSummary } from '../api/generated'
import { may } from '../session'
import { Icon } from '../ui/icons'
import { ShareDialog } from './share'

/** Buttons of a debate's page for what people do with it afterwards. */
export function PeopleActions({ debate }: { debate: DebateSummary }) {
  const [asking, setAsking] = useState<'share' | undefined>()
  if (!may('run')) return null
  return (
    <>
      <button onClick={() => setAsking('share')}><Icon name="share" /> Share</button>
      {asking === 'share' && <ShareDialog debate={debate} close={() => setAsking(undefined)} />}
    </>
  )
}
