import { DEFAULT_BINDING, findBinding } from '#bindings';
import type { AgentCard, AgentInterface, Fetch } from '#protocol';
import { hasAddress, isStandardBinding, withoutEndSlashes } from '#protocol';
import { interfaceAddress } from '../discovery/interface-address.ts';
import { CARD_PATHS, readTarget } from '../discovery/target.ts';
import type { ExaminedCard } from './card.ts';
import { lookForCard } from './card.ts';
import { declaredFindings } from './declared.ts';
import type { Finding } from './finding.ts';
import { error, ok } from './finding.ts';
import type { InterfaceTestOptions, WorkingInterface } from './interfaces.ts';
import { interfaceName, otherDialect, testInterface } from './interfaces.ts';
import { sendAndStreamFindings } from './send.ts';

export { type Finding, interfaceName };

/** Options of `examine`. */
export interface Examination {
  /** Sends the requests, without credentials. */
  readonly fetch: Fetch;
  /** Ends the examination. */
  readonly signal: AbortSignal;
  /** Time limit of each request in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Returns a fetch with the credentials that the card asks for; undefined if there are none. Used only
   * for the card's own origin.
   */
  readonly known?: (card: AgentCard) => Fetch | undefined;
  /** A message to send. Without it, the examination only reads. */
  readonly say?: string | undefined;
}

/**
 * Examines an agent: network, card, interfaces, and a message if there is one. Yields each finding as soon as it is known.
 *
 * ```ts
 * for await (const { level, what } of examine('localhost:41242', { fetch, signal, timeoutMs: 10_000 })) console.log(level, what);
 * ```
 */
export async function* examine(target: string, examination: Examination): AsyncGenerator<Finding, void> {
  const read = readTarget(target);
  if (read.kind === 'file') {
    yield error('not-an-address', `${target} is a file; doctor examines addresses`, {
      fix: 'parley card get --validate checks a card file',
    });
    return;
  }
  const types: string[] = [];
  const seen =
    (fetch: Fetch): Fetch =>
    async (request) => {
      const response = await fetch(request);
      types.push(response.headers.get('content-type') ?? '');
      return response;
    };
  const known = (card: AgentCard): Fetch | undefined => {
    const fetch = examination.known?.(card);
    return fetch === undefined ? undefined : seen(fetch);
  };
  const watched: Examination = { ...examination, fetch: seen(examination.fetch), known };
  const found = yield* cardOf(read.url, watched);
  if (found === 'ends') return;
  const works = found === undefined ? yield* withoutCard(read.url, watched) : yield* interfacesOf(found, watched);
  if (works === undefined || examination.say === undefined) return;
  const streams = found?.card.capabilities.streaming === true;
  yield* await sendAndStreamFindings(works, { ...examination, text: examination.say, streams, lastType: () => types.at(-1) ?? '' });
}

/** Looks for the card at each known path. Reports failures only if no path has a card. */
async function* cardOf(url: URL, options: Examination): AsyncGenerator<Finding, ExaminedCard | undefined | 'ends'> {
  const base = withoutEndSlashes(`${url.origin}${url.pathname}`);
  const places = /\.json$/.test(url.pathname) ? [url.href] : CARD_PATHS.map((path) => `${base}${path}`);
  const failures: Finding[] = [];
  for (const place of places) {
    const { found, findings, ends } = await lookForCard(place, options);
    if (found !== undefined) {
      yield* findings;
      return found;
    }
    failures.push(...findings);
    if (ends) break;
  }
  const telling = failures.find(({ id }) => id !== 'card-not-found');
  if (telling !== undefined) yield telling;
  return telling !== undefined && telling.id !== 'card-html' && telling.id !== 'card-redirect' ? 'ends' : undefined;
}

const CALL_PATHS = ['', '/a2a', '/a2a/jsonrpc', '/api/a2a'];

/** Looks for an agent that answers calls although it has no card. */
async function* withoutCard(url: URL, examination: Examination): AsyncGenerator<Finding, WorkingInterface | undefined> {
  const base = withoutEndSlashes(`${url.origin}${url.pathname}`);
  const options: InterfaceTestOptions = { ...examination, url: url.href, authenticated: false, declaresAuth: false };
  for (const path of CALL_PATHS) {
    const works = await otherDialect(`${base}${path}`, undefined, options);
    if (works === undefined) continue;
    yield error('no-card', `there is no card, but ${base}${path} answers in ${works.dialect.title}`, {
      url: base,
      fix: 'serve a card at /.well-known/agent-card.json, or clients have to guess',
    });
    return works;
  }
  yield error('no-agent', `there is no agent at ${url.href}`, {
    why: 'no card at any known place, and no answer in any dialect',
    url: url.href,
    fix: 'check the address; agents are often at the root of a host, or at /a2a',
  });
  return undefined;
}

/** Tests every interface of the card. Returns the first one that works. */
async function* interfacesOf(found: ExaminedCard, examination: Examination): AsyncGenerator<Finding, WorkingInterface | undefined> {
  const declared = declaredFindings(found);
  yield* declared;
  const demands = (found.card.securityRequirements ?? []).length > 0;
  const known = examination.known?.(found.card);
  const bad = new Set(declared.filter(({ level }) => level === 'error').map(({ url }) => url));
  let first: WorkingInterface | undefined;
  for (const iface of interfacesIn(found)) {
    if (isStandardBinding(iface.protocolBinding) && findBinding(iface.protocolBinding) === undefined) {
      yield {
        id: 'not-tried',
        level: 'note',
        what: `${interfaceName(iface)}: not tried, parley does not speak it`,
        url: iface.url,
      };
      continue;
    }
    const address = interfaceAddress(iface, found.url);
    if (bad.has(iface.url) || !hasAddress(iface) || address === undefined) continue;
    const isHome = new URL(address).origin === new URL(found.url).origin;
    const fetch = isHome && known !== undefined ? known : examination.fetch;
    const options: InterfaceTestOptions = {
      ...examination,
      url: address,
      fetch,
      authenticated: known !== undefined && isHome,
      declaresAuth: demands,
    };
    const { findings, works } = await testInterface(iface, found.dialect, options);
    yield* findings;
    first ??= works;
  }
  if (first !== undefined && demands && known === undefined) {
    yield error('auth-not-enforced', 'the card demands credentials, but the agent answers without them', {
      url: found.url,
      fix: 'check them, or do not demand them',
    });
  }
  if (first !== undefined) yield ok('usable', `parley ask ${baseOf(found.url)} works by ${first.dialect.title}`);
  return first;
}

/** The address to connect to: the address of the card without the card's path. */
function baseOf(cardUrl: string): string {
  const path = CARD_PATHS.find((each) => cardUrl.endsWith(each));
  return path === undefined ? cardUrl : cardUrl.slice(0, -path.length);
}

/** A PromptKit card names no address: its clients call `/a2a` beside the card. */
function interfacesIn({ card, dialect, url }: ExaminedCard): readonly AgentInterface[] {
  const { callPath } = dialect.wire;
  if (card.supportedInterfaces.length > 0 || callPath === undefined) return card.supportedInterfaces;
  return [{ url: `${baseOf(url)}${callPath}`, protocolBinding: DEFAULT_BINDING.protocolBinding, protocolVersion: '' }];
}
