import type { AgentCapabilities, AgentCard, AgentInterface } from '../../card.ts';
import type { TenantId } from '../../ids.ts';
import type { Json, Mutable } from '../../json.ts';
import type { CardCodec, Confidence, ReadEnv } from '../dialect.ts';
import { modesIf, readCapabilities, readProvider, readSignature, readSkill } from '../shared/card.ts';
import type { Raw } from '../shared/read.ts';
import { attempt, idIf, isRaw, list, listIf, memberIf, object, text, textIf } from '../shared/read.ts';
import { readRequirement, readSchemes } from '../shared/security.ts';

/** A2A 1.0.1 §8: a card is 1.0's if it has interfaces of that shape. */
export const card: CardCodec = {
  detect: (raw): Confidence => {
    if (!isRaw(raw)) return 'no';
    const interfaces = raw.supportedInterfaces ?? raw.supported_interfaces;
    return Array.isArray(interfaces) && interfaces.length > 0 ? 'path' : 'no';
  },
  read: (raw, env) => attempt(readCard, raw, env),
  write: (value) => value as unknown as Json,
};

export function readCard(raw: unknown, env: ReadEnv): AgentCard {
  const c = object(raw);
  const out: Mutable<AgentCard> = {
    name: text(c.name, 'name'),
    description: textIf(c.description, 'description') ?? '',
    version: textIf(c.version, 'version') ?? '',
    supportedInterfaces: list(c.supportedInterfaces ?? c.supported_interfaces, 'supportedInterfaces', readInterface, env),
    capabilities: capabilitiesOf(c, env),
    defaultInputModes: modesIf(c.defaultInputModes ?? c.default_input_modes, 'defaultInputModes') ?? [],
    defaultOutputModes: modesIf(c.defaultOutputModes ?? c.default_output_modes, 'defaultOutputModes') ?? [],
    skills: listIf(c.skills, 'skills', readSkill, env) ?? [],
  };
  const provider = memberIf(c.provider, 'provider', readProvider, env);
  if (provider !== undefined) out.provider = provider;
  const documentationUrl = textIf(c.documentationUrl ?? c.documentation_url, 'documentationUrl');
  if (documentationUrl !== undefined) out.documentationUrl = documentationUrl;
  const iconUrl = textIf(c.iconUrl ?? c.icon_url, 'iconUrl');
  if (iconUrl !== undefined) out.iconUrl = iconUrl;
  const schemes = memberIf(c.securitySchemes ?? c.security_schemes, 'securitySchemes', readSchemes, env);
  if (schemes !== undefined) out.securitySchemes = schemes;
  // Hybrid cards carry `security` beside it; the 1.0 member decides.
  const requirements = listIf(
    c.securityRequirements ?? c.security_requirements ?? c.security,
    'securityRequirements',
    readRequirement,
    env,
  );
  if (requirements !== undefined) out.securityRequirements = requirements;
  const signatures = listIf(c.signatures, 'signatures', readSignature, env);
  if (signatures !== undefined) out.signatures = signatures;
  return out;
}

/** A hybrid card may name its extended card only where 0.3 looks for it. */
function capabilitiesOf(c: Raw, env: ReadEnv): AgentCapabilities {
  const said = memberIf(c.capabilities, 'capabilities', readCapabilities, env) ?? {};
  const elsewhere = said.extendedAgentCard === undefined && c.supportsAuthenticatedExtendedCard === true;
  return elsewhere ? { ...said, extendedAgentCard: true } : said;
}

function readInterface(raw: unknown, env: ReadEnv): AgentInterface {
  const i = object(raw);
  const out: Mutable<AgentInterface> = {
    url: text(i.url, 'url'),
    protocolBinding: text(i.protocolBinding ?? i.protocol_binding, 'protocolBinding'),
    protocolVersion: textIf(i.protocolVersion ?? i.protocol_version, 'protocolVersion') ?? '1.0',
  };
  const tenant = idIf<TenantId>(i.tenant, 'tenant', env);
  if (tenant !== undefined) out.tenant = tenant;
  return out;
}
