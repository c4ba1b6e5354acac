import type { ClientError } from '../errors/client-error.ts';
import { isClientError } from '../errors/client-error.ts';
import { explain } from '../errors/explain.ts';
import type { Finding } from './finding.ts';
import { error } from './finding.ts';

/** TLS failures by the exact reason. */
const TLS: readonly (readonly [RegExp, string, string, string])[] = [
  [/CERT_HAS_EXPIRED|expired/i, 'tls-expired', 'its certificate has expired', 'renew the certificate'],
  [
    /SELF_SIGNED|self[- ]signed|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/i,
    'tls-self-signed',
    'nobody you trust has signed its certificate',
    'have it signed by an authority, or trust its own: --ca FILE',
  ],
  [/ALTNAME|does not match/i, 'tls-wrong-host', 'its certificate is for another host', 'call it by the name that is in the certificate'],
  [
    /EPROTO|WRONG_VERSION|wrong version number|packet length too long/i,
    'tls-not-spoken',
    'it does not speak TLS there',
    'call it with http://, or switch TLS on at the server',
  ],
];

const WORDS: Readonly<Record<string, readonly [string, string, string | undefined]>> = {
  dns: ['dns', 'nobody knows this host', 'check the spelling, and that this machine can resolve the name'],
  refused: ['refused', 'nothing listens there', 'start the agent, or check the port'],
  timeout: ['silent', 'it takes the connection and says nothing', 'the server hangs: look at its log, or give it more time with --timeout'],
  'bad-target': ['bad-port', 'no client calls on this port', 'it is one of those that the fetch standard blocks: serve on another'],
  unreachable: ['unreachable', 'the connection breaks', 'check address, network and firewall; an agent behind TLS needs https://'],
};

/** Undefined if the failure is not one of the network. */
export function networkFinding(thrown: unknown, url: string): Finding | undefined {
  const failure = explain(thrown, url);
  const isLate = thrown instanceof Error && thrown.name === 'TimeoutError';
  if (!isClientError(failure)) return undefined;
  if (failure.kind === 'tls') return tlsFinding(failure, url);
  const words = WORDS[isLate ? 'timeout' : failure.kind];
  if (words === undefined) return undefined;
  const [id, what, fix] = words;
  return error(id, `${hostOf(url)}: ${what}`, { why: failure.why, fix, url });
}

/** The finding for a failed TLS handshake, by its exact reason. */
function tlsFinding(failure: ClientError, url: string): Finding {
  const seen = `${failure.why ?? ''} ${codesOf(failure)}`;
  const row = TLS.find(([pattern]) => pattern.test(seen));
  if (row === undefined)
    return error('tls', `${hostOf(url)}: no secure connection`, { why: failure.why, fix: 'check its certificate', url });
  const [, id, what, fix] = row;
  return error(id, `${hostOf(url)}: ${what}`, { why: failure.why, fix, url });
}

function codesOf(thrown: unknown): string {
  const codes: string[] = [];
  for (let at: unknown = thrown; at instanceof Error && codes.length < 8; at = at.cause) codes.push('code' in at ? String(at.code) : '');
  return codes.join(' ');
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
