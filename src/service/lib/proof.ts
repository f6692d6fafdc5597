import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Context } from './context.js'

/** Milliseconds that a proof is good for, and that clocks may differ. */
const LIFETIME = 5 * 60 * 1000

/** Shows a server of the same site that who asks can read its secret. Nothing of the secret can be learned from it. */
export function operatorProof({ secret, now }: Pick<Context, 'secret' | 'now'>): string {
  const time = String(now().getTime())
  return `${time}.${signatureOf(secret(), time)}`
}

export function isOperatorProof({ secret, now }: Pick<Context, 'secret' | 'now'>, proof: string): boolean {
  const [, time, signature] = /^(\d{1,15})\.([\da-f]{64})$/.exec(proof) ?? []
  if (time === undefined || signature === undefined) return false
  if (Math.abs(now().getTime() - Number(time)) > LIFETIME) return false
  return timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(secret(), time)))
}

const signatureOf = (secret: string, time: string): string =>
  createHmac('sha256', secret).update(`operator\n${time}`).digest('hex')
