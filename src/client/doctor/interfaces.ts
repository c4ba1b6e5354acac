import type { ClientBinding } from '#bindings';
import { DEFAULT_BINDING, findBinding, NotA2A } from '#bindings';
import type { A2AService, AgentInterface, CallContext, Dialect, Fetch } from '#protocol';
import { A2AError, CURRENT_DIALECT, createRegistry, DIALECTS, ERRORS, isA2AError, isObject, LOCAL_PRINCIPAL, taskId } from '#protocol';
import { isClientError } from '../errors/client-error.ts';
import { explain } from '../errors/explain.ts';
import type { Finding } from './finding.ts';
import { error, ok, warning } from './finding.ts';
import { networkFinding } from './network.ts';

/** Options of `testInterface`. */
export interface InterfaceTestOptions {
  /** The address of the interface as a URL. */
  readonly url: string;
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly authenticated: boolean;
  /** The card says that credentials are needed. */
  readonly declaresAuth: boolean;
}

/** An interface that works, for the next steps. */
export interface WorkingInterface {
  readonly service: A2AService;
  readonly dialect: Dialect;
  readonly url: string;
}

/** The findings about one interface. */
export interface InterfaceTest {
  readonly findings: readonly Finding[];
  readonly works?: WorkingInterface;
}

/** A task id that no agent has. An agent that answers "task not found" has understood the request. */
const UNKNOWN_TASK = '00000000-0000-4000-8000-000000000000';

/** The context of the doctor's calls. */
export function contextFor(dialect: Dialect, signal: AbortSignal): CallContext {
  return { principal: LOCAL_PRINCIPAL, dialect: dialect.id, extensions: [], signal };
}

/** The first words of each finding about an interface. */
export function interfaceName({ protocolBinding, protocolVersion, url }: AgentInterface): string {
  return `${protocolBinding} ${protocolVersion} at ${url}`;
}

/** Calls an interface with a harmless request, in the dialect that the card states, then in others. */
export async function testInterface(iface: AgentInterface, cardDialect: Dialect, options: InterfaceTestOptions): Promise<InterfaceTest> {
  const binding = findBinding(iface.protocolBinding) ?? DEFAULT_BINDING;
  const registry = createRegistry(DIALECTS);
  const isCurrent = cardDialect.id === CURRENT_DIALECT;
  const spoken = isCurrent ? registry.speaks(iface) : cardDialect;
  const dialect = spoken === undefined ? undefined : binding.formOf(spoken, registry);
  const name = interfaceName(iface);
  const { url } = options;
  if (dialect === undefined) {
    return {
      findings: [
        error('version-unknown', `${name}: there is no such version`, {
          url,
          fix: 'write protocolVersion as "1.0" or "0.3"',
        }),
      ],
    };
  }
  const { thrown, service } = await probe(url, { dialect, binding }, options);
  if (thrown === undefined) return { findings: [ok('interface', `${name} answers`, { url })], works: { service, dialect, url } };
  const certain = certainFinding(thrown, { name, url }, options);
  if (certain !== undefined) return { findings: [certain] };
  const other = binding !== DEFAULT_BINDING ? undefined : await otherDialect(url, dialect, options);
  if (other !== undefined) {
    const said = `${name}: it speaks ${other.dialect.title} there, not ${dialect.title}`;
    return {
      findings: [
        error('other-dialect', said, {
          url,
          fix: `say protocolVersion "${other.dialect.wire.versionHeader ?? other.dialect.title}" in the card, or use the version that the card states`,
        }),
      ],
      works: other,
    };
  }
  return { findings: [notA2aFinding(thrown, { name, url })] };
}

interface ProbeResult {
  readonly thrown: unknown;
  readonly service: A2AService;
}

/**
 * Reads a task that does not exist. "Task not found" means that the agent works and understood the
 * request.
 */
async function probe(
  url: string,
  { dialect, binding }: { readonly dialect: Dialect; readonly binding: ClientBinding },
  { fetch, signal, timeoutMs }: InterfaceTestOptions,
): Promise<ProbeResult> {
  const service = binding.link({ url, dialect, fetch, timeoutMs, idleMs: timeoutMs });
  if (!binding.has(dialect, 'get')) return { thrown: await unknownMethod(url, { fetch, signal }), service };
  try {
    await service.get({ id: taskId(UNKNOWN_TASK) }, contextFor(dialect, signal));
    return { thrown: undefined, service };
  } catch (thrown) {
    const understood = isA2AError(thrown) && thrown.kind === 'TASK_NOT_FOUND';
    return { thrown: understood ? undefined : thrown, service };
  }
}

/** For a dialect that can't read tasks: a method that no agent has. "Method not found" means that the agent works. */
async function unknownMethod(url: string, { fetch, signal }: Pick<InterfaceTestOptions, 'fetch' | 'signal'>): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: UNKNOWN_TASK, method: 'doctor/hello', params: {} });
  try {
    const response = await fetch(new Request(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body, signal }));
    if (!response.ok) return new A2AError('UNAVAILABLE', `HTTP ${response.status}`, { cause: new NotA2A(response.status, 'none') });
    const answer: unknown = await response.json();
    const code = isObject(answer) && isObject(answer['error']) ? answer['error']['code'] : undefined;
    return code === ERRORS.METHOD_NOT_FOUND.rpc ? undefined : new A2AError('INVALID_AGENT_RESPONSE', 'the answer is no JSON-RPC error');
  } catch (thrown) {
    return thrown;
  }
}

