/** What to try when a connection with TLS fails for this reason. */
export function tlsHint(reason: string): string {
  if (/wrong[ _]version[ _]number|packet length too long/i.test(reason)) return 'the server does not speak TLS there: call it with http://';
  return /certificate required|handshake failure|\balert\b/i.test(reason)
    ? 'the server may ask for a client certificate: --cert FILE and --cert-key FILE'
    : 'trust its authority with --ca FILE; --insecure accepts every certificate, an attacker’s too';
}
