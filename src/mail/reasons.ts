/** Reason why a connection or a delivery failed, without OpenSSL's source locations. */
export function reasonOf({ message }: { message: string }): string {
  const [, reason] = /error:[0-9A-F]+:[^:]*:[^:]*:([^:]+)/i.exec(message) ?? []
  if (reason === undefined) return message.replace(/^Error initiating TLS - /, '')
  return isPlainText(reason) ? 'the server does not answer with TLS' : `the TLS handshake failed: ${reason.trim()}`
}

/** Whether OpenSSL read an answer that is not encrypted. */
const isPlainText = (reason: string): boolean =>
  /wrong version number|packet length too long|unknown protocol|http request/i.test(reason)
