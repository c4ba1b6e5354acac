import type { AgentCapabilities, AgentCard, AgentInterface } from '../../card.ts';
import type { TenantId } from '../../ids.ts';
import type { Mutable } from '../../json.ts';
import type { ReadEnv } from '../dialect.ts';
import { modesIf, readCapabilities, readProvider, readSignature, readSkill } from './card.ts';
import type { Raw } from './read.ts';
import { flagIf, idIf, listIf, memberIf, object, text, textIf } from './read.ts';
import { readRequirement, readSchemes } from './security.ts';
import { withSplitRequirements } from './split.ts';

/** A card without its interfaces, which each version writes in its own way. */
export function readCardMembers(c: Raw, supportedInterfaces: readonly AgentInterface[], env: ReadEnv): AgentCard {
  const out: Mutable<AgentCard> = {
    name: text(c.name, 'name'),
    description: textIf(c.description, 'description') ?? '',
    version: textIf(c.version, 'version') ?? '',
    supportedInterfaces,
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
  // Hybrid cards also have `security`; the 1.0 member wins.
  const requirements = listIf(
    c.securityRequirements ?? c.security_requirements ?? c.security,
    'securityRequirements',
    readRequirement,
    env,
  );
  if (requirements !== undefined) out.securityRequirements = requirements;
  const signatures = listIf(c.signatures, 'signatures', readSignature, env);
  if (signatures !== undefined) out.signatures = signatures;
  return withSplitRequirements(out);
}

/**
 * 1.0 moved the flag for the extended card into the capabilities. A hybrid card may have it only where
 * 0.3 looks for it.
 */
function capabilitiesOf(c: Raw, env: ReadEnv): AgentCapabilities {
  const capabilities = memberIf(c.capabilities, 'capabilities', readCapabilities, env) ?? {};
  const flag = flagIf(c.supportsAuthenticatedExtendedCard ?? c.supports_authenticated_extended_card, 'supportsAuthenticatedExtendedCard');
  return capabilities.extendedAgentCard !== undefined || flag === undefined ? capabilities : { ...capabilities, extendedAgentCard: flag };
}

/** An interface in 1.0's form. */
export function readInterface(raw: unknown, env: ReadEnv): AgentInterface {
  const i = object(raw);
  const out: Mutable<AgentInterface> = {
    url: text(i.url, 'url'),
    protocolBinding: text(i.protocolBinding ?? i.protocol_binding, 'protocolBinding'),
    // 1.0.0-rc had no version here, and its cards have this shape too.
    protocolVersion: textIf(i.protocolVersion ?? i.protocol_version, 'protocolVersion') || '1.0',
  };
  const tenant = idIf<TenantId>(i.tenant, 'tenant', env);
  if (tenant !== undefined) out.tenant = tenant;
  return out;
}
