import { useState } from 'preact/hooks'
import { address, call } from '../api/client'
import type { DebateSummary } from '../api/generated'
import { Icon } from '../ui/icons'
import { useLoad } from '../ui/load'
import { Dialog, tell, tellError } from '../ui/parts'
import { ago, exactly, short } from '../ui/words'

const ENDS: Array<[days: string, word: string]> = [['7', 'in a week'], ['30', 'in 30 days'], ['', 'never']]

/** Links that show a debate and nothing else, and the debate as one file. */
export function ShareDialog({ debate, close }: { debate: Pick<DebateSummary, 'id' | 'private'>; close: () => void }) {
  const params = { debate_id: debate.id }
  const shares = useLoad((signal) => call('listShares', { params, signal }), [debate.id])
  const [days, setDays] = useState('7')
  const [link, setLink] = useState('')
  const make = async () => {
    try {
      const made = await call('shareDebate', { params, body: { expires_in_days: days ? Number(days) : null } })
      setLink(location.origin + made.path)
      shares.again()
    } catch (error) {
      tellError(error)
    }
  }
  const revoke = async (id: string) => {
    try {
      await call('unshareDebate', { params: { ...params, share_id: id } })
      setLink('')
      shares.again()
    } catch (error) {
      tellError(error)
    }
  }
  const copy = () => {
    navigator.clipboard?.writeText(link).then(() => tell('The link is in the clipboard.'), () => tell('This browser does not let pages use the clipboard.', true))
  }
  return (
    <Dialog title="Share" onClose={close}>
      <p class="lead">Everyone who has a link sees this debate{debate.private && ', though it is private'}: its answer, its record and what was said, and nothing else of this server. They can change nothing.</p>
      {shares.error ? <p class="problem"><Icon name="warn" /> {shares.error}</p> : (
        <form class="share-make" onSubmit={(event) => (event.preventDefault(), void make())}>
          <label>
            <span>It ends</span>
            <select value={days} onChange={(event) => setDays(event.currentTarget.value)}>
              {ENDS.map(([value, word]) => <option key={value} value={value}>{word}</option>)}
            </select>
          </label>
          <button class="primary"><Icon name="link" /> Make a link</button>
        </form>
      )}
      {link && (
        <div class="share-link">
          <input readOnly value={link} aria-label="The link" onFocus={(event) => event.currentTarget.select()} />
          <button onClick={copy}>Copy</button>
          <small>It is shown this once.</small>
        </div>
      )}
      {shares.value && shares.value.items.length > 0 && (
        <ul class="shares" aria-label="Links that are valid">
          {shares.value.items.map((each) => (
            <li key={each.id}>
              <span>{short(each.id)}, made {ago(each.created_at)}{each.expires_at !== null && <>, until <span title={exactly(each.expires_at)}>{exactly(each.expires_at)}</span></>}, {each.last_used_at === null ? 'not used yet' : `used ${ago(each.last_used_at)}`}</span>
              <button class="small" onClick={() => void revoke(each.id)} aria-label={`Revoke the link ${short(each.id)}`}>Revoke</button>
            </li>
          ))}
        </ul>
      )}
      <p class="share-file"><a class="button" href={address('getDocument', params)} download={`moot-${short(debate.id)}.html`}><Icon name="export" /> Save as one HTML file</a></p>
    </Dialog>
  )
}
