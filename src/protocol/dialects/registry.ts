import type { AgentCard, AgentInterface } from '../card.ts';
import type { DialectId } from '../ids.ts';
import type { Operation } from '../operations.ts';
import { cortex } from './cortex/dialect.ts';
import type { Decoded, Dialect, Hints, ReadEnv } from './dialect.ts';
import { CONFIDENCE } from './dialect.ts';
import { promptkit } from './promptkit/dialect.ts';
import { sam, samDocumented } from './sam/dialect.ts';
import { society } from './society/dialect.ts';
import { v01 } from './v01/dialect.ts';
import { v02, v02Releases } from './v02/dialect.ts';
import { v03, v03Rest, v03TaskId } from './v03/dialect.ts';
import { v10, v10Generation } from './v10/dialect.ts';
import { mqtt01 } from './v10/mqtt.ts';

/** Every dialect, in the order that settles ties. A new one is a folder and a line here. */
export const DIALECTS: readonly Dialect[] = [
  ...[v10, v10Generation, mqtt01],
  ...[v03, v03TaskId, v03Rest],
  ...[v02, ...v02Releases],
  ...[v01, society],
  promptkit,
  ...[sam, samDocumented],
  cortex,
];

export interface Registry {
  readonly all: readonly Dialect[];
  byId(id: string): Dialect | undefined;
  /**
   * The dialect of a request. `origin` is the dialect its task was made in, if anybody remembers: it settles what the
   * request's own shape leaves open (get, cancel and subscribe look alike in half of the dialects).
   */
  detect(hints: Hints, origin?: () => DialectId | undefined): Dialect | undefined;
  /** Reads any known card, and says whose it was; undefined if no dialect knows it for one of its own. */
  readCard(raw: unknown, env: ReadEnv): FoundCard | undefined;
  /** The form of a dialect that goes over HTTP+JSON: itself, or its variant; undefined if it has none. */
  restForm(dialect: Dialect): Dialect | undefined;
  /** The dialect in which an interface of a 1.0 card wants to be called, by the version it states. */
  speaks(iface: Pick<AgentInterface, 'protocolVersion'>): Dialect | undefined;
}

export interface FoundCard {
  /** Whose shape the card has. */
  readonly dialect: Dialect;
  readonly card: Decoded<AgentCard>;
  /**
   * Who will understand calls. The same, unless a card in 1.0's shape lists only interfaces of older versions. A client that picks
   * another interface than the first asks `speaks` about that one.
   */
  readonly calls: Dialect;
}

/** The published versions, as interfaces state them. Products state one of these, so theirs are known by their cards alone. */
const DIALECT_OF_VERSION: ReadonlyMap<string, DialectId> = new Map([
  ['1.0', v10.id],
  ['0.3', v03.id],
  ['0.2', v02.id],
  ['0.1', v01.id],
]);

/**
 * The dialect of the current A2A version. Its shapes and semantics are the canonical ones, so it is the dialect of calls that this process
 * makes to its own services.
 */
export const CURRENT_DIALECT: DialectId = v10.id;

const BY_TASK: ReadonlySet<Operation | undefined> = new Set<Operation>(['get', 'cancel', 'subscribe']);

export function createRegistry(dialects: readonly Dialect[]): Registry {
  const byId = new Map<string, Dialect>(dialects.map((dialect) => [dialect.id, dialect]));
  const speaks: Registry['speaks'] = ({ protocolVersion }) => {
    const version = /^(\d+)\.(\d+)/.exec(protocolVersion);
    if (version === null) return undefined;
    // A later 1.x is called as 1.0, the nearest that we speak; its server says so if that will not do (A2A 1.0.1 §3.6.2).
    const known = version[1] === '1' ? '1.0' : version[0];
    return byId.get(DIALECT_OF_VERSION.get(known) ?? '');
  };
  return {
    speaks,
    all: dialects,
    byId: (id) => byId.get(id),
    restForm: ({ id }) => dialects.find((other) => other.rest !== undefined && (other.id === id || other.id.startsWith(`${id}.`))),
    detect: (hints, origin) => {
      const found = surest(dialects, (dialect) => dialect.detect(hints));
      if (found === undefined || found.confidence !== 'grammar' || origin === undefined) return found?.dialect;
      if (hints.method === undefined || !BY_TASK.has(found.dialect.operationOf(hints.method))) return found.dialect;
      const made = byId.get(origin() ?? '');
      if (made === undefined) return found.dialect;
      if (made.detect(hints) !== 'no') return made;
      // Society has no such methods, and 0.1, whose caller may have sent what looks like Society's, knows tasks by their callers' names as well.
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

/** Only a card in the canonical shape can list interfaces of other versions than its own. */
function callsOf(dialect: Dialect, card: AgentCard, speaks: Registry['speaks']): Dialect | undefined {
  const spoken = card.supportedInterfaces.map(speaks);
  if (dialect.id !== CURRENT_DIALECT || spoken.includes(dialect)) return dialect;
  return spoken.find((other) => other !== undefined);
}

function surest(dialects: readonly Dialect[], ask: (dialect: Dialect) => (typeof CONFIDENCE)[number]) {
  let best: { readonly dialect: Dialect; readonly confidence: (typeof CONFIDENCE)[number] } | undefined;
  for (const dialect of dialects) {
    const confidence = ask(dialect);
    if (confidence !== 'no' && CONFIDENCE.indexOf(confidence) > (best === undefined ? 0 : CONFIDENCE.indexOf(best.confidence))) {
      best = { dialect, confidence };
    }
  }
  return best;
}
