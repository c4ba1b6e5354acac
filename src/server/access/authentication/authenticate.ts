import type { HttpRequest } from '#bindings';
import type { Mutable, RequestFacts } from '#protocol';
import { A2AError } from '#protocol';
import type { Route } from '../../routes/routes.ts';
import { clientNetwork } from '../limits/client-network.ts';
import type { TokenBuckets } from '../limits/token-buckets.ts';
import type { AccessRefusal } from '../refusal.ts';
import { refusalFor } from '../refusal.ts';
import { requestIdOf } from '../request-id.ts';
import type { AuthenticatedIdentity, AuthenticationResult, AuthMethod, CredentialDenial } from './auth-method.ts';
import { credentialOf, isDenial } from './auth-method.ts';
import type { Authenticate, AuthenticatedCaller } from './caller.ts';

/** Options of `createAuthenticate`. */
export interface AuthenticateOptions {
  readonly methods: readonly AuthMethod[];
  /** Counts failures by client address, to slow down guessing. */
  readonly failures: TokenBuckets;
}

/**
 * Step 2 of the access checks: tries the methods in their order. The first that recognises a credential
 * decides.
 */
export function createAuthenticate({ methods, failures }: AuthenticateOptions): Authenticate {
  const refuse = (request: HttpRequest, route: Route | undefined, denial: CredentialDenial | undefined): AccessRefusal => {
    const waitMs = failures.take(clientNetwork(request.peer?.address ?? 'unknown'));
    const reason = denial?.reason ?? 'no credential';
    if (denial?.retryAfterMs !== undefined) {
      const { retryAfterMs } = denial;
      return refusalFor(request, route, {
        error: new A2AError(
          'UNAVAILABLE',
          'the issuer of the credential can’t be reached, so the credential can’t be checked at the moment; try again later',
          { retryAfterMs },
        ),
        reason,
      });
    }
    if (waitMs > 0) {
      const error = new A2AError('RATE_LIMITED', 'too many requests without a valid credential', { retryAfterMs: waitMs });
      return refusalFor(request, route, { error, reason: `too many failures; the last: ${reason}` });
    }
    const message = denial === undefined ? 'authentication is required' : (denial.message ?? 'the credential is not valid');
    const challenge = challengeOf(methods, denial === undefined ? undefined : { error: 'invalid_token', error_description: message });
    return refusalFor(request, route, { error: new A2AError('UNAUTHENTICATED', message, { challenge }), reason });
  };
  const decide = (request: HttpRequest, route: Route | undefined, result: AuthenticationResult): AuthenticatedCaller | AccessRefusal =>
    result === undefined || isDenial(result)
      ? refuse(request, route, result ?? unrecognised(request))
      : callerOf(result, requestFactsOf(request));
  return (request, route) => {
    const result = firstResult(methods, request);
    return result instanceof Promise ? result.then((settled) => decide(request, route, settled)) : decide(request, route, result);
  };
}

function callerOf({ principal, tenant, isStillValid }: AuthenticatedIdentity, request: RequestFacts): AuthenticatedCaller {
  const caller: Mutable<AuthenticatedCaller> = { principal, request };
  if (tenant !== undefined) caller.tenant = tenant;
  if (isStillValid !== undefined) caller.isStillValid = isStillValid;
  return caller;
}

/** The id of a request and the address of its client, for logs and the audit log. */
export function requestFactsOf(request: HttpRequest): RequestFacts {
  const client = request.peer?.address;
  const id = requestIdOf(request);
  return client === undefined ? { id } : { id, client };
}

/** Returns a promise only if a method does: most calls carry an API key, which needs none. */
function firstResult(methods: readonly AuthMethod[], request: HttpRequest, from = 0): AuthenticationResult | Promise<AuthenticationResult> {
  for (let at = from; at < methods.length; at += 1) {
    const result = methods[at]?.authenticate(request);
    if (result instanceof Promise) return result.then((settled) => settled ?? firstResult(methods, request, at + 1));
    if (result !== undefined) return result;
  }
  return undefined;
}

function unrecognised(request: HttpRequest): CredentialDenial | undefined {
  const credential = credentialOf(request);
  if (credential === 'none') return undefined;
  return credential === 'malformed'
    ? { reason: 'a malformed credential', message: 'send one credential, as Authorization: Bearer …' }
    : { reason: 'an unknown credential' };
}

/**
 * The `WWW-Authenticate` header (RFC 9110 §11.6.1): every scheme of the node. `problem` describes a
 * rejected bearer token.
 */
function challengeOf(methods: readonly AuthMethod[], problem: Readonly<Record<string, string>> = {}): string {
  const byScheme = new Map<string, Readonly<Record<string, string>>>();
  for (const { challenge } of methods) {
    if (challenge !== undefined) byScheme.set(challenge.scheme, { ...byScheme.get(challenge.scheme), ...challenge.parameters });
  }
  const challenges = [...byScheme].map(([scheme, parameters]) => {
    const all = { realm: 'parley', ...parameters, ...(scheme === 'Bearer' ? problem : {}) };
    return `${scheme} ${Object.entries(all)
      .map(([name, value]) => `${name}="${quotable(value)}"`)
      .join(', ')}`;
  });
  return challenges.join(', ');
}

function quotable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]|["\\]/g, "'");
}
