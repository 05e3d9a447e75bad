import { call } from '../api/client'
import type { DebateSummary, LabelChanges } from '../api/generated'
import { tell, tellError } from '../ui/parts'
import { cut } from '../ui/words'

/** What people call a debate: its title, or else its question. */
export const nameOf = ({ title, topic }: Pick<DebateSummary, 'title' | 'topic'>): string => title || topic

/** Change labels and say so; undefined when it was refused. */
export async function label(debate: DebateSummary, changes: LabelChanges, said: string): Promise<DebateSummary | undefined> {
  try {
    const now = await call('labelDebate', { params: { debate_id: debate.id }, body: changes })
    tell(`“${cut(nameOf(now), 60)}” ${said}.`)
    return now
  } catch (error) {
    tellError(error)
    return undefined
  }
}

export const tagsIn = (text: string): string[] => text.split(',').map((each) => each.trim()).filter(Boolean)
