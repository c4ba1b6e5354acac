import type { AgentCard, AgentInterface } from '../card.ts';
import type { DialectId } from '../ids.ts';
import { dialectId } from '../ids.ts';
import type { Operation } from '../operations.ts';
import type { Confidence, Decoded, Dialect, Hints, ReadEnv } from './dialect.ts';
import { CONFIDENCE } from './dialect.ts';

/** A set of dialects, with the functions that choose among them. */
export interface Registry {
  /** The dialects, in order of precedence. */
  readonly all: readonly Dialect[];
  /** The dialect with this id, for example `v10` or `sam.documented`. */
  byId(id: string): Dialect | undefined;
  /**
   * The dialect of a request. `origin` returns the dialect in which the request's task was created, if
   * that is stored. It decides where the request itself leaves it open: get, cancel and subscribe look
   * alike in half of the dialects.
   */
  detect(hints: Hints, origin?: () => DialectId | undefined): Dialect | undefined;
  /** Reads a card of any dialect. Undefined if no dialect recognises it. */
  readCard(raw: unknown, env: ReadEnv): FoundCard | undefined;
  /** The form of a dialect for HTTP+JSON: the dialect itself or a variant. Undefined if it has none. */
  restForm(dialect: Dialect): Dialect | undefined;
  /** The dialect to use for an interface of a 1.0 card, by its protocol version. */
  speaks(iface: Pick<AgentInterface, 'protocolVersion'>): Dialect | undefined;
}

/** A card with the dialect that it was read in. */
export interface FoundCard {
  /** Dialect of the card's form. */
  readonly dialect: Dialect;
  readonly card: Decoded<AgentCard>;
  /**
   * Dialect to call the agent in. It equals `dialect`, unless a card in 1.0's form lists only
   * interfaces of older versions. A client that chooses another interface than the first asks `speaks`
   * about that one.
   */
  readonly calls: Dialect;
}

/**
 * Dialects of the published versions. Products state one of these versions too, and are recognised by
 * the form of their cards.
 */
const DIALECT_OF_VERSION: ReadonlyMap<string, string> = new Map([
  ['1.0', 'v10'],
  ['0.3', 'v03'],
  ['0.2', 'v02'],
  ['0.1', 'v01'],
]);

/**
 * The dialect of the current A2A version. Its shapes and semantics are the canonical ones, so it is the dialect of calls that this process
 * makes to its own services.
 */
export const CURRENT_DIALECT: DialectId = dialectId('v10');

/**
 * Operations whose requests contain little more than a task id, so their form does not reveal a
 * dialect.
 */
const BY_TASK: ReadonlySet<Operation | undefined> = new Set<Operation>(['get', 'cancel', 'subscribe']);

/** How sure a dialect can be and still leave a request to the dialect in which its task was made. */
const UNSURE: ReadonlySet<Confidence> = new Set<Confidence>(['grammar', 'mount']);

/**
 * A registry of the given dialects, usually `DIALECTS` or these and one of your own.
 *
 * ```ts
 * const registry = createRegistry([...DIALECTS, acme]);
 * registry.detect({ method: 'SendMessage', params })?.title; // 'A2A 1.0'
 * ```
 */
export function createRegistry(dialects: readonly Dialect[]): Registry {
  const byId = new Map<string, Dialect>(dialects.map((dialect) => [dialect.id, dialect]));
  const speaks: Registry['speaks'] = ({ protocolVersion }) => {
    const version = /^(\d+)\.(\d+)/.exec(protocolVersion);
    if (version === null) return undefined;
    // A later 1.x is called as 1.0, the nearest version that we speak. Its server rejects that if it must (A2A 1.0.1 §3.6.2).
    const known = version[1] === '1' ? '1.0' : version[0];
    return byId.get(DIALECT_OF_VERSION.get(known) ?? '');
  };
  /** 0.x that the caller states in `A2A-Version`. 1.0 tells nothing: CortexPrism's client states it too. */
  const statedDialect = (hints: Hints): Dialect | undefined => {
    const dialect = hints.version?.startsWith('0.') === true ? speaks({ protocolVersion: hints.version }) : undefined;
    return dialect !== undefined && dialect.detect(hints) !== 'no' ? dialect : undefined;
  };
  return {
    speaks,
    all: dialects,
    byId: (id) => byId.get(id),
    restForm: ({ id }) => dialects.find((other) => other.rest !== undefined && (other.id === id || other.id.startsWith(`${id}.`))),
    detect: (hints, origin) => {
      const found = surest(dialects, (dialect, best) => (best === 'shape' && dialect.claimsPaths !== true ? 'no' : dialect.detect(hints)));
      const operation = hints.method === undefined ? undefined : found?.dialect.operationOf(hints.method);
      const stated = operation === 'list' || BY_TASK.has(operation) ? statedDialect(hints) : undefined;
      if (stated !== undefined) return stated;
      if (found === undefined || !UNSURE.has(found.confidence) || origin === undefined || !BY_TASK.has(operation)) return found?.dialect;
      const made = byId.get(origin() ?? '');
      if (made === undefined) return found.dialect;
      if (made.detect(hints) !== 'no') return made;
      // Society has no such methods. A 0.1 caller may have sent a request that looked like Society's; in 0.1 callers name tasks too.
      const named = made.wire.callerNamesTask === true ? dialects.filter(({ wire }) => wire.callerNamesTask === true) : [];
      return surest(named, (dialect) => dialect.detect(hints))?.dialect ?? found.dialect;
    },
    readCard: (raw, env) => {
      const dialect = surest(dialects, (candidate) => candidate.card.detect(raw))?.dialect;
      if (dialect === undefined) return undefined;
      const card = dialect.card.read(raw, env);
      return { dialect, card, calls: (card.ok ? callsOf(dialect, card.value, speaks) : undefined) ?? dialect };
    },
  };
}

/** Only a card in the canonical form can list interfaces of versions other than its own. */
function callsOf(dialect: Dialect, card: AgentCard, speaks: Registry['speaks']): Dialect | undefined {
  const spoken = card.supportedInterfaces.map(speaks);
  if (dialect.id !== CURRENT_DIALECT || spoken.includes(dialect)) return dialect;
  return spoken.find((other) => other !== undefined);
}

/**
 * The dialect with the highest confidence. Of equal ones the first wins, so the order of dialects
 * matters.
 */
function surest(dialects: readonly Dialect[], ask: (dialect: Dialect, best: Confidence | undefined) => Confidence) {
  let best: { readonly dialect: Dialect; readonly confidence: Confidence } | undefined;
  for (const dialect of dialects) {
    const confidence = ask(dialect, best?.confidence);
    if (confidence !== 'no' && CONFIDENCE.indexOf(confidence) > (best === undefined ? 0 : CONFIDENCE.indexOf(best.confidence))) {
      best = { dialect, confidence };
    }
  }
  return best;
}
