type Kind = 'added' | 'removed' | 'same' | 'place' | 'file'
interface Line { text: string; kind: Kind }

/** The lines of a unified diff. A hunk says how many lines it has: a removed line that begins with dashes is no name of a
 * file. */
function linesOf(diff: string): Line[] {
  let before = 0
  let after = 0
  return diff.replace(/\n$/, '').split('\n').map((text) => {
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(text)
    if (hunk && before <= 0 && after <= 0) {
      before = Number(hunk[1] ?? 1)
      after = Number(hunk[2] ?? 1)
      return { text, kind: 'place' }
    }
    if (text.startsWith('\\')) return { text, kind: 'same' } // "No newline at end of file"
    if (before <= 0 && after <= 0) return { text, kind: 'file' }
    const kind = text.startsWith('+') ? 'added' : text.startsWith('-') ? 'removed' : 'same'
    if (kind !== 'added') before--
    if (kind !== 'removed') after--
    return { text, kind }
  })
}

/** Lines that came and went; signs say it beside the colour. Of one file, its name is left out. */
export function Diff({ text, label = 'What it changes' }: { text: string; label?: string }) {
  const lines = linesOf(text)
  const files = lines.filter((line) => line.kind === 'file' && line.text.startsWith('+++ ')).length
  return (
    <pre class="diff" tabIndex={0} role="region" aria-label={label}>
      {lines.filter(({ kind }) => files > 1 || kind !== 'file').map((line, at) => <span key={at} class={line.kind}>{line.text}{'\n'}</span>)}
    </pre>
  )
}

/** "1 added, 2 removed". */
export function changesOf(diff: string): string {
  const lines = linesOf(diff)
  return `${lines.filter(({ kind }) => kind === 'added').length} added, ${lines.filter(({ kind }) => kind === 'removed').length} removed`
}

export function CodeText({ text, label }: { text: string; label: string }) {
  return <pre class="answer-code" tabIndex={0} role="region" aria-label={label}><code>{text}</code></pre>
}
