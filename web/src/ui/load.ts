import { useEffect, useState } from 'preact/hooks'
import { said } from '../api/client'

export interface Loaded<T> {
  value: T | undefined
  error: string | undefined
  again: () => void
}

/** What `fetch` gives, again whenever `on` changes; what comes too late is dropped. */
export function useLoad<T>(fetch: (signal: AbortSignal) => Promise<T>, on: unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: string }>({})
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const abort = new AbortController()
    fetch(abort.signal).then(
      (value) => abort.signal.aborted || setState({ value }),
      (error: unknown) => abort.signal.aborted || setState((old) => ({ ...old, error: said(error) })),
    )
    return () => abort.abort()
  }, [...on, turn])
  return { value: state.value, error: state.error, again: () => setTurn(turn + 1) }
}
