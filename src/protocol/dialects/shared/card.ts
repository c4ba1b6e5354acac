import type { AgentCapabilities, AgentCardSignature, AgentExtension, AgentProvider, AgentSkill } from '../../card.ts';
import type { Mutable } from '../../json.ts';
import type { ReadEnv } from '../dialect.ts';
import { fail, flagIf, listIf, metadataIf, object, text, textIf, textsIf } from './read.ts';
import { readRequirement } from './security.ts';

/**
 * The members that cards of all versions share. Members that 1.0 requires and older cards leave out are
 * filled with empty values.
 */
export function readSkill(raw: unknown, env: ReadEnv): AgentSkill {
  const s = object(raw);
  const name = textIf(s.name, 'name');
  const id = textIf(s.id, 'id') ?? name ?? fail('id', 'is required');
  const out: Mutable<AgentSkill> = {
    id,
    name: name ?? id,
    description: textIf(s.description, 'description') ?? '',
    tags: textsIf(s.tags, 'tags') ?? [],
  };
  const examples = textsIf(s.examples, 'examples');
  if (examples !== undefined) out.examples = examples;
  const inputModes = modesIf(s.inputModes ?? s.input_modes, 'inputModes');
  if (inputModes !== undefined) out.inputModes = inputModes;
  const outputModes = modesIf(s.outputModes ?? s.output_modes, 'outputModes');
  if (outputModes !== undefined) out.outputModes = outputModes;
  const requirements = listIf(
    s.securityRequirements ?? s.security_requirements ?? s.security,
    'securityRequirements',
    readRequirement,
    env,
  );
  if (requirements !== undefined) out.securityRequirements = requirements;
  return out;
}

/** Reads capabilities in camelCase and in snake_case. */
export function readCapabilities(raw: unknown, env: ReadEnv): AgentCapabilities {
  const c = object(raw);
  const out: Mutable<AgentCapabilities> = {};
  const streaming = flagIf(c.streaming, 'streaming');
  if (streaming !== undefined) out.streaming = streaming;
  const push = flagIf(c.pushNotifications ?? c.push_notifications, 'pushNotifications');
  if (push !== undefined) out.pushNotifications = push;
  const extended = flagIf(c.extendedAgentCard ?? c.extended_agent_card, 'extendedAgentCard');
  if (extended !== undefined) out.extendedAgentCard = extended;
  const extensions = listIf(c.extensions, 'extensions', readExtension, env);
  if (extensions !== undefined) out.extensions = extensions;
  return out;
}

/** Empty texts and `required: false` count as absent, as in ProtoJSON. */
function readExtension(raw: unknown, env: ReadEnv): AgentExtension {
  const e = object(raw);
  const out: Mutable<AgentExtension> = { uri: text(e.uri, 'uri') };
  const description = textIf(e.description, 'description');
  if (description) out.description = description;
  const required = flagIf(e.required, 'required');
  if (required === true) out.required = required;
  const params = metadataIf(e.params, 'params', env);
  if (params !== undefined) out.params = params;
  return out;
}

export function readProvider(raw: unknown): AgentProvider {
  const p = object(raw);
  return { organization: text(p.organization, 'organization'), url: textIf(p.url, 'url') ?? '' };
}

export function readSignature(raw: unknown, env: ReadEnv): AgentCardSignature {
  const s = object(raw);
  const header = metadataIf(s.header, 'header', env);
  const out = { protected: text(s.protected, 'protected'), signature: text(s.signature, 'signature') };
  return header === undefined ? out : { ...out, header };
}

/** 0.1 and Cortex write `text` for `text/plain`. */
export function modesIf(value: unknown, name: string): string[] | undefined {
  return textsIf(value, name)?.map((mode) => (mode === 'text' ? 'text/plain' : mode));
}
