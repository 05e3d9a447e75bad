import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { ComparePage } from './pages/compare'
import { DebatePage } from './pages/debate'
import { EvaluationPage, EvaluationsPage } from './pages/evaluations'
import { HistoryPage } from './pages/history'
import { ListPage } from './pages/list'
import { LoginPage } from './pages/login'
import { NewPage } from './pages/new'
import { RecordPage } from './pages/record'
import { Link, match, path } from './router'
import { whoAmI } from './session'
import { Shell } from './shell'

function Page() {
  const at = path.value
  let found: Record<string, string> | undefined
  if (match('/', at)) return <ListPage />
  if (match('/new', at)) return <NewPage />
  if (match('/history', at)) return <HistoryPage />
  if (match('/evaluations', at)) return <EvaluationsPage />
  if ((found = match('/evaluations/:id', at))) return <EvaluationPage key={found.id} id={found.id ?? ''} />
  if (match('/login', at)) return <LoginPage />
  if (match('/compare', at)) return <ComparePage />
  if ((found = match('/compare/:one/:two', at))) return <ComparePage one={found.one} two={found.two} />
  if ((found = match('/debates/:id', at))) return <DebatePage key={found.id} id={found.id ?? ''} />
  if ((found = match('/debates/:id/record', at))) return <RecordPage key={found.id} id={found.id ?? ''} />
  return <div class="page"><div class="page-head"><h1>There is nothing here</h1></div><Link href="/">To the debates</Link></div>
}

function App() {
  useEffect(() => void whoAmI(), [])
  return (
    <Shell>
      <Page />
    </Shell>
  )
}

// On paper nothing is folded.
addEventListener('beforeprint', () => document.querySelectorAll('details').forEach((each) => (each.open = true)))

const root = document.getElementById('app')
if (root) render(<App />, root)
