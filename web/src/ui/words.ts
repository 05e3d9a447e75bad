// Numbers, times and names as people read them.
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const plain = new Intl.NumberFormat('en')
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' })
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const moment = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })

export const count = (value: number): string => (value < 10_000 ? plain.format(value) : compact.format(value))

export function money(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return 'price unknown'
  if (usd === 0) return '$0'
  if (usd < 0.01) return `$${usd.toFixed(4)}`
  return `$${usd.toFixed(usd < 1 ? 3 : 2)}`
}

export function seconds(value: number): string {
  if (value < 9.95) return `${value.toFixed(1)} s`
  const whole = Math.round(value)
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes} min${whole % 60 ? ` ${whole % 60} s` : ''}`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export const exactly = (time: number): string => moment.format(time * 1000)
export const atTime = (time: number): string => clock.format(time * 1000)

export function ago(time: number, now = Date.now() / 1000): string {
  const past = now - time
  if (past < 45) return 'just now'
  if (past < 90 * 60) return `${Math.max(1, Math.round(past / 60))} min ago`
  if (past < 24 * 3600) return `${Math.round(past / 3600)} h ago`
  if (past < 7 * 86_400) return `${Math.round(past / 86_400)} d ago`
  return day.format(time * 1000)
}

export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
export const spaced = (name: string): string => capital(name.replaceAll('_', ' '))
export const LONG = 160 // characters of a question that need smaller type
export const short = (id: string): string => id.slice(0, 8)

export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`
}

/** A model as a label: without its options, address and folders, which can be long. Of a cascade, the first. */
export function modelName(spec: string): string {
  const [first = '', ...rest] = spec.split('|')
  const plain = first.replace(/\?.*$/, '').replace(/@\w+:\/\/.*$/, '').replace(/:$/, '').replace(/:[^@|]*\/(?=[^/]+\.ya?ml$)/, ':')
  return `${plain || spec}${rest.length ? ` and ${plural(rest.length, 'other')}` : ''}`
}
