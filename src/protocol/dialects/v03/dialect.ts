import type { Confidence, Dialect, Hints } from '../dialect.ts';
import type { Raw } from '../shared/read.ts';
import type { CardEdition } from './card.ts';
import { CODES } from './codes.ts';
import { hasKind, saysTaskId } from './detect.ts';
import type { Edition } from './kind-dialect.ts';
import { kindDialect } from './kind-dialect.ts';
import { restDialect } from './rest-dialect.ts';

const V02 = /^0\.2(\.|$)/;

/**
 * Members that no card had before 0.2. A card of 0.2 that names its version belongs to that release.
 */
function detectCard(raw: Raw): Confidence {
  if (typeof raw.protocolVersion === 'string') return V02.test(raw.protocolVersion) ? 'grammar' : 'shape';
  const marks = [raw.preferredTransport, raw.additionalInterfaces, raw.securitySchemes, raw.security];
  return marks.some((mark) => mark !== undefined) || raw.supportsAuthenticatedExtendedCard !== undefined ? 'shape' : 'no';
}

const card: CardEdition = { protocolVersion: '0.3.0', interfaceVersion: '0.3', transports: true, detect: detectCard };

const edition: Edition = {
  id: 'v03',
  title: 'A2A 0.3',
  without: [],
  losses: [],
  taskId: 'id',
  codes: CODES,
  card,
  detect: (hints) => (hints.method === undefined || !isMethod(hints) ? 'no' : hasKind(hints.params) ? 'shape' : 'grammar'),
  // coding-agent-a2a: at an approval the stream stays open, and the answer comes by another call.
  traits: { streamsThroughQuestions: true },
  wire: {},
};

/** A2A 0.3.0 over JSON-RPC. */
export const v03: Dialect = kindDialect(edition);

/**
 * 0.3 as coding-agent-a2a's document has it: `{taskId}`, and canceling a finished task is no error
 * (docs/dialects/v03.md).
 */
export const v03TaskId: Dialect = kindDialect({
  ...edition,
  id: 'v03.taskid',
  title: 'A2A 0.3 as coding-agent-a2a spells it (taskId)',
  taskId: 'taskId',
  card: { ...card, detect: () => 'no' },
  detect: (hints) => (saysTaskId(hints) ? 'shape' : 'no'),
  traits: { ...edition.traits, cancelFinished: 'returns-task' },
});

/** A2A 0.3.0 over HTTP+JSON. */
export const v03Rest: Dialect = restDialect(card);

function isMethod(hints: Hints): boolean {
  return hints.method !== undefined && v03.operationOf(hints.method) !== undefined;
}
