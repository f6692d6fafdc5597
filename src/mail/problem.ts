import { reasonOf } from './reasons.js'
import { openTransport, type MailSettings } from './transport.js'

/** Returns why mail cannot be sent now, or undefined. Only an SMTP server is contacted. */
export async function mailProblem(mail: MailSettings): Promise<string | undefined> {
  const transport = await openTransport(mail)
  try {
    await transport.verify()
    return undefined
  } catch (error) {
    const { code, message, hostname } = error as Error & { code?: string; hostname?: string }
    return /ENOTFOUND|EDNS/.test(`${code} ${message}`)
      ? `no such host: "${hostname ?? new URL(mail.url).hostname}"`
      : reasonOf({ message })
  } finally {
    transport.close()
  }
}
