import type { AgentCard, AgentInterface, AgentSkill, SecurityScheme } from '../../card.ts';
import type { Json, JsonDraft } from '../../json.ts';
import { jsonOf } from '../../json.ts';
import type { CardCodec, Confidence, ReadEnv } from '../dialect.ts';
import { readCardMembers } from '../shared/card-members.ts';
import type { Raw, Reader } from '../shared/read.ts';
import { attempt, isRaw, listIf, object, text, textIf } from '../shared/read.ts';
import { writeFlatRequirement, writeFlatScheme } from '../shared/security.ts';
import type { MissingMembers } from './write.ts';

/** What differs between the cards of the releases. */
export interface CardEdition {
  /** `protocolVersion` as written. Releases before 0.2.5 have none. */
  readonly protocolVersion?: string;
  /** The version of interfaces whose card has no `protocolVersion`. */
  readonly interfaceVersion: string;
  /** `preferredTransport` and `additionalInterfaces`: since 0.2.4. */
  readonly transports: boolean;
  readonly detect: (raw: Raw) => Confidence;
}

/** The card codec of one release. `missing` are the members that it lacks. */
export function cardCodec(edition: CardEdition, missing: MissingMembers): CardCodec {
  const read = cardReader(edition);
  return {
    detect: (raw) => (isRaw(raw) && isLegacy(raw) ? edition.detect(raw) : 'no'),
    read: (raw, env) => attempt(read, raw, env),
    write: (card) => writeCard(card, edition, missing),
  };
}

/**
 * A card with interfaces of 1.0's shape is a 1.0 card, whatever other members it has
 * (docs/dialects/v03.md, "Card").
 */
function isLegacy(raw: Raw): boolean {
  const interfaces = raw.supportedInterfaces ?? raw.supported_interfaces;
  return typeof raw.url === 'string' && !(Array.isArray(interfaces) && interfaces.length > 0);
}

/** Reads a card of 0.2 or 0.3. */
export function cardReader(edition: CardEdition): Reader<AgentCard> {
  return (raw, env) => {
    const c = object(raw);
    return readCardMembers(c, readInterfaces(c, edition, env), env);
  };
}

/**
 * The main URL comes first, since it is the preferred one (A2A 0.3.0 §5.6.3). An entry that repeats it
 * is dropped.
 */
function readInterfaces(c: Raw, edition: CardEdition, env: ReadEnv): readonly AgentInterface[] {
  const version = textIf(c.protocolVersion ?? c.protocol_version, 'protocolVersion');
  const protocolVersion = majorMinor(version) ?? edition.interfaceVersion;
  const transport = textIf(c.preferredTransport ?? c.preferred_transport, 'preferredTransport');
  const main = { url: text(c.url, 'url'), protocolBinding: transport || 'JSONRPC', protocolVersion };
  const read = (raw: unknown): AgentInterface => {
    const i = object(raw);
    return { url: text(i.url, 'url'), protocolBinding: text(i.transport, 'transport'), protocolVersion };
  };
  const more = listIf(c.additionalInterfaces ?? c.additional_interfaces, 'additionalInterfaces', read, env);
  return unique([main, ...(more ?? [])]);
}

/** Patch numbers never influence the choice of a version (A2A 1.0.1 §3.6). */
function majorMinor(version: string | undefined): string | undefined {
  return version === undefined || version === '' ? undefined : (/^\d+\.\d+/.exec(version)?.[0] ?? version);
}

/** Drops an interface that repeats another one. Many cards list the main interface twice. */
function unique(interfaces: readonly AgentInterface[]): readonly AgentInterface[] {
  const seen = new Set<string>();
  return interfaces.filter(({ url, protocolBinding }) => {
    const key = `${protocolBinding} ${url}`;
    return !seen.has(key) && seen.add(key);
  });
}

