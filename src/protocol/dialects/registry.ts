import type { AgentCard } from '../card.ts';
import type { DialectId } from '../ids.ts';
import type { Operation } from '../operations.ts';
import type { Decoded, Dialect, Hints, ReadEnv } from './dialect.ts';
import { CONFIDENCE } from './dialect.ts';
import { sam, samDocumented } from './sam/dialect.ts';
import { society } from './society/dialect.ts';
import { v01 } from './v01/dialect.ts';
import { v02, v02Releases } from './v02/dialect.ts';
import { v03, v03Rest, v03TaskId } from './v03/dialect.ts';
import { v10, v10Generation } from './v10/dialect.ts';

/** Every dialect, in the order that settles ties. A new one is a folder and a line here. */
export const DIALECTS: readonly Dialect[] = [
  ...[v10, v10Generation],
  ...[v03, v03TaskId, v03Rest],
  ...[v02, ...v02Releases],
  ...[v01, society],
  ...[sam, samDocumented],
];

export interface Registry {
  readonly all: readonly Dialect[];
  byId(id: string): Dialect | undefined;
  /**
   * The dialect of a request. `origin` is the dialect its task was made in, if anybody remembers: it settles what the
   * request's own shape leaves open (get, cancel and subscribe look alike in half of the dialects).
   */
  detect(hints: Hints, origin?: () => DialectId | undefined): Dialect | undefined;
  /** Reads any known card, and says whose it was. */
  readCard(raw: unknown, env: ReadEnv): { readonly dialect: Dialect; readonly card: Decoded<AgentCard> } | undefined;
}

const BY_TASK: ReadonlySet<Operation | undefined> = new Set<Operation>(['get', 'cancel', 'subscribe']);

export function createRegistry(dialects: readonly Dialect[]): Registry {
  const byId = new Map<string, Dialect>(dialects.map((dialect) => [dialect.id, dialect]));
  return {
    all: dialects,
    byId: (id) => byId.get(id),
    detect: (hints, origin) => {
      const found = surest(dialects, (dialect) => dialect.detect(hints));
      if (found === undefined || found.confidence !== 'grammar' || origin === undefined) return found?.dialect;
      if (hints.method === undefined || !BY_TASK.has(found.dialect.operationOf(hints.method))) return found.dialect;
      const made = byId.get(origin() ?? '');
      return made !== undefined && made.detect(hints) !== 'no' ? made : found.dialect;
    },
    readCard: (raw, env) => {
      const dialect = surest(dialects, (candidate) => candidate.card.detect(raw))?.dialect;
      return dialect === undefined ? undefined : { dialect, card: dialect.card.read(raw, env) };
    },
  };
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
