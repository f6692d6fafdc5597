import type { FastifyRequest } from 'fastify'

export type Encoding = 'br' | 'gzip'

/** The encoding of a response. The gate of the pages has left one of two in the header, or none. */
export const encodingOf = ({ headers }: Pick<FastifyRequest, 'headers'>): Encoding | undefined => {
  const encoding = headers['accept-encoding']
  return encoding === 'br' || encoding === 'gzip' ? encoding : undefined
}
