import type { AgentCard, AgentInterface, AgentSkill } from '../../card.ts';
import type { Json } from '../../json.ts';
import { jsonOf } from '../../json.ts';
import type { CardCodec, Confidence, ReadEnv } from '../dialect.ts';
import { readCardMembers } from '../shared/card-members.ts';
import type { Raw } from '../shared/read.ts';
import { attempt, isRaw, listIf, object, text, textIf } from '../shared/read.ts';
import { writeFlatRequirement, writeFlatScheme } from '../shared/security.ts';

/**
 * The card that agents and gateways publish on the discovery topics: 0.3's shape with the address of a
 * topic (`solace:{request topic}`) and SAM's own members as capability extensions
 * (docs/dialects/sam.md, "Card").
 */
export const card: CardCodec = {
  detect: (raw): Confidence => (isRaw(raw) && typeof raw.url === 'string' && raw.url.startsWith('solace:') ? 'path' : 'no'),
  read: (raw, env) => attempt(readCard, raw, env),
  write: writeCard,
  isPublished: true,
};

function readCard(raw: unknown, env: ReadEnv): AgentCard {
  const c = object(raw);
  return readCardMembers(c, readInterfaces(c, env), env);
}

/**
 * The main interface first. `additionalInterfaces` may repeat it (0.3 recommends that); the repeated
 * entry is dropped.
 */
function readInterfaces(c: Raw, env: ReadEnv): readonly AgentInterface[] {
  const protocolVersion = shortVersion(textIf(c.protocolVersion ?? c.protocol_version, 'protocolVersion') ?? '0.3.0');
  const url = text(c.url, 'url');
  const protocolBinding = textIf(c.preferredTransport ?? c.preferred_transport, 'preferredTransport') ?? 'JSONRPC';
  const others = listIf(c.additionalInterfaces ?? c.additional_interfaces, 'additionalInterfaces', readOther, env) ?? [];
  const repeated = others.findIndex((other) => other.url === url && other.protocolBinding === protocolBinding);
  const main: AgentInterface = { url, protocolBinding, protocolVersion };
  return [main, ...others.filter((_, at) => at !== repeated).map((other) => ({ ...other, protocolVersion }))];
}

function readOther(raw: unknown): { readonly url: string; readonly protocolBinding: string } {
  const i = object(raw);
  return { url: text(i.url, 'url'), protocolBinding: text(i.transport, 'transport') };
}

/** Canonical versions are `Major.Minor`; cards of 0.x also have the patch number. */
function shortVersion(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

function longVersion(version: string): string {
  return version.startsWith('0.') ? `${version}.0` : version;
}

/** Writes a card in the form of 0.3, which SAM's cards have. */
function writeCard(value: AgentCard): Json {
  const { supportedInterfaces, capabilities, skills, securitySchemes, securityRequirements, ...rest } = value;
  const { extendedAgentCard, ...abilities } = capabilities;
  const [main, ...others] = supportedInterfaces;
  const out: Record<string, Json> = {
    ...jsonOf(rest),
    protocolVersion: longVersion(main?.protocolVersion ?? '0.3'),
    url: main?.url ?? '',
    preferredTransport: main?.protocolBinding ?? 'JSONRPC',
    capabilities: jsonOf(abilities),
    skills: skills.map(writeSkill),
  };
  if (others.length > 0) out.additionalInterfaces = supportedInterfaces.map((each) => ({ url: each.url, transport: each.protocolBinding }));
  if (extendedAgentCard !== undefined) out.supportsAuthenticatedExtendedCard = extendedAgentCard;
  if (securitySchemes !== undefined) {
    out.securitySchemes = Object.fromEntries(Object.entries(securitySchemes).map(([name, scheme]) => [name, writeFlatScheme(scheme)]));
  }
  if (securityRequirements !== undefined) out.security = securityRequirements.map(writeFlatRequirement);
  return out;
}

function writeSkill({ securityRequirements, ...skill }: AgentSkill): Json {
  const out = jsonOf(skill);
  return securityRequirements === undefined ? out : { ...out, security: securityRequirements.map(writeFlatRequirement) };
}
