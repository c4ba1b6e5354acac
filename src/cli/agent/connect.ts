import { bindingWords, findBinding } from '#bindings';
import type { ClientOptions, FoundAgentCard } from '#client';
import { A2AClient, findAgentCard } from '#client';
import type { PlacedCredential, RawAnswers } from '#client/strict';
import { cardCredentials, createRawAnswers, STRICT_VERSION, strictMode } from '#client/strict';
import type { A2AService, AgentCard, CallContext } from '#protocol';
import { dialectId, LOCAL_PRINCIPAL, linkSignals } from '#protocol';
import { CliError, usage } from '../command.ts';
import type { ContractSession } from '../contract/session.ts';
import { addressOf } from './address.ts';
import { noting, withCallTimeout } from './call-timeout.ts';
import { commonOptions } from './client-options.ts';
import { ENDPOINT_CREDENTIALS, givenCredentials, placeCredentials } from './credentials.ts';
import type { CallDescription } from './errors.ts';
import { asCliError } from './errors.ts';
import { CALL_TIMEOUT_MS, NO_TIMEOUT } from './limits.ts';
import type { AgentReference } from './target.ts';
import { readAgentReference, refusePassword } from './target.ts';
import { trustCertificateTo } from './tls.ts';
import { fallbackWarning, readTransports, readVersion, transportWarning } from './transports.ts';
import { agentWords } from './words.ts';

/** An agent that a command of the A2A CLI specification calls: the client in strict mode, with the specification's errors. */
export interface AgentConnection {
  /** Undefined with `--endpoint`. */
  readonly found: FoundAgentCard | undefined;
  readonly url: string;
  readonly binding: string;
  /** The A2A version of the interface. */
  readonly version: string;
  readonly service: A2AService;
  readonly answers: RawAnswers;
  readonly call: CallDescription;
  /** How the caller named the agent, for hints: `-a agents.example.org`. */
  readonly agent: string;
  ctx(more?: { readonly idempotencyKey?: string; readonly signal?: AbortSignal }): CallContext;
  /** Runs a call and turns what it throws into the specification's errors. */
  run<T>(call: () => Promise<T>, about?: Partial<CallDescription>): Promise<T>;
}

/** The client's options in strict mode. `call-timeout.ts` limits the calls. */
export async function strictOptions(session: ContractSession, answers?: RawAnswers): Promise<ClientOptions> {
  const { settings } = session;
  const common = await commonOptions(session);
  const version = readVersion(settings.text('a2a-version'));
  return {
    ...common,
    ...NO_TIMEOUT,
    // Without a version of the caller, each dialect states its own (A2A 1.0.1 §3.6.1).
    ...(version === undefined ? {} : { headers: { 'A2A-Version': version, ...common.headers } }),
    strict: strictMode({ version, bindings: readTransports(settings.list('transport')) }),
    ...(answers === undefined ? {} : { registry: answers.registry }),
  };
}

interface Found extends AgentReference {
  readonly found: FoundAgentCard;
}

/** Resolves `--agent-card`: a host, a URL, a file, or an entry of a catalog. */
async function find(session: ContractSession, options: ClientOptions): Promise<Found> {
  const { settings, signal } = session;
  const agent = agentWords(session);
  const given = settings.text('agent-card');
  if (given === undefined) throw usage('this command needs the agent’s card: --agent-card is missing', 'example: -a agents.example.org');
  const reference = await readAgentReference(given);
  trustCertificateTo(session, [addressOf(reference.target)]);
  const timeout = settings.text('timeout');
  try {
    const waiting = { url: addressOf(reference.target), timeout, note: session.note };
    const limits = timeout === undefined ? { timeoutMs: CALL_TIMEOUT_MS, idleMs: CALL_TIMEOUT_MS } : {};
    const looking = { ...options, ...limits, followCards: reference.followCards };
    return { ...reference, found: await noting(waiting, () => findAgentCard(reference.target, looking)) };
  } catch (thrown) {
    const call = { url: reference.target, agent, authenticated: false, timeout, step: 'card' } as const;
    throw asCliError(signal.aborted ? signal.reason : thrown, call);
  }
}

/** The card of the agent that `--agent-card` names. */
export async function findCard(session: ContractSession): Promise<FoundAgentCard> {
  return (await find(session, await strictOptions(session))).found;
}

/** Connects to the agent that `--agent-card` or `--endpoint` names. */
export async function connect(session: ContractSession): Promise<AgentConnection> {
  const answers = createRawAnswers();
  const options = await strictOptions(session, answers);
  const endpoint = session.settings.text('endpoint');
  const agent = agentWords(session);
  if (endpoint !== undefined) refusePassword(endpoint);
  trustCertificateTo(session, [endpoint]);
  const warning = transportWarning(session.settings.list('transport'));
  if (warning !== '' && endpoint === undefined) session.note(warning);
  const from = endpoint === undefined ? await find(session, options) : undefined;
  const target = from?.found ?? endpointCard(session, endpoint ?? '');
  const connecting = async (more: ClientOptions): Promise<A2AClient> => {
    try {
      return await A2AClient.connect(target, { ...options, ...more });
    } catch (thrown) {
      throw asCliError(thrown, { url: endpoint ?? agent, agent, authenticated: false });
    }
  };
  // Nothing is called yet: which credentials go out depends on the endpoint that strict mode chooses.
  const { url, binding } = (await connecting({})).connection;
  const fallback = endpoint === undefined && warning === '' ? fallbackWarning(session.settings.list('transport'), binding) : '';
  if (fallback !== '') session.note(fallback);
  const placed = await credentialsFor(session, options, { from, url, agent });
  const client = await connecting({ auth: cardCredentials(placed) });
  return connectionOver(session, { client, answers, found: from?.found, agent, authenticated: placed.length > 0 });
}

