import { useState } from 'preact/hooks'
import { call, loggedIn, said } from '../api/client'
import { go, query } from '../router'
import { me } from '../session'
import { Failed } from '../ui/parts'

export function LoginPage() {
  const [token, setToken] = useState('')
  const [error, setError] = useState('')
  const login = async () => {
    try {
      me.value = await call('login', { body: { token: token.trim() } })
      loggedIn()
      const next = query.peek().get('next') ?? '/'
      go(next.startsWith('/') && !next.startsWith('//') ? next : '/', { replace: true })
    } catch (problem) {
      setError(said(problem))
    }
  }
  return (
    <div class="page login">
      <h1>Log in</h1>
      <p class="lead">This server demands a token. Ask its operator for one.</p>
      <form class="stacked card" onSubmit={(event) => (event.preventDefault(), void login())}>
        <label>
          <span>Token</span>
          <input type="password" autocomplete="current-password" required value={token} onInput={(event) => setToken(event.currentTarget.value)} placeholder="moot_…" />
        </label>
        {error && <Failed error={error} />}
        <button class="primary">Log in</button>
      </form>
    </div>
  )
}
