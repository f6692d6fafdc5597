import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifySerializerCompiler } from 'fastify'

const compile = SerializerSelector()()

type Route = Parameters<typeof compile>[0]
type Serialize = (value: unknown) => string

/** By the schema, for servers that one process builds one after another. */
const compiled = new WeakMap<object, Serialize>()

/**
 * Fastify's serializers, each compiled on first use: compiling all of them takes a quarter of the server's start. A
 * list that a response repeats as `results` is serialised once.
 */
export const compileOnFirstUse: FastifySerializerCompiler<object> = ({ schema, method, url, httpStatus = '' }) => {
  let serialize = compiled.get(schema)
  return (value) => {
    if (!serialize) {
      serialize = serializerOf({ schema, method, url, httpStatus })
      compiled.set(schema, serialize)
    }
    return serialize(value)
  }
}

interface ListSchema {
  properties?: Record<string, unknown>
  required?: readonly string[]
}

function serializerOf(route: Route): Serialize {
  const whole = compile(route)
  const { properties = {}, required = [] } = route.schema as ListSchema
  const [first = '', ...others] = Object.keys(properties)
  // What is required comes before it
  const isLast = others.every((name) => name === 'results' || required.includes(name))
  if (properties.results === undefined || !isLast) return whole
  const list = compile({ ...route, schema: properties[first] })
  const empty = `{"${first}":[]`
  return (value) => {
    const { results, ...rest } = value as Record<string, unknown>
    if (results === undefined || results !== rest[first]) return whole(value)
    const text = whole({ ...rest, [first]: [] })
    if (!text.startsWith(empty)) return whole(value)
    const rows = list(results)
    return `{"${first}":${rows}${text.slice(empty.length, -1)},"results":${rows}}`
  }
}
