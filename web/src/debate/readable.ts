/** Typed answers arrive as JSON. While they do, this gives only the words in them: the text of string values, with a
 * paragraph between two. What is not JSON passes through as it is. Feed it piece by piece. */
export class Readable {
  private json: boolean | undefined
  private inText = false
  private escape = '' // an escape sequence that has begun
  private isKey = false
  private readonly nests: Array<{ object: boolean; wantsKey: boolean }> = []
  private empty = true
  private fresh = false

  feed(piece: string): string {
    if (this.json === undefined) {
      const first = piece.trimStart().charAt(0)
      if (!first) return ''
      this.json = first === '{'
    }
    if (!this.json) return piece
    let out = ''
    for (const char of piece) out += this.inText ? this.inside(char) : this.outside(char)
    return out
  }

  private outside(char: string): string {
    const nest = this.nests.at(-1)
    if (char === '{' || char === '[') this.nests.push({ object: char === '{', wantsKey: char === '{' })
    else if (char === '}' || char === ']') this.nests.pop()
    else if (char === ':' && nest) nest.wantsKey = false
    else if (char === ',' && nest) nest.wantsKey = nest.object
    else if (char === '"') {
      this.inText = true
      this.isKey = nest?.wantsKey ?? false
      this.fresh = true
    }
    return ''
  }

  private inside(char: string): string {
    let said = char
    if (this.escape) {
      this.escape += char
      if (this.escape[1] === 'u' && this.escape.length < 6) return ''
      said = unescaped(this.escape)
      this.escape = ''
    } else if (char === '\\') {
      this.escape = char
      return ''
    } else if (char === '"') {
      this.inText = false
      return ''
    }
    if (this.isKey) return ''
    const before = this.fresh && !this.empty ? '\n\n' : ''
    this.fresh = this.empty = false
    return before + said
  }
}

function unescaped(sequence: string): string {
  try {
    return JSON.parse(`"${sequence}"`) as string
  } catch {
    return ''
  }
}
