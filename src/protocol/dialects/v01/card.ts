import type { AgentCard } from '../../card.ts';
import type { Json } from '../../json.ts';
import type { CardCodec, Confidence } from '../dialect.ts';
import { readPlainCard, writePlainCard, writePlainSkill } from '../shared/plain-card.ts';
import { attempt, isRaw } from '../shared/read.ts';

/** Members of later versions or of a product. A card that has one is not 0.1's. */
const LATER = [
  'supportedInterfaces',
  'protocolVersion',
  'securitySchemes',
  'security',
  'preferredTransport',
  'additionalInterfaces',
  'supportsAuthenticatedExtendedCard',
  'interfaces',
  'transport',
] as const;

export const card: CardCodec = {
  detect: (raw): Confidence => {
    if (!isRaw(raw) || typeof raw.url !== 'string' || LATER.some((name) => raw[name] !== undefined)) return 'no';
    // 0.1 requires `version`, and 0.2 replaced `authentication`.
    return isRaw(raw.authentication) && typeof raw.version === 'string' ? 'shape' : 'grammar';
  },
  read: (raw, env) => attempt(readPlainCard, raw, env),
  write: writeCard,
};

function writeCard(value: AgentCard): Json {
  const out = writePlainCard(value);
  out.version = value.version;
  out.defaultInputModes = value.defaultInputModes;
  out.defaultOutputModes = value.defaultOutputModes;
  out.skills = value.skills.map((skill) => {
    const written = writePlainSkill(skill);
    if (skill.inputModes !== undefined) written.inputModes = skill.inputModes;
    if (skill.outputModes !== undefined) written.outputModes = skill.outputModes;
    return written;
  });
  return out;
}
