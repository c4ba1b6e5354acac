import type { TenantId } from '#protocol';
import { CALLER_SCOPES } from '../authorisation/scopes.ts';
import type { AuthMethod } from './authenticator.ts';

export interface MutualTlsOptions {
  /** Names that may call, as `URI:spiffe://example.org/agent` or `DNS:agent.example.org`. Default: all that the authority has signed. */
  readonly clients?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** What tells a certificate's owner best comes first. The subject's common name tells nothing (RFC 9525 §2). */
const KINDS = ['URI:', 'DNS:', 'email:'];

/** Client certificates. The host has checked the chain; here the name in it becomes a principal. */
export function mutualTls({ clients, scopes = CALLER_SCOPES }: MutualTlsOptions = {}): AuthMethod {
  const allowed = clients === undefined || clients.length === 0 ? undefined : new Set(clients);
  return {
    method: 'mtls',
    schemes: { mtls: { mtlsSecurityScheme: { description: 'A client certificate that this node’s authority has signed.' } } },
    challenge: { scheme: 'MutualTLS' },
    recognise: (request) => {
      const certificate = request.peer?.certificate;
      // Whoever shows another credential besides is judged by that one: a proxy's certificate is not its callers'.
      if (certificate === undefined || request.header('authorization') !== undefined || request.header('x-api-key') !== undefined)
        return undefined;
      const { names } = certificate;
      const name = allowed === undefined ? bestOf(names) : names.find((each) => allowed.has(each));
      if (name === undefined) return { denied: `no name of the certificate may call: ${names.join(', ').slice(0, 200)}` };
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
 * OpenSSL's text of subject alternative names, as Node gives it. Names with quotes in them are those that could be taken for several
 * (CVE-2021-44532): nobody has such a name, so none is read.
 */
export function namesIn(subjectAltName: string | undefined): readonly string[] {
  if (subjectAltName === undefined || subjectAltName.includes('"')) return [];
  return subjectAltName.split(', ').filter((name) => KINDS.some((kind) => name.startsWith(kind)));
}
