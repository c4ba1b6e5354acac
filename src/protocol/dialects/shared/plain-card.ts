import type { AgentCapabilities, AgentCard, AgentInterface, AgentSkill } from '../../card.ts';
import type { JsonDraft, Mutable } from '../../json.ts';
import type { Loss, ReadEnv } from '../dialect.ts';
import { authenticationLosses, readAuthentication, writeAuthentication } from './authentication.ts';
import { modesIf, readCapabilities, readProvider, readSkill } from './card.ts';
import { filledText, listIf, memberIf, object, text, textIf } from './read.ts';

/**
 * The card of 0.1, which Society uses too: one url, `authentication`, and few required members. Absent
 * modes mean text.
 */
const MODES: readonly string[] = ['text/plain'];

/** Reads a card of 0.1 or Society. */
export function readPlainCard(raw: unknown, env: ReadEnv): AgentCard {
  const c = object(raw);
  const out: Mutable<AgentCard> = {
    name: text(c.name, 'name'),
    description: textIf(c.description, 'description') ?? '',
    version: textIf(c.version, 'version') ?? '',
    supportedInterfaces: [{ url: filledText(c.url, 'url'), protocolBinding: 'JSONRPC', protocolVersion: '0.1' }],
    capabilities: memberIf(c.capabilities, 'capabilities', readPlainCapabilities, env) ?? {},
    defaultInputModes: modesIf(c.defaultInputModes, 'defaultInputModes') ?? MODES,
    defaultOutputModes: modesIf(c.defaultOutputModes, 'defaultOutputModes') ?? MODES,
    skills: listIf(c.skills, 'skills', readSkill, env) ?? [],
  };
  const provider = memberIf(c.provider, 'provider', readProvider, env);
  if (provider !== undefined) out.provider = provider;
  const documentationUrl = textIf(c.documentationUrl, 'documentationUrl');
  if (documentationUrl) out.documentationUrl = documentationUrl;
  const security = memberIf(c.authentication, 'authentication', readAuthentication, env);
  if (security !== undefined) {
    out.securitySchemes = security.schemes;
    out.securityRequirements = security.requirements;
  }
  return out;
}

function readPlainCapabilities(raw: unknown, env: ReadEnv): AgentCapabilities {
  const { streaming, pushNotifications } = readCapabilities(raw, env);
  return { ...(streaming === undefined ? {} : { streaming }), ...(pushNotifications === undefined ? {} : { pushNotifications }) };
}

/** The members that both dialects have, without empty ones. */
export function writePlainCard(card: AgentCard): JsonDraft {
  const { capabilities, provider } = card;
  const out: JsonDraft = { name: card.name };
  if (card.description !== '') out.description = card.description;
  out.url = rpcInterface(card.supportedInterfaces)?.url ?? '';
  if (provider !== undefined) {
    out.provider =
      provider.url === '' ? { organization: provider.organization } : { organization: provider.organization, url: provider.url };
  }
  if (card.version !== '') out.version = card.version;
  if (card.documentationUrl !== undefined) out.documentationUrl = card.documentationUrl;
  out.capabilities = {
    ...(capabilities.streaming === undefined ? {} : { streaming: capabilities.streaming }),
    ...(capabilities.pushNotifications === undefined ? {} : { pushNotifications: capabilities.pushNotifications }),
  };
  if (card.securitySchemes !== undefined) out.authentication = writeAuthentication(card.securitySchemes);
  return out;
}

/**
 * The interface that a 0.1 caller can use: one of its own version, or the JSON-RPC one that answers
 * every version.
 */
function rpcInterface(interfaces: readonly AgentInterface[]): AgentInterface | undefined {
  const rpc = interfaces.filter((each) => each.protocolBinding === 'JSONRPC');
  return rpc.find((each) => each.protocolVersion === '0.1') ?? rpc[0] ?? interfaces[0];
}

export function writePlainSkill(skill: AgentSkill): JsonDraft {
  const out: JsonDraft = { id: skill.id, name: skill.name };
  if (skill.description !== '') out.description = skill.description;
  if (skill.tags.length > 0) out.tags = skill.tags;
  if (skill.examples !== undefined) out.examples = skill.examples;
  return out;
}

/** Whether the modes are the default, and so can be left out. */
export function isPlainModes(modes: readonly string[]): boolean {
  return modes.length === 1 && modes[0] === MODES[0];
}

/** The members that such a card lacks. */
export function plainCardLosses(clause: string): readonly Loss[] {
  const versions = 'the card has one url, which is read as an interface of this dialect';
  const absent = 'not a member of the card';
  return [
    { field: 'AgentCard.supportedInterfaces', reason: versions, clause },
    { field: 'AgentInterface.protocolBinding', reason: versions, clause },
    { field: 'AgentInterface.protocolVersion', reason: versions, clause },
    { field: 'AgentInterface.tenant', reason: absent, clause },
    { field: 'AgentCapabilities.extendedAgentCard', reason: absent, clause },
    { field: 'AgentCapabilities.extensions', reason: absent, clause },
    { field: 'AgentCard.iconUrl', reason: absent, clause },
    { field: 'AgentCard.signatures', reason: absent, clause },
    { field: 'AgentSkill.securityRequirements', reason: absent, clause },
    ...authenticationLosses(clause),
  ];
}
