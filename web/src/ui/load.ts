import { useEffect, useState } from 'preact/hooks'
import { Refusal, said } from '../api/client'

export interface Loaded<T> {
  value: T | undefined
  error: string | undefined
  again: () => void
}

const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 10_000

/** What `fetch` gives, again whenever `on` changes; what comes too late is dropped. While the server can't be reached,
 * it is asked again and again. */
export function useLoad<T>(fetch: (signal: AbortSignal) => Promise<T>, on: unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: string }>({})
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const abort = new AbortController()
    let wait = FIRST_WAIT_MS
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = () => {
      fetch(abort.signal).then(
        (value) => abort.signal.aborted || setState({ value }),
        (error: unknown) => {
          if (abort.signal.aborted) return
          setState((old) => ({ ...old, error: said(error) }))
          if (!(error instanceof Refusal) || error.slug !== 'unreachable') return
          timer = setTimeout(load, wait)
          wait = Math.min(wait * 2, LONGEST_WAIT_MS)
        },
      )
    }
    load()
    return () => (clearTimeout(timer), abort.abort())
  }, [...on, turn])
  return { value: state.value, error: state.error, again: () => setTurn(turn + 1) }
}