/** Tries every JSON-RPC dialect until the agent understands one. */
export async function otherDialect(
  url: string,
  besides: Dialect | undefined,
  options: InterfaceTestOptions,
): Promise<WorkingInterface | undefined> {
  const candidates = DIALECTS.filter((dialect) => !dialect.id.includes('.') && dialect !== besides && dialect.methods.get !== undefined);
  for (const dialect of candidates) {
    const { thrown, service } = await probe(url, { dialect, binding: DEFAULT_BINDING }, options);
    if (thrown === undefined) return { service, dialect, url };
  }
  return undefined;
}

/** Failures that every dialect would share. */
function certainFinding(
  thrown: unknown,
  { name, url }: { readonly name: string; readonly url: string },
  options: InterfaceTestOptions,
): Finding | undefined {
  const network = networkFinding(thrown, url);
  if (network !== undefined)
    return {
      ...network,
      id: network.id === 'silent' ? 'interface-silent' : network.id === 'refused' ? 'interface-refused' : network.id,
      what: `${name}: ${network.what}`,
    };
  const failure = explain(thrown, url);
  if (!isClientError(failure))
    return failure.kind === 'VERSION_NOT_SUPPORTED'
      ? error('version-refused', `${name}: it refuses the version that its card states`, {
          why: failure.message,
          url,
          fix: 'state the version that the server supports',
        })
      : undefined;
  const why = failure.why ?? (failure.status === undefined ? undefined : `HTTP ${failure.status}`);
  if (isRedirect(failure.status)) return redirect(name, { url, why });
  switch (failure.kind) {
    case 'unauthenticated':
    case 'forbidden':
      return authFinding(name, { url, why }, options);
    case 'not-found':
      return error('interface-not-found', `${name}: nothing is there`, {
        why,
        url,
        fix: 'the card names a path that the server does not serve',
      });
    case 'html':
      return error('interface-html', `${name}: a web page is there`, {
        why,
        url,
        fix: 'the card names an address for people; use the agent’s own address',
      });
    case 'redirect':
      return redirect(name, { url, why });
    case 'server-error':
      return error('interface-server-error', `${name}: it fails`, { why, url, fix: 'this is the server’s fault: read its log' });
    case 'rate-limited':
      return error('rate-limited', `${name}: it accepts no more requests for now`, { why, url, fix: 'wait, then try again' });
    case 'cut-off':
      return error('interface-cut-off', `${name}: its answers end too early`, {
        why,
        url,
        fix: 'fewer bytes arrive than Content-Length says: check the server, and proxies on the way',
      });
    case 'not-supported':
      return unspokenFinding(name, { url, why });
    default:
      return undefined;
  }
}

/** gRPC that this installation or the server can't speak. */
function unspokenFinding(name: string, more: { readonly url: string; readonly why: string | undefined }): Finding {
  if (more.why?.includes('ERR_DRIVER_MISSING') === true)
    return warning('driver-missing', `${name}: not examined, because a package is not installed here`, {
      ...more,
      fix: 'install the package and examine it again',
    });
  return error('interface-no-http2', `${name}: it does not speak HTTP/2, which gRPC needs`, {
    ...more,
    fix: 'name the port of gRPC in the card; a proxy in front must pass HTTP/2 on',
  });
}

function isRedirect(status: number | undefined): boolean {
  return status !== undefined && status >= 300 && status < 400;
}

function redirect(name: string, more: { readonly url: string; readonly why: string | undefined }): Finding {
  return error('interface-redirect', `${name}: it redirects`, {
    ...more,
    fix: 'put the final address into the card: a POST is not redirected',
  });
}

/**
 * The finding for a 401 or 403, depending on whether credentials were sent and whether the card asks
 * for them.
 */
function authFinding(
  name: string,
  more: { readonly url: string; readonly why: string | undefined },
  { authenticated, declaresAuth }: InterfaceTestOptions,
): Finding {
  if (authenticated)
    return error('credentials-refused', `${name}: it rejects your credentials`, {
      ...more,
      fix: 'check them, or get new ones: parley auth login',
    });
  if (declaresAuth)
    return error('credentials-needed', `${name}: it needs credentials, as its card says`, {
      ...more,
      fix: 'set A2ACLI_BEARER or A2ACLI_API_KEY and examine it again',
    });
  return error('auth-undeclared', `${name}: it needs credentials, but its card does not say so`, {
    ...more,
    fix: 'declare securitySchemes and securityRequirements in the card',
  });
}

function notA2aFinding(thrown: unknown, { name, url }: { readonly name: string; readonly url: string }): Finding {
  const failure = explain(thrown, url);
  if (isA2AError(failure))
    return error('interface-error', `${name}: it answers a simple read with an error`, {
      why: `${failure.kind}: ${failure.message}`,
      url,
      fix: 'answer a read of an unknown task with TaskNotFoundError',
    });
  return error('interface-garbage', `${name}: its answers are not A2A`, {
    why: failure.why,
    url,
    fix: 'see its answers with --debug',
  });
}
