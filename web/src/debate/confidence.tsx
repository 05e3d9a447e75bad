/** How sure the record is, in dots and in a word. */
export function Confidence({ level }: { level: string }) {
  return <span class={`confidence-level ${level.toLowerCase()}`}>{level} confidence</span>
}