/** With `--endpoint` there is no card. This one stands for it, and says nothing but where the agent is. */
function endpointCard({ settings }: ContractSession, endpoint: string): AgentCard {
  const [only, ...more] = readTransports(settings.list('transport'));
  if (only === undefined || more.length > 0)
    throw usage('--endpoint needs exactly one --transport', 'example: -e http://localhost:41242/a2a --transport JSONRPC');
  if (findBinding(only) === undefined) throw usage(`--transport ${only.toLowerCase()} is not supported yet`, `use ${bindingWords()}`);
  const { addressOf } = findBinding(only) ?? {};
  const address = addressOf?.(endpoint, undefined) ?? endpoint;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    throw addressOf === undefined
      ? usage(`--endpoint: ${endpoint} is not an http(s) address`)
      : usage(`--endpoint: ${endpoint} is not a host and a port`, 'example: -e localhost:41242, or -e https://agents.example.org');
  const protocolVersion = readVersion(settings.text('a2a-version')) ?? STRICT_VERSION;
  return {
    name: endpoint,
    description: '',
    version: '',
    supportedInterfaces: [{ url: endpoint, protocolBinding: only, protocolVersion }],
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  };
}

interface Calling {
  readonly from: Found | undefined;
  readonly url: string;
  readonly agent: string;
}

/**
 * The credentials for the chosen endpoint. Adds them to the secrets, which are removed from all
 * output.
 */
async function credentialsFor(
  session: ContractSession,
  { fetch }: ClientOptions,
  { from, url, agent }: Calling,
): Promise<readonly PlacedCredential[]> {
  const { settings, secrets } = session;
  const card = from?.found.card;
  const wanted = { card, url, configured: from?.configured?.authToken, fetch: fetch ?? globalThis.fetch };
  const have = await givenCredentials(session, wanted).catch((thrown: unknown) => {
    throw asCliError(thrown, { url, agent, authenticated: true });
  });
  const placed = placeCredentials(card ?? ENDPOINT_CREDENTIALS, have, session.note);
  for (const one of placed) if (one.at !== 'connection') secrets.add(one.value);
  if (placed.length > 0) checkOrigin(session, from?.found.url, url);
  // The card was read with the certificate, because the caller named its address. The endpoint sees it only by a scheme (A2ACLI_AUTH_008).
  session.certificateOrigins.clear();
  if (placed.some(({ at }) => at === 'connection')) trustCertificateTo(session, [url]);
  if (settings.isOn('insecure')) warnInsecure(session, placed.length > 0);
  return placed;
}

/** A credential is for the agent that the caller named. A card must not direct it to another origin. */
function checkOrigin({ settings }: ContractSession, cardUrl: string | undefined, url: string): void {
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

function warnInsecure(session: ContractSession, authenticated: boolean): void {
  session.note('warning: TLS certificates are not verified (--insecure)\n');
  if (authenticated)
    session.note('WARNING: a credential is sent over a connection that is not verified; an attacker on the way can read it\n');
}

interface Connected {
  readonly client: A2AClient;
  readonly answers: RawAnswers;
  readonly found: FoundAgentCard | undefined;
  readonly agent: string;
  readonly authenticated: boolean;
}

/** Binds the client to the session: its deadline, its extensions and its error texts. */
function connectionOver(session: ContractSession, { client, answers, found, agent, authenticated }: Connected): AgentConnection {
  const { url, binding, version, dialect } = client.connection;
  const timeout = session.settings.text('timeout');
  const call: CallDescription = { url, agent, authenticated, timeout, answers };
  const extensions = extensionsFor(session, found);
  return {
    found,
    url,
    binding,
    version,
    service: withCallTimeout(client.service, { url, timeout, note: session.note }),
    answers,
    call,
    agent,
    ctx: ({ idempotencyKey, signal } = {}) => ({
      principal: LOCAL_PRINCIPAL,
      dialect: dialectId(dialect),
      extensions,
      signal: signal === undefined ? session.signal : linkSignals([session.signal, signal]).signal,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    }),
    run: async (run, more) => {
      try {
        return await run();
      } catch (thrown) {
        throw asCliError(thrown, { ...call, ...more });
      }
    },
  };
}

/** Declares the extensions of `--extension`, and warns about those that the agent requires besides (A2ACLI_VER_002). */
function extensionsFor(session: ContractSession, found: FoundAgentCard | undefined): readonly string[] {
  const supported = session.settings.list('extension');
  const required = (found?.card.capabilities.extensions ?? []).filter((extension) => extension.required === true).map(({ uri }) => uri);
  for (const uri of required.filter((one) => !supported.includes(one))) {
    session.note(`warning: the agent requires the extension ${uri}; if you support it add --extension ${uri}\n`);
  }
  return supported;
}
