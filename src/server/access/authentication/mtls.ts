import type { TenantId } from '#protocol';
import { CALLER_SCOPES } from '../authorisation/scopes.ts';
import type { AuthMethod } from './auth-method.ts';

/** Options of `mutualTls`. */
export interface MutualTlsOptions {
  /**
   * Certificate names that may call, such as `URI:spiffe://example.org/agent` or
   * `DNS:agent.example.org`. Default: every certificate that the authority has signed.
   */
  readonly clients?: readonly string[] | undefined;
  /** The scopes of these callers. Default: `CALLER_SCOPES`. */
  readonly scopes?: readonly string[] | undefined;
}

/**
 * Kinds of subject alternative names, the most specific first. The subject's common name is ignored
 * (RFC 9525 §2).
 */
const KINDS = ['URI:', 'DNS:', 'email:'];

/**
 * Authenticates callers by client certificate. The host has already verified the chain; this maps a
 * certificate name to a principal.
 *
 * ```ts
 * await serve(agent, { host: '0.0.0.0', tls: { cert, key, ca }, auth: [mutualTls({ clients: ['DNS:caller.example.org'] })] });
 * ```
 */
export function mutualTls({ clients, scopes = CALLER_SCOPES }: MutualTlsOptions = {}): AuthMethod {
  const allowed = clients === undefined || clients.length === 0 ? undefined : new Set(clients);
  return {
    name: 'mtls',
    schemes: { mtls: { mtlsSecurityScheme: { description: 'A client certificate that this node’s authority has signed.' } } },
    challenge: { scheme: 'MutualTLS' },
    authenticate: (request) => {
      const certificate = request.peer?.certificate;
      // Another credential takes precedence: a proxy's certificate does not identify the callers behind it.
      if (certificate === undefined || request.header('authorization') !== undefined || request.header('x-api-key') !== undefined)
        return undefined;
      const { names } = certificate;
      const name = allowed === undefined ? bestOf(names) : names.find((each) => allowed.has(each));
      if (name === undefined) return { reason: `no name of the certificate may call: ${names.join(', ').slice(0, 200)}` };
      return { principal: { id: `mtls:${name}`, scopes }, tenant: '' as TenantId };
    },
  };
}

function bestOf(names: readonly string[]): string | undefined {
  for (const kind of KINDS) {
    const found = names.find((name) => name.startsWith(kind));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Splits OpenSSL's text of subject alternative names, which Node passes on. A text with quotes contains
 * a name that could be read as several (CVE-2021-44532). No legitimate certificate has one, so such a
 * text gives no names.
 */
export function namesIn(subjectAltName: string | undefined): readonly string[] {
  if (subjectAltName === undefined || subjectAltName.includes('"')) return [];
  return subjectAltName.split(', ').filter((name) => KINDS.some((kind) => name.startsWith(kind)));
}
