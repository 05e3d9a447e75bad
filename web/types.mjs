// TypeScript types of the API, from its OpenAPI description: every schema, and for each operation what it takes and gives.
import { readFileSync, writeFileSync } from 'node:fs'

const [source, target] = process.argv.slice(2)
const api = JSON.parse(readFileSync(source, 'utf8'))

const quoted = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name))
const schemaName = (ref) => ref.split('/').at(-1).replaceAll(/\W/g, '_')

function typeOf(schema) {
  if (schema === undefined || schema === true) return 'unknown'
  if (schema.$ref) return schemaName(schema.$ref)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(' | ')
  const several = schema.anyOf ?? schema.oneOf
  if (several) return [...new Set(several.map(typeOf))].join(' | ')
  if (schema.allOf) return schema.allOf.map(typeOf).join(' & ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ')
  switch (schema.type) {
    case 'string': return 'string'
    case 'integer':
    case 'number': return 'number'
    case 'boolean': return 'boolean'
    case 'null': return 'null'
    case 'array': return `Array<${typeOf(schema.items)}>`
    case 'object': return objectOf(schema)
    default: return 'unknown'
  }
}

function objectOf(schema) {
  const required = new Set(schema.required ?? [])
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, field]) => `  ${quoted(name)}${required.has(name) ? '' : '?'}: ${typeOf(field)}`,
  )
  if (!fields.length) return `{ [name: string]: ${typeOf(typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined)} }`
  if (schema.additionalProperties === true) fields.push('  [more: string]: unknown')
  return `{\n${fields.join('\n')}\n}`
}

function operation(path, method, described) {
  const given = { path: [], query: [] }
  for (const each of described.parameters ?? [])
    given[each.in]?.push(`${quoted(each.name)}${each.required ? '' : '?'}: ${typeOf(each.schema)}`)
  const body = described.requestBody?.content?.['application/json']?.schema
  const good = Object.entries(described.responses).find(([status]) => status.startsWith('2'))?.[1]
  const json = good?.content?.['application/json']?.schema
  return `  ${described.operationId}: {
    params: { ${given.path.join('; ')} }
    query: { ${given.query.join('; ')} }
    body: ${body ? typeOf(body) : 'undefined'}
    gives: ${json ? typeOf(json) : 'unknown'}
  }`
}

const lines = ['// Made by web/types.mjs from the OpenAPI description. Not committed.', '']
for (const [name, schema] of Object.entries(api.components.schemas))
  lines.push(`export type ${schemaName('/' + name)} = ${typeOf(schema)}`, '')
const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => [path, method, described]),
)
lines.push('export interface Operations {', ...operations.map((each) => operation(...each)), '}', '')
lines.push('export const ROUTES: { [name in keyof Operations]: readonly [method: string, path: string] } = {')
for (const [path, method, described] of operations)
  lines.push(`  ${described.operationId}: [${JSON.stringify(method.toUpperCase())}, ${JSON.stringify(path)}],`)
lines.push('}', '')
lines.push(`export const LABELS: { [action in Action]: string } = ${JSON.stringify(api.components.schemas.Action['x-labels'])}`, '')
writeFileSync(target, lines.join('\n'))
