// The part of JSON Schema that settings of formats use.
export interface Schema {
  $ref?: string
  $defs?: Record<string, Schema>
  type?: string
  title?: string
  description?: string
  default?: unknown
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  prefixItems?: Schema[]
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  minItems?: number
  maxItems?: number
  maxLength?: number
  by_number?: boolean // of a list: how many there are will do
}

export interface Kind {
  schema: Schema
  nullable: boolean
}

/** Without references, and without the null that says "left out". */
export function resolved(schema: Schema, root: Schema): Kind {
  if (schema.$ref) {
    const found = root.$defs?.[schema.$ref.split('/').at(-1) ?? ''] ?? {}
    return resolved({ ...found, description: schema.description ?? found.description, default: schema.default }, root)
  }
  const several = schema.anyOf?.filter((each) => each.type !== 'null')
  if (several?.length === 1 && several[0])
    return { ...resolved({ ...several[0], title: schema.title, description: schema.description, default: schema.default }, root), nullable: true }
  return { schema, nullable: false }
}

/** What can be chosen from, where it is a choice. */
export function choices(schema: Schema): unknown[] | undefined {
  if (schema.enum) return schema.enum
  if (schema.anyOf?.every((each) => each.const !== undefined || each.enum)) return schema.anyOf.flatMap((each) => each.enum ?? [each.const])
  return undefined
}

export type Settings = Record<string, unknown>

const same = (one: unknown, two: unknown): boolean => JSON.stringify(one) === JSON.stringify(two)

/** Only what differs from the server's defaults is sent: they live there and nowhere else. */
export function changes(settings: Settings, defaults: Settings): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([name, value]) => !same(value, defaults[name])))
}

export function at(value: unknown, path: string[]): unknown {
  return path.reduce<unknown>((inside, name) => (inside as Settings | undefined)?.[name], value)
}

/** A copy with another value at the path. */
export function put<T>(value: T, path: string[], next: unknown): T {
  const [name, ...rest] = path
  if (name === undefined) return next as T
  if (Array.isArray(value)) return value.map((each: unknown, i) => (String(i) === name ? put(each, rest, next) : each)) as T
  const inside = (value ?? {}) as Settings
  return { ...inside, [name]: put(inside[name], rest, next) } as T
}
