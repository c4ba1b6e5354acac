import type { AgentCard, AgentInterface, AgentSkill, SecurityScheme } from '../../card.ts';
import type { Json, JsonObject, Mutable } from '../../json.ts';
import { jsonOf } from '../../json.ts';
import type { CardCodec, Confidence, ReadEnv } from '../dialect.ts';
import { readCardMembers } from '../shared/card-members.ts';
import { withTenant } from '../shared/flat-requests.ts';
import type { Raw } from '../shared/read.ts';
import { attempt, isRaw, list, object, text, textIf } from '../shared/read.ts';
import { writeFlatScheme } from '../shared/security.ts';

const BINDINGS: ReadonlyMap<string, string> = new Map([
  ['json-rpc', 'JSONRPC'],
  ['grpc', 'GRPC'],
  ['http+json', 'HTTP+JSON'],
]);
const PROTOCOLS: ReadonlyMap<string, string> = new Map([...BINDINGS].map(([protocol, binding]) => [binding, protocol]));

/**
 * Cortex's card has the members of 0.3's. It is recognised by `interfaces`, without which Cortex's
 * client throws.
 */
export const card: CardCodec = {
  detect: (raw): Confidence => (isRaw(raw) && Array.isArray(raw.interfaces) && raw.supportedInterfaces === undefined ? 'path' : 'no'),
  read: (raw, env) => attempt(readCard, raw, env),
  write: writeCard,
};

/** Reads a card of CortexPrism, whose modes and interfaces differ from A2A 1.0. */
export function readCard(raw: unknown, env: ReadEnv): AgentCard {
  const c = object(raw);
  const interfaces = list(c.interfaces, 'interfaces', readInterface, env);
  return readCardMembers({ ...c, capabilities: capabilitiesOf(c), securitySchemes: schemesOf(c) }, interfaces, env);
}

/**
 * CortexPrism writes `protocol` and `version` where A2A has `protocolBinding` and `protocolVersion`.
 */
function readInterface(raw: unknown, env: ReadEnv): AgentInterface {
  const i = object(raw);
  const protocol = text(i.protocol, 'protocol');
  const out: Mutable<AgentInterface> = {
    url: text(i.url, 'url'),
    protocolBinding: BINDINGS.get(protocol.toLowerCase()) ?? protocol,
    protocolVersion: textIf(i.version, 'version') ?? '1.0',
  };
  return withTenant(out, i, env);
}

/** Cortex's extensions are URIs, not objects. */
function capabilitiesOf(c: Raw): unknown {
  if (!isRaw(c.capabilities) || !Array.isArray(c.capabilities.extensions)) return c.capabilities;
  const extensions = c.capabilities.extensions.map((extension: unknown) =>
    typeof extension === 'string' ? { uri: extension } : extension,
  );
  return { ...c.capabilities, extensions };
}

/** Cortex spells the type `mutualTls`. */
function schemesOf(c: Raw): unknown {
  if (!isRaw(c.securitySchemes)) return c.securitySchemes;
  const respelled = (scheme: unknown) => (isRaw(scheme) && scheme.type === 'mutualTls' ? { ...scheme, type: 'mutualTLS' } : scheme);
  return Object.fromEntries(Object.entries(c.securitySchemes).map(([name, scheme]) => [name, respelled(scheme)]));
}

/** Requests at this address are 1.0's. A node that serves it answers CortexPrism at `/api/a2a`, where nothing is ambiguous. */
const OFFICIAL_PATH = /\/a2a\/jsonrpc$/;

/** Writes a card with the base address that CortexPrism expects in `url`. */
export function writeCard(value: AgentCard): JsonObject {
  const { supportedInterfaces, capabilities, skills, defaultInputModes, defaultOutputModes, securitySchemes, ...rest } = value;
  return {
    ...jsonOf(rest),
    url: baseOf(supportedInterfaces),
    defaultInputModes: writeModes(defaultInputModes),
    defaultOutputModes: writeModes(defaultOutputModes),
    capabilities: jsonOf({ ...capabilities, stateTransitionHistory: true }),
    skills: skills.map(writeSkill),
    interfaces: supportedInterfaces.map(({ protocolBinding, protocolVersion, ...where }) => ({
      ...where,
      url: where.url.replace(OFFICIAL_PATH, '/api/a2a'),
      protocol: PROTOCOLS.get(protocolBinding) ?? protocolBinding,
      version: protocolVersion,
    })),
    ...(securitySchemes === undefined
      ? {}
      : { securitySchemes: Object.fromEntries(Object.entries(securitySchemes).map(([name, scheme]) => [name, writeScheme(scheme)])) }),
  };
}

/** Cortex's `url` is the base of its interface's address. */
function baseOf(interfaces: readonly AgentInterface[]): string {
  const first = interfaces.find((where) => where.protocolBinding === 'JSONRPC') ?? interfaces[0];
  return first?.url.replace(/\/a2a(?:\/jsonrpc)?\/?$/, '') ?? '';
}

function writeSkill({ inputModes, outputModes, ...skill }: AgentSkill): JsonObject {
  return {
    ...jsonOf(skill),
    ...(inputModes === undefined ? {} : { inputModes: writeModes(inputModes) }),
    ...(outputModes === undefined ? {} : { outputModes: writeModes(outputModes) }),
  };
}

function writeScheme(scheme: SecurityScheme): Json {
  const flat = writeFlatScheme(scheme) as JsonObject;
  return flat['type'] === 'mutualTLS' ? { ...flat, type: 'mutualTls' } : flat;
}

/** Cortex writes `text` for `text/plain`, on cards and in requests. */
export function writeModes(modes: readonly string[]): string[] {
  return modes.map((mode) => (mode === 'text/plain' ? 'text' : mode));
}
