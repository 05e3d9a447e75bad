import { useEffect, useState } from 'preact/hooks'
import { address, call } from '../api/client'
import type { EvaluationCell, EvaluationReport } from '../api/generated'
import { Arms, Changes, Comparisons, Curve } from '../evaluations/charts'
import { Link } from '../router'
import { Icon } from '../ui/icons'
import { useLoad } from '../ui/load'
import { Empty, Failed, Loading, tellError } from '../ui/parts'
import { ago, count, exactly, modelName, money, plural, short } from '../ui/words'

export function EvaluationsPage() {
  const found = useLoad((signal) => call('listEvaluations', { signal }), [])
  useEffect(() => {
    document.title = 'Evaluations · moot'
  }, [])
  return (
    <div class="page">
      <div class="page-head">
        <div>
          <h1>Evaluations</h1>
          <p class="lead">Whether a debate beats samples of the same model at equal cost.</p>
        </div>
      </div>
      {found.error ? <Failed error={found.error} again={found.again} /> : !found.value ? <Loading /> : found.value.items.length === 0 ? (
        <Empty title="There are no evaluations."><p>They are begun at the command line of the server.</p></Empty>
      ) : (
        <ul class="debates evaluations">
          {found.value.items.map((each) => (
            <li key={each.id}>
              <Link class="row" href={`/evaluations/${each.id}`} data-id={each.id}>
                <span class="row-status">{each.completed === each.cells ? <span class="status good"><Icon name="check" /> Complete</span> : <span class="status">{each.stopped ? 'Stopped' : 'Under way'}</span>}</span>
                <span class="row-main"><span class="row-topic">{each.task}</span><span class="row-under">{count(each.completed)} of {plural(each.cells, 'debate')}</span></span>
                <span class="dim num">{short(each.id)}</span>
                <span class="row-when dim" title={exactly(each.created_at)}>{ago(each.created_at)}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

export function EvaluationPage({ id }: { id: string }) {
  const found = useLoad((signal) => call('getEvaluation', { params: { evaluation_id: id }, signal }), [id])
  const report = found.value
  useEffect(() => {
    document.title = `${report?.task ?? 'Evaluation'} · moot`
  }, [report?.task])
  if (found.error) return <div class="page"><Failed error={found.error} again={found.again} /></div>
  if (!report) return <div class="page"><Loading what="Working out the report" /></div>
  return (
    <div class="page evaluation">
      <div class="page-head">
        <div>
          <h1>{report.task}</h1>
          <p class="lead">{aboutOf(report)} {report.demonstration && <span class="tag bad"><Icon name="warn" /> Demonstration: this means nothing</span>}</p>
        </div>
        <a class="button" href={address('getEvaluationFile', { evaluation_id: report.id })} download><Icon name="copy" /> Save as one HTML file</a>
      </div>
      <LeftOut report={report} />
      {report.complete > 0 && (
        <>
          <section aria-label="Findings" class="findings">
            {report.comparisons.map((each) => <p key={`${each.arm}/${each.baseline}`} class={`finding ${each.finding === 'helped' ? 'good' : each.finding === 'hurt' ? 'bad' : ''}`}>{each.sentence}</p>)}
            {report.grading && <p class="dim">{report.grading}</p>}
            {report.advice && <p class="dim">{report.advice}</p>}
            {report.can_show && <p class="dim">{report.can_show}</p>}
          </section>
          <Arms report={report} />
          <Comparisons report={report} />
          <Curve report={report} />
          <Changes report={report} />
          <Answers report={report} />
        </>
      )}
    </div>
  )
}

function aboutOf(report: EvaluationReport): string {
  const { usd, tokens_out } = report.spent
  return [
    `${count(report.complete)} of ${plural(report.items, 'item')} complete`,
    `by ${[...new Set(report.models.map(modelName))].join(', ') || 'no model yet'}`,
    `${money(usd)}, ${count(tokens_out)} tokens written`,
  ].join(' · ')
}

/** Items that do not count, and why: cut, failed, or without a grade. */
function LeftOut({ report }: { report: EvaluationReport }) {
  const { missing, failed, failed_count } = report
  if (missing.length === 0) return null
  return (
    <section aria-label="Left out">
      <h2>Left out</h2>
      <div class="left-out">{missing.length === 1 ? <p>{missing[0]}</p> : <ul>{missing.map((each) => <li key={each}>{each}</li>)}</ul>}</div>
      {report.cut_by && <p class="dim">Go on at the command line of the server{report.cut_by === 'budget' && ', with a larger budget'}: <code>moot eval resume {short(report.id)}</code></p>}
      {failed.length > 0 && (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Table of debates that failed">
          <table>
            <thead><tr><th>Item</th><th>Arm</th><th>Cause</th><th>Debate</th></tr></thead>
            <tbody>
              {failed.map((each) => (
                <tr key={each.debate}>
                  <td>{each.item}{report.epochs > 1 && <span class="dim"> · {each.epoch}</span>}</td>
                  <td>{each.arm}</td>
                  <td class="cause" dir="auto">{each.cause}</td>
                  <td>{each.deleted ? short(each.debate) : <Link href={`/debates/${each.debate}`}>{short(each.debate)}</Link>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {failed_count > failed.length && <p class="dim">The first {count(failed.length)} of {plural(failed_count, 'debate')} that failed. The saved HTML file has them all.</p>}
    </section>
  )
}

const PAGE = 100

/** Every answer with its debate, a page at a time. */
function Answers({ report }: { report: EvaluationReport }) {
  const [arm, setArm] = useState('')
  const [which, setWhich] = useState<'' | 'wrong' | 'none'>('')
  const [cells, setCells] = useState<EvaluationCell[]>([])
  const [next, setNext] = useState<number | null>(0)
  const load = async (after: number, signal?: AbortSignal) => {
    try {
      const query = { limit: PAGE, after, ...(arm && { arm }), ...(which === 'wrong' && { right: false }), ...(which === 'none' && { answered: false }) }
      const page = await call('listCells', { params: { evaluation_id: report.id }, query, ...(signal && { signal }) })
      setCells((old) => (after ? [...old, ...page.items] : page.items))
      setNext(page.next ?? null)
    } catch (error) {
      if (!signal?.aborted) tellError(error)
    }
  }
  useEffect(() => {
    const abort = new AbortController()
    void load(0, abort.signal)
    return () => abort.abort()
  }, [report, arm, which])
  return (
    <section aria-label="Answers">
      <h2>Answers</h2>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span class="unseen">Arm</span>
          <select value={arm} onChange={(event) => setArm(event.currentTarget.value)}>
            <option value="">Any arm</option>
            {Object.keys(report.arms).map((each) => <option key={each} value={each}>{each}</option>)}
          </select>
        </label>
        <label>
          <span class="unseen">Answers</span>
          <select value={which} onChange={(event) => setWhich(event.currentTarget.value as typeof which)}>
            <option value="">Any answer</option>
            <option value="wrong">Only wrong ones</option>
            <option value="none">Only abstentions</option>
          </select>
        </label>
      </form>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Table of answers">
        <table>
          <thead><tr><th>Item</th><th>Arm</th><th>Answer</th><th>Right</th><th>Debate</th></tr></thead>
          <tbody>
            {cells.map((each) => (
              <tr key={each.debate}>
                <td>{each.item}{report.epochs > 1 && <span class="dim"> · {each.epoch}</span>}</td>
                <td>{each.arm}</td>
                <td class="cell-answer" dir="auto" title={each.answer ?? undefined}>{each.answer ?? <span class="dim">none: counts as wrong</span>}</td>
                <td class={each.right ? 'mark-cell good' : 'mark-cell bad'}>{each.right ? '✓' : '✗'}<span class="unseen">{each.right ? ' right' : ' wrong'}</span></td>
                <td><Link href={`/debates/${each.debate}`}>{short(each.debate)}</Link></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {next === null && cells.length === 0 && <p class="dim">No such answers.</p>}
      {next !== null && next > 0 && <button class="more" onClick={() => void load(next)}>More answers</button>}
    </section>
  )
}
