import { useState } from 'preact/hooks'
import { call } from '../api/client'
import type { Version } from '../api/generated'
import { useLoad } from '../ui/load'
import { Empty, Failed, Loading } from '../ui/parts'
import { Beside } from './beside'
import { CodeText, Diff } from './code'
import { Mark, seatClass, seatIndex } from './seats'
import type { Watched } from './watched'

const percent = (share: number | null): string => (share === null ? 'not run' : `${Math.round(share * 100)}%`)

/** Every version of the code: whose it is, what it passes, and what it changes. */
export function Versions({ watched }: { watched: Watched }) {
  const { id, turns } = watched.debate.value
  const loaded = useLoad((signal) => call('listVersions', { params: { debate_id: id }, signal }), [id, turns])
  if (loaded.error) return <Failed error={loaded.error} again={loaded.again} />
  if (!loaded.value) return <Loading />
  if (!loaded.value.items.length) return <Empty title="No code has been written yet." />
  const all = loaded.value.items
  return (
    <div class="versions">
      {all.length > 1 && <Beside all={all} watched={watched} />}
      {all.map((each) => <OneVersion key={each.id} version={each} all={all} watched={watched} />)}
    </div>
  )
}

function OneVersion({ version, all, watched }: { version: Version; all: Version[]; watched: Watched }) {
  const [open, setOpen] = useState(false)
  const index = seatIndex(watched.debate.value, version.author)
  const parent = all.find((each) => each.id === version.parent)
  return (
    <article class={`card version ${seatClass(index)}`}>
      <header>
        <h2><Mark index={index} /> {version.label} <span class="dim">by {watched.name(version.author)}{parent && `, changes ${parent.label}`}</span></h2>
        <p class="notes"><b>{percent(version.test_pass_rate)}</b> of its tests <span class="tag">quality {version.quality_score === null ? 'not measured' : version.quality_score.toFixed(2)}</span></p>
      </header>
      {version.diff_from_previous && <Diff text={version.diff_from_previous} label={`What ${version.label} changes`} />}
      <button class="small" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'Hide the code' : 'Show the code'}</button>
      {open && <Code id={watched.debate.value.id} version={version} />}
    </article>
  )
}

function Code({ id, version }: { id: string; version: Version }) {
  const loaded = useLoad((signal) => call('listVersions', { params: { debate_id: id }, query: { number: version.number }, signal }), [id, version.number])
  if (loaded.error) return <Failed error={loaded.error} again={loaded.again} />
  return loaded.value ? <CodeText text={loaded.value.items[0]?.code ?? ''} label={`Code of ${version.label}`} /> : <Loading />
}
