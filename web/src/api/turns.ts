import { useRef } from 'preact/hooks'
import { type Loaded, useLoad } from '../ui/load'
import { call } from './client'
import type { DebateSummary, Turn } from './generated'

const PAGE = 1000

/** All turns after one, page by page. */
export async function turnsAfter(debate_id: string, after: number, { html = false, signal }: { html?: boolean; signal?: AbortSignal } = {}): Promise<Turn[]> {
  const turns: Turn[] = []
  for (let from: number | null = after; from !== null; ) {
    const page: { items: Turn[]; next: number | null } = await call('listTurns', {
      params: { debate_id },
      query: { after: from, html, limit: PAGE },
      ...(signal && { signal }),
    })
    turns.push(...page.items)
    from = page.next
  }
  return turns
}

/** All turns of a debate; when there are more, only these are asked for. */
export function useTurns({ id, turns }: Pick<DebateSummary, 'id' | 'turns'>): Loaded<Turn[]> {
  const known = useRef<Turn[]>([])
  return useLoad(
    async (signal) => {
      const more = await turnsAfter(id, known.current.at(-1)?.seq ?? 0, { signal })
      if (!signal.aborted) known.current = [...known.current, ...more]
      return known.current
    },
    [id, turns],
  )
}
