/**
 * Rules of oxlint for what its own cannot say.
 */

const isDate = (node) =>
  (node.type === 'Identifier' && node.name === 'Date') ||
  (node.type === 'MemberExpression' &&
    !node.computed &&
    node.object.name === 'globalThis' &&
    node.property.name === 'Date')

/** The time of the process, which no test sets: what is cached would not be made again. */
const processClock = {
  create(context) {
    const message = 'Take the time from the context.'
    return {
      NewExpression(node) {
        if (isDate(node.callee) && node.arguments.length === 0) context.report({ node, message })
      },
      CallExpression(node) {
        if (isDate(node.callee)) context.report({ node, message })
      },
      MemberExpression(node) {
        const name = node.computed ? node.property.value : node.property.name
        if (isDate(node.object) && name === 'now') context.report({ node, message })
      },
    }
  },
}

const CLIENTS = /^(node:)?(https?|http2|net|tls|dgram)$|^undici/

/** Modules that connect elsewhere, imported at run time. `no-restricted-imports` looks at import declarations alone. */
const outgoingImport = {
  create(context) {
    const message = 'Requests to other servers go through core/http.ts.'
    const check = (node, source) => {
      if (typeof source?.value === 'string' && CLIENTS.test(source.value)) context.report({ node, message })
    }
    return {
      ImportExpression: (node) => check(node, node.source),
      CallExpression(node) {
        const name = node.callee.name ?? node.callee.property?.name
        if (name === 'require' || name === 'getBuiltinModule') check(node, node.arguments[0])
      },
    }
  },
}

export default {
  meta: { name: 'feedbackctl' },
  rules: { 'process-clock': processClock, 'outgoing-import': outgoingImport },
}