/** Writes a card of 0.2 or 0.3: `url`, `preferredTransport` and flat security schemes. */
export function writeCard(card: AgentCard, edition: CardEdition, missing: MissingMembers): JsonDraft {
  const { extendedAgentCard, ...capabilities } = card.capabilities;
  const out: JsonDraft = {
    ...(edition.protocolVersion === undefined ? {} : { protocolVersion: edition.protocolVersion }),
    name: card.name,
    description: card.description,
    ...writeInterfaces(card.supportedInterfaces, edition),
    version: card.version,
    capabilities: without(capabilities, 'AgentCapabilities', missing),
    defaultInputModes: card.defaultInputModes,
    defaultOutputModes: card.defaultOutputModes,
    skills: card.skills.map((skill) => writeSkill(skill, missing)),
  };
  if (extendedAgentCard !== undefined && !missing.has('AgentCapabilities.extendedAgentCard')) {
    out.supportsAuthenticatedExtendedCard = extendedAgentCard;
  }
  const { provider, documentationUrl, iconUrl, signatures } = card;
  const rest = { provider, documentationUrl, iconUrl, signatures };
  Object.assign(out, without(rest, 'AgentCard', missing));
  if (card.securitySchemes !== undefined) out.securitySchemes = writeSchemes(card.securitySchemes, missing);
  if (card.securityRequirements !== undefined) out.security = card.securityRequirements.map(writeFlatRequirement);
  return out;
}

function writeSkill(skill: AgentSkill, missing: MissingMembers): JsonDraft {
  const { securityRequirements, ...rest } = skill;
  const out: JsonDraft = { ...jsonOf(rest) };
  if (securityRequirements !== undefined && !missing.has('AgentSkill.securityRequirements')) {
    out.security = securityRequirements.map(writeFlatRequirement);
  }
  return out;
}

/**
 * A requirement that names a scheme left out here stays: callers should know that a credential is
 * needed.
 */
function writeSchemes(schemes: NonNullable<AgentCard['securitySchemes']>, missing: MissingMembers): JsonDraft {
  const out: JsonDraft = {};
  for (const [name, scheme] of Object.entries(schemes)) {
    if (scheme.mtlsSecurityScheme !== undefined && missing.has('SecurityScheme.mtlsSecurityScheme')) continue;
    out[name] = writeFlatScheme(withoutMetadataUrl(scheme, missing));
  }
  return out;
}

function withoutMetadataUrl(scheme: SecurityScheme, missing: MissingMembers): SecurityScheme {
  if (scheme.oauth2SecurityScheme === undefined || !missing.has('OAuth2SecurityScheme.oauth2MetadataUrl')) return scheme;
  const { oauth2MetadataUrl: _, ...oauth2SecurityScheme } = scheme.oauth2SecurityScheme;
  return { oauth2SecurityScheme };
}

function without(value: object, type: string, missing: MissingMembers): JsonDraft {
  const kept = Object.entries(value).filter(([name, item]) => item !== undefined && !missing.has(`${type}.${name}`));
  return Object.fromEntries(kept);
}

const OLD = /^0\.[23](\.|$)/;

/**
 * The main URL is the first interface of an old version or, if there is none, the first JSON-RPC one,
 * which the oldest clients speak. Other interfaces are listed only if they speak an old version,
 * because an entry can't name its version.
 */
function writeInterfaces(interfaces: readonly AgentInterface[], edition: CardEdition): { readonly [key: string]: Json } {
  const old = interfaces.filter(({ protocolVersion }) => OLD.test(protocolVersion));
  const rpc = (i: AgentInterface) => i.protocolBinding === 'JSONRPC';
  if (!edition.transports) return { url: (old.find(rpc) ?? interfaces.find(rpc) ?? interfaces[0])?.url ?? '' };
  const main = old[0] ?? interfaces.find(rpc) ?? interfaces[0];
  if (main === undefined) return { url: '' };
  const all = unique(old.includes(main) ? old : [main, ...old]);
  return {
    url: main.url,
    preferredTransport: main.protocolBinding,
    ...(all.length < 2 ? {} : { additionalInterfaces: all.map(({ url, protocolBinding }) => ({ url, transport: protocolBinding })) }),
  };
}
