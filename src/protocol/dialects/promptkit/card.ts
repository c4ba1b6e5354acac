import type { AgentCard, AgentSkill } from '../../card.ts';
import type { JsonObject } from '../../json.ts';
import { jsonOf } from '../../json.ts';
import type { CardCodec, Confidence, ReadEnv } from '../dialect.ts';
import { readCardMembers, readInterface } from '../shared/card-members.ts';
import { attempt, isRaw, listIf, object } from '../shared/read.ts';

/**
 * PromptKit's card is 1.0's without security, and usually without interfaces: its clients post to
 * `/a2a` beside the card. So a card without any address is recognised as PromptKit's; one with
 * interfaces is read as 1.0's.
 */
export const card: CardCodec = {
  detect: (raw): Confidence => {
    if (!isRaw(raw) || typeof raw.name !== 'string' || 'parts' in raw) return 'no';
    const addressed = [raw.url, raw.interfaces, raw.supportedInterfaces, raw.supported_interfaces].some(isFilled);
    return addressed ? 'no' : 'grammar';
  },
  read: (raw, env) => attempt(readCard, raw, env),
  write: writeCard,
};

function readCard(raw: unknown, env: ReadEnv): AgentCard {
  const c = object(raw);
  return readCardMembers(c, listIf(c.supportedInterfaces, 'supportedInterfaces', readInterface, env) ?? [], env);
}

/** Leaves out security, which PromptKit's card does not have. */
function writeCard(value: AgentCard): JsonObject {
  const { securitySchemes: _, securityRequirements: __, supportedInterfaces, capabilities, ...rest } = value;
  const { extensions, ...flags } = capabilities;
  return {
    ...jsonOf(rest),
    capabilities: {
      ...flags,
      ...(extensions === undefined ? {} : { extensions: extensions.map(({ params: ___, ...extension }) => extension) }),
    },
    skills: value.skills.map(writeSkill),
    ...(supportedInterfaces.length === 0
      ? {}
      : { supportedInterfaces: supportedInterfaces.map(({ tenant: ____, ...where }) => ({ ...where })) }),
  };
}

function writeSkill({ securityRequirements: _, ...skill }: AgentSkill): JsonObject {
  return jsonOf(skill);
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}
