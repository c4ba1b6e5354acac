import { jsonRpcLink, restLink } from '#bindings';
import type { A2AService, AgentInterface, CallContext, Dialect, Fetch } from '#protocol';
import { LOCAL_PRINCIPAL, linkSignals } from '#protocol';
import { CliError, usage } from '../command.ts';
import type { Session } from '../contract/session.ts';
import { withHost } from './address.ts';
import type { FoundCard } from './card-file.ts';
import { findCard } from './card-file.ts';
import { readCardRef } from './card-ref.ts';
import { attach, chooseCredentials } from './credentials.ts';
import { debugFetch } from './debug.ts';
import type { About } from './failures.ts';
import { asCliError } from './failures.ts';
import { givenCredentials } from './given.ts';
import type { Chosen } from './interfaces.ts';
import { checkVersion, chooseInterface, DEFAULT_VERSION, readTransports } from './interfaces.ts';
import { ANSWER_LIMITS } from './limits.ts';
import type { Raws } from './raw.ts';
import { createRaws } from './raw.ts';
import { parameterFetch, readSvcParams } from './svc-params.ts';
import { withTenant } from './tenant.ts';
import { baseFetch } from './tls.ts';

/** An agent, ready to be called the way that its card and the caller want it. */
export interface Connection {
  /** Undefined with `--endpoint`. */
  readonly found: FoundCard | undefined;
  readonly iface: AgentInterface;
  readonly binding: Chosen['binding'];
  readonly dialect: Dialect;
  readonly service: A2AService;
  readonly raws: Raws;
  readonly about: About;
  /** `-a agents.example.org`, as it goes into a hint. */
  readonly agent: string;
  ctx(more?: { readonly idempotencyKey?: string; readonly signal?: AbortSignal }): CallContext;
  /** Runs a call; what it throws becomes the contract's error. */
  call<T>(run: () => Promise<T>, about?: Partial<About>): Promise<T>;
}

interface Wires {
  readonly fetch: Fetch;
  readonly bareFetch: Fetch;
}

/** The wire with everything that goes on each request but credentials. */
export async function wiresFor(session: Session): Promise<Wires> {
  const { settings, secrets } = session;
  const params = readSvcParams(settings.list('svc-param'));
  for (const [, value] of params) secrets.add(value);
  const base = await baseFetch(settings);
  const seen = settings.isOn('debug') ? debugFetch(base, secrets) : base;
  const version = checkVersion(settings.text('a2a-version') ?? DEFAULT_VERSION);
  return { fetch: parameterFetch(seen, { version, params }), bareFetch: parameterFetch(seen, { version, params: [] }) };
}

