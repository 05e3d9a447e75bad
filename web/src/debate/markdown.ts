// The few marks of Markdown that models use most, while the server has not rendered them yet. Text only ever becomes text
// nodes: nothing in it can be HTML.
const INLINE = /\*\*([^*]+)\*\*|__([^_]+)__|`([^`]+)`|\*([^*\s][^*]*)\*/g
const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+/

/** A piece of a paragraph without its marks, to follow `before`. */
export function plain(text: string, before: string): string {
  const begins = !before || before.endsWith('\n')
  const marked = text.replaceAll('**', '').replaceAll('`', '')
  return marked.replace(begins ? /(^|\n)(?:#{1,6} |> )/g : /(\n)(?:#{1,6} |> )/g, '$1').replace(begins ? /(^|\n)[-*+] /g : /(\n)[-*+] /g, '$1• ')
}

function inline(text: string): Node[] {
  const nodes: Node[] = []
  let at = 0
  for (const found of text.matchAll(INLINE)) {
    if (found.index > at) nodes.push(document.createTextNode(text.slice(at, found.index)))
    const [whole, strong, other, code, emphasis] = found
    const element = document.createElement(code !== undefined ? 'code' : emphasis !== undefined ? 'em' : 'strong')
    element.append(code ?? emphasis ?? strong ?? other ?? '')
    nodes.push(element)
    at = found.index + whole.length
  }
  if (at < text.length) nodes.push(document.createTextNode(text.slice(at)))
  return nodes
}

function element(name: string, text: string): HTMLElement {
  const made = document.createElement(name)
  made.append(...inline(text))
  return made
}

/** A whole paragraph. */
export function formatted(text: string): HTMLElement {
  const lines = text.split('\n')
  const first = lines[0] ?? ''
  if (first.startsWith('```')) {
    const code = document.createElement('pre')
    code.append(lines.slice(1).join('\n').replace(/\n?```\s*$/, ''))
    return code
  }
  const heading = /^#{1,6}\s+(.*)$/.exec(first)
  if (heading && lines.length === 1) return element('h4', heading[1] ?? '')
  if (lines.every((line) => ITEM.test(line))) {
    const list = document.createElement(/^\s*\d/.test(first) ? 'ol' : 'ul')
    list.append(...lines.map((line) => element('li', line.replace(ITEM, ''))))
    return list
  }
  if (lines.every((line) => line.startsWith('>'))) return element('blockquote', lines.map((line) => line.replace(/^>\s?/, '')).join('\n'))
  return element('p', text)
}
