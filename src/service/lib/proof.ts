import { createCipheriv, createDecipheriv, createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import type { Context } from './context.js'

/** Milliseconds that a proof is good for, and that clocks may differ. */
const LIFETIME = 5 * 60 * 1000
/** A guess of the secret takes as long as this derivation: a weak one is not found by trying the words of a list. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 }
const [KEY_LENGTH, NONCE_LENGTH, TAG_LENGTH] = [32, 12, 16]

type Site = Pick<Context, 'secret' | 'now'>

interface Keys {
  signing: Buffer
  sealing: Buffer
}

/**
 * Shows a server of the same site that who asks can read its secret. Whoever is asked instead can pass it on for some
 * minutes, but cannot read what it gets for it: see `sealedAnswer`.
 */
export async function operatorProof(site: Site): Promise<string> {
  const time = String(site.now().getTime())
  return `${time}.${signatureOf(await keysOf(site.secret()), time)}`
}

export async function isOperatorProof(site: Site, proof: string): Promise<boolean> {
  const [, time, signature] = /^(\d{1,15})\.([\da-f]{64})$/.exec(proof) ?? []
  if (time === undefined || signature === undefined) return false
  if (Math.abs(site.now().getTime() - Number(time)) > LIFETIME) return false
  return timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(await keysOf(site.secret()), time)))
}

/** Response encrypted with a key derived from the secret. */
export async function sealedAnswer(site: Site, proof: string, text: string): Promise<string> {
  const nonce = randomBytes(NONCE_LENGTH)
  const { sealing } = await keysOf(site.secret())
  const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(proof))
  const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), bytes]).toString('base64url')
}

/** Undefined where the answer is not from a server of this site, or not to this proof. */
export async function openedAnswer(site: Site, proof: string, answer: string): Promise<string | undefined> {
  const bytes = Buffer.from(answer, 'base64url')
  const [nonce, rest] = [bytes.subarray(0, NONCE_LENGTH), bytes.subarray(NONCE_LENGTH)]
  const { sealing } = await keysOf(site.secret())
  try {
    const cipher = createDecipheriv('aes-256-gcm', sealing, nonce, { authTagLength: TAG_LENGTH })
    cipher.setAAD(Buffer.from(proof)).setAuthTag(rest.subarray(0, TAG_LENGTH))
    return Buffer.concat([cipher.update(rest.subarray(TAG_LENGTH)), cipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** Derived once for a secret, so that requests with wrong proofs cost a server nothing. */
let derived: { secret: string; keys: Promise<Keys> } | undefined

function keysOf(secret: string): Promise<Keys> {
  if (derived?.secret !== secret) derived = { secret, keys: derive(secret) }
  return derived.keys
}

const derive = (secret: string): Promise<Keys> =>
  new Promise((resolve, reject) => {
    scrypt(secret, 'feedbackctl operator', 2 * KEY_LENGTH, SCRYPT, (error, bytes) => {
      if (error) return reject(error)
      resolve({ signing: bytes.subarray(0, KEY_LENGTH), sealing: bytes.subarray(KEY_LENGTH) })
    })
  })

const signatureOf = ({ signing }: Keys, time: string): string =>
  createHmac('sha256', signing).update(time).digest('hex')
