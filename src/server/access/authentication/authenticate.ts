import type { HttpRequest, HttpResponse } from '#bindings';
import { refuseJsonRpc, refuseRest } from '#bindings';
import type { Ids, Mutable, RequestFacts } from '#protocol';
import { A2AError, countedIds } from '#protocol';
import { errorAnswer } from '../../routes/responses.ts';
import type { Route } from '../../routes/routes.ts';
import { parsePath } from '../../routes/routes.ts';
import type { TokenBuckets } from '../limits/token-buckets.ts';
import type { AuthenticatedIdentity, AuthenticationResult, AuthMethod, Denial } from './authenticator.ts';
import { credentialOf, isDenial } from './authenticator.ts';
import type { Authenticate, AuthenticatedCaller, Refusal } from './caller.ts';

export interface AuthenticateOptions {
  readonly methods: readonly AuthMethod[];
  /** Failures of one address: whoever guesses is slowed down. */
  readonly failures: TokenBuckets;
  readonly ids?: Ids;
}

/** The gate of a node that asks who calls. */
export function createAuthenticate({ methods, failures, ids = countedIds() }: AuthenticateOptions): Authenticate {
  const refuse = (httpRequest: HttpRequest, route: Route | undefined, denial: Denial | undefined): Refusal => {
    const waitMs = failures.take(httpRequest.peer?.address ?? 'unknown');
    const why = denial?.denied ?? 'no credential';
    if (denial?.retryAfterMs !== undefined) {
      const { retryAfterMs } = denial;
      return {
        ...refusalFor(httpRequest, route, new A2AError('UNAVAILABLE', 'credentials can’t be checked just now', { retryAfterMs })),
        why,
      };
    }
    if (waitMs > 0) {
      const error = new A2AError('RATE_LIMITED', 'too many requests without a valid credential', { retryAfterMs: waitMs });
      return { ...refusalFor(httpRequest, route, error), why: `too many failures; the last: ${why}` };
    }
    const words = denial === undefined ? 'authentication is required' : (denial.words ?? 'the credential is not valid');
    const challenge = challengeOf(methods, denial === undefined ? undefined : { error: 'invalid_token', error_description: words });
    return { ...refusalFor(httpRequest, route, new A2AError('UNAUTHENTICATED', words, { challenge })), why };
  };
  const decide = (httpRequest: HttpRequest, route: Route | undefined, found: AuthenticationResult): AuthenticatedCaller | Refusal =>
    found === undefined || isDenial(found)
      ? refuse(httpRequest, route, found ?? unrecognised(httpRequest))
      : admitted(found, factsOf(httpRequest, ids));
  return (httpRequest, route) => {
    const found = firstOpinion(methods, httpRequest);
    return found instanceof Promise ? found.then((settled) => decide(httpRequest, route, settled)) : decide(httpRequest, route, found);
  };
}

function admitted({ principal, tenant, isStillValid }: AuthenticatedIdentity, request: RequestFacts): AuthenticatedCaller {
  const caller: Mutable<AuthenticatedCaller> = { principal, request };
  if (tenant !== undefined) caller.tenant = tenant;
  if (isStillValid !== undefined) caller.isStillValid = isStillValid;
  return caller;
}

export function factsOf(httpRequest: HttpRequest, ids: Ids): RequestFacts {
  const client = httpRequest.peer?.address;
  return client === undefined ? { id: ids.next() } : { id: ids.next(), client };
}

/** Without a promise where no method needs one: most calls come with a key. */
function firstOpinion(
  methods: readonly AuthMethod[],
  httpRequest: HttpRequest,
  from = 0,
): AuthenticationResult | Promise<AuthenticationResult> {
  for (let at = from; at < methods.length; at += 1) {
    const found = methods[at]?.recognise(httpRequest);
    if (found instanceof Promise) return found.then((settled) => settled ?? firstOpinion(methods, httpRequest, at + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

function unrecognised(httpRequest: HttpRequest): Denial | undefined {
  const credential = credentialOf(httpRequest);
  if (credential === 'none') return undefined;
  return credential === 'malformed'
    ? { denied: 'a credential that is none', words: 'send one credential, as Authorization: Bearer …' }
    : { denied: 'an unknown credential' };
}

/** RFC 9110 §11.6.1: every way in, each with what was wrong where that is known. */
export function challengeOf(methods: readonly AuthMethod[], wrong: Readonly<Record<string, string>> = {}): string {
  const byScheme = new Map<string, Readonly<Record<string, string>>>();
  for (const { challenge } of methods) {
    if (challenge !== undefined) byScheme.set(challenge.scheme, { ...byScheme.get(challenge.scheme), ...challenge.parameters });
  }
  const said = [...byScheme].map(([scheme, parameters]) => {
    const all = { realm: 'parley', ...parameters, ...(scheme === 'Bearer' ? wrong : {}) };
    return `${scheme} ${Object.entries(all)
      .map(([name, value]) => `${name}="${quotable(value)}"`)
      .join(', ')}`;
  });
  return said.join(', ');
}

function quotable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]|["\\]/g, "'");
}

/** In the words of whoever would have answered. `status`: where it is not the error's own. */
export function refusalFor(httpRequest: HttpRequest, route: Route | undefined, error: A2AError, status?: number): HttpResponse {
  if (route?.name !== 'jsonrpc' && route?.name !== 'rest') return errorAnswer(error);
  const { base: basePath } = parsePath(httpRequest.path);
  const answer =
    route.name === 'jsonrpc'
      ? refuseJsonRpc(httpRequest, error, { basePath })
      : refuseRest(httpRequest, error, status === undefined ? { basePath } : { basePath, status });
  return { ...answer, headers: { 'X-Content-Type-Options': 'nosniff', ...answer.headers } };
}