/** As the caller named the agent. */
export function agentWords(session: Session): string {
  const { settings } = session;
  const quoted = (text: string): string => (/^[\w.:/@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  for (const [name, flag] of [
    ['agent-card', '-a'],
    ['endpoint', '-e'],
  ] as const) {
    const setting = settings.find(name);
    if (setting !== undefined) return `${flag} ${quoted(setting.values.at(-1) ?? '')}`;
  }
  throw usage('which agent? --agent-card is missing', 'as: -a agents.example.org, or set A2ACLI_AGENT_CARD');
}

export async function cardFor(session: Session, wires: Wires): Promise<FoundCard> {
  const agent = agentWords(session);
  const ref = session.settings.text('agent-card');
  if (ref === undefined) throw usage('this needs the agent’s card: --agent-card is missing', 'as: -a agents.example.org');
  const at = readRef(await resolvedName(ref));
  const about: About = {
    url: at.kind === 'url' ? at.url : at.path,
    agent,
    authenticated: false,
    timeout: session.settings.text('timeout'),
  };
  return await findCard(at, { ...wires, about, signal: session.signal });
}

function readRef(text: string): ReturnType<typeof readCardRef> {
  try {
    return readCardRef(text);
  } catch {
    throw usage(`--agent-card: ${text} is neither a host, nor a URL, nor a file`, 'as: -a agents.example.org');
  }
}

/** A name from `remoteAgents` of parley.config works wherever a URL does. Only a bare word can be one. */
async function resolvedName(given: string): Promise<string> {
  const ref = withHost(given);
  if (!/^[\w-]+$/.test(ref) || ref === 'localhost') return ref;
  const { remoteNamed } = await import('../remote/configured.ts');
  return (await remoteNamed(ref)) ?? ref;
}

export async function connect(session: Session): Promise<Connection> {
  const wires = await wiresFor(session);
  const { settings } = session;
  const transports = readTransports(settings.list('transport'));
  const asked = settings.text('a2a-version');
  const version = asked === undefined ? undefined : checkVersion(asked);
  const endpoint = settings.text('endpoint');
  const found = endpoint === undefined ? await cardFor(session, wires) : undefined;
  const chosen = found === undefined ? direct(endpoint ?? '', transports, version) : chooseInterface(found.card, { transports, version });
  return await connectionTo(session, { wires, found, chosen });
}

function direct(endpoint: string, transports: ReturnType<typeof readTransports>, version: string | undefined): Chosen {
  const [only, ...more] = transports;
  if (only === undefined || more.length > 0)
    throw usage('--endpoint needs exactly one --transport', 'as: -e http://localhost:41242/a2a --transport JSONRPC');
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    throw usage(`--endpoint: ${endpoint} is no http(s) address`);
  const iface: AgentInterface = { url: endpoint, protocolBinding: only, protocolVersion: version ?? DEFAULT_VERSION };
  return chooseInterface({ name: endpoint, supportedInterfaces: [iface] } as unknown as FoundCard['card'], { transports, version });
}

interface Target {
  readonly wires: Wires;
  readonly found: FoundCard | undefined;
  readonly chosen: Chosen;
}

async function connectionTo(session: Session, { wires, found, chosen }: Target): Promise<Connection> {
  const { settings, secrets } = session;
  const { iface, binding } = chosen;
  const agent = agentWords(session);
  const have = await givenCredentials(session, { found, iface, fetch: wires.bareFetch }).catch((thrown: unknown) => {
    throw asCliError(thrown, { url: iface.url, agent, authenticated: true });
  });
  const choice = chooseCredentials(found?.card ?? ENDPOINT_ONLY, have);
  for (const one of choice.attachments) if (one.at !== 'connection') secrets.add(one.value);
  for (const what of choice.unused) session.note(`warning: ${what} is not sent: no scheme of the card takes it\n`);
  const authenticated = choice.attachments.length > 0;
  if (authenticated) checkOrigin(session, found?.url, iface.url);
  if (settings.isOn('insecure')) warnInsecure(session, authenticated);
  const raws = createRaws();
  const dialect = raws.keep({ ...chosen.dialect, wire: { ...chosen.dialect.wire, versionHeader: chosen.version } });
  const about: About = { url: iface.url, agent, authenticated, timeout: settings.text('timeout') };
  const link = (binding === 'JSONRPC' ? jsonRpcLink : restLink)({
    url: iface.url,
    dialect,
    fetch: attach(wires.fetch, choice.attachments),
    ...ANSWER_LIMITS,
  });
  const extensions = extensionsFor(session, found);
  return {
    found,
    iface,
    binding,
    dialect,
    service: withTenant(link, iface.tenant),
    raws,
    about,
    agent,
    ctx: ({ idempotencyKey, signal } = {}) => ({
      principal: LOCAL_PRINCIPAL,
      dialect: dialect.id,
      extensions,
      signal: signal === undefined ? session.signal : linkSignals([session.signal, signal]).signal,
      ...(iface.tenant === undefined ? {} : { tenant: iface.tenant }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    }),
    call: async (run, more) => {
      try {
        return await run();
      } catch (thrown) {
        throw asCliError(thrown, { ...about, ...more });
      }
    },
  };
}

/** Without a card nobody says where a credential goes: where they usually do. */
const ENDPOINT_ONLY = {
  name: 'the agent',
  securitySchemes: {
    bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
    apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
  },
} as unknown as FoundCard['card'];

/** A credential is for the agent that was named: a card must not carry it off to somebody else. */
function checkOrigin({ settings }: Session, cardUrl: string | undefined, url: string): void {
  if (cardUrl === undefined) return;
  const origin = new URL(url).origin;
  const trusted = [
    new URL(cardUrl).origin,
    ...settings.list('trust-origin').map((text) => (URL.canParse(text) ? new URL(text).origin : text)),
  ];
  if (trusted.includes(origin)) return;
  throw new CliError(`the card at ${new URL(cardUrl).origin} would have the credential sent to ${origin}`, {
    code: 'A2ACLI_ERR_AUTH_FAILED',
    hint: `if you trust it, add --trust-origin ${origin}`,
    exit: 4,
  });
}

function warnInsecure(session: Session, authenticated: boolean): void {
  session.note('warning: TLS certificates are not verified (--insecure)\n');
  if (authenticated)
    session.note('WARNING: a credential is being sent over a connection that nobody verified; whoever sits in between can read it\n');
}

/** What the server requires and we support is declared; what it requires beyond that is said before it refuses (A2ACLI_VER_002). */
function extensionsFor(session: Session, found: FoundCard | undefined): readonly string[] {
  const supported = session.settings.list('extension');
  const required = (found?.card.capabilities.extensions ?? []).filter((extension) => extension.required === true).map(({ uri }) => uri);
  for (const uri of required.filter((one) => !supported.includes(one))) {
    session.note(`warning: the agent requires the extension ${uri}; if you support it add --extension ${uri}\n`);
  }
  return supported;
}
