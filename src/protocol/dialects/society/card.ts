import type { AgentCard } from '../../card.ts';
import type { Json } from '../../json.ts';
import type { CardCodec, Confidence } from '../dialect.ts';
import { isPlainModes, readPlainCard, writePlainCard, writePlainSkill } from '../shared/plain-card.ts';
import type { Raw } from '../shared/read.ts';
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
    return raw.version === undefined || isOfDaemon(raw) ? 'shape' : 'grammar';
  },
  read: (raw, env) => attempt(readPlainCard, raw, env),
  write: writeCard,
};

/** Go leaves out what is empty. A card with media types and tags can be 0.2.4's too, which requires both; 0.2.4 is more common. */
function isOfDaemon({ capabilities, authentication, skills, defaultInputModes: modes }: Raw): boolean {
  if (!isRaw(capabilities) || Object.keys(capabilities).length > 0 || authentication !== undefined) return false;
  const hasMediaTypes = Array.isArray(modes) && modes.some((mode) => typeof mode === 'string' && mode.includes('/'));
  const hasTags = Array.isArray(skills) && skills.length > 0 && skills.every((skill) => isRaw(skill) && Array.isArray(skill.tags));
  return !(hasMediaTypes && hasTags);
}

/** Go leaves out empty members. Absent modes mean text. */
function writeCard(value: AgentCard): Json {
  const out = writePlainCard(value);
  if (!isPlainModes(value.defaultInputModes)) out.defaultInputModes = value.defaultInputModes;
  if (!isPlainModes(value.defaultOutputModes)) out.defaultOutputModes = value.defaultOutputModes;
  if (value.skills.length > 0) out.skills = value.skills.map(writePlainSkill);
  return out;
}
