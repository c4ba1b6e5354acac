import type { AgentCard } from '../../card.ts';
import type { Json } from '../../json.ts';
import type { CardCodec, Confidence } from '../dialect.ts';
import { isPlainModes, readPlainCard, writePlainCard, writePlainSkill } from '../shared/plain-card.ts';
import { attempt, isRaw } from '../shared/read.ts';

/** Members that Society's card lacks. */
const OTHERS = ['supportedInterfaces', 'protocolVersion', 'interfaces', 'securitySchemes', 'security', 'preferredTransport'] as const;

/**
 * Nearly 0.1's card. Only Society has `transport` (how its registry reaches the agent), and only its
 * `run` leaves out the version. A card of its daemon has a version, but Go leaves out the members of
 * `capabilities` that are false, and 0.1's servers write them.
 */
export const card: CardCodec = {
  detect: (raw): Confidence => {
    if (!isRaw(raw) || typeof raw.url !== 'string' || OTHERS.some((name) => raw[name] !== undefined)) return 'no';
    if (isRaw(raw.transport) && typeof raw.transport.type === 'string') return 'path';
    const isGo = isRaw(raw.capabilities) && Object.keys(raw.capabilities).length === 0 && raw.authentication === undefined;
    return raw.version === undefined || isGo ? 'shape' : 'grammar';
  },
  read: (raw, env) => attempt(readPlainCard, raw, env),
  write: writeCard,
};

/** Go leaves out empty members. Absent modes mean text. */
function writeCard(value: AgentCard): Json {
  const out = writePlainCard(value);
  if (!isPlainModes(value.defaultInputModes)) out.defaultInputModes = value.defaultInputModes;
  if (!isPlainModes(value.defaultOutputModes)) out.defaultOutputModes = value.defaultOutputModes;
  if (value.skills.length > 0) out.skills = value.skills.map(writePlainSkill);
  return out;
}
