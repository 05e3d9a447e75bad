/** Two texts line by line: what stands beside what. A side without a line has none. */
export interface Pair { before: number | undefined; after: number | undefined } // numbers of lines, from 0
export interface Aligned { before: string[]; after: string[]; pairs: Pair[]; exact: boolean } // exact: false if it was too much to compare

const MOST_CELLS = 4_000_000 // of the table that is filled: two texts of 2,000 changed lines

export const linesOf = (text: string): string[] => {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** The longest common lines stand beside each other; between them, what went stands beside what came. */
export function aligned(one: string, two: string): Aligned {
  const before = linesOf(one)
  const after = linesOf(two)
  const pairs: Pair[] = []
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) pairs.push({ before: start, after: start++ })
  let end = 0
  while (end < before.length - start && end < after.length - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  const [rows, columns] = [before.length - start - end, after.length - start - end]
  const exact = rows * columns <= MOST_CELLS
  const common = exact ? commonLines(before.slice(start, start + rows), after.slice(start, start + columns)) : []
  let [i, j] = [0, 0]
  for (const [a, b] of [...common, [rows, columns] as const]) {
    for (; i < a || j < b; i++, j++) pairs.push({ before: i < a ? start + i : undefined, after: j < b ? start + j : undefined })
    if (a < rows && b < columns) pairs.push({ before: start + a, after: start + b })
    ;[i, j] = [a + 1, b + 1]
  }
  for (let at = end; at > 0; at--) pairs.push({ before: before.length - at, after: after.length - at })
  return { before, after, pairs, exact }
}

/** The places of a longest common subsequence. */
function commonLines(one: string[], two: string[]): [number, number][] {
  const width = two.length + 1
  const length = new Uint16Array((one.length + 1) * width) // at most the shorter of both, which is under 2,001
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = two.length - 1; j >= 0; j--) {
      length[i * width + j] = one[i] === two[j] ? length[(i + 1) * width + j + 1]! + 1 : Math.max(length[(i + 1) * width + j]!, length[i * width + j + 1]!)
    }
  }
  const found: [number, number][] = []
  for (let i = 0, j = 0; i < one.length && j < two.length; ) {
    if (one[i] === two[j]) found.push([i++, j++])
    else if (length[(i + 1) * width + j]! >= length[i * width + j + 1]!) i++
    else j++
  }
  return found
}
