import type { EngineLimits } from '#engine';
import { isObject } from '#protocol';
import type { AgentLike } from '../agents/served-agent.ts';
import type { ServerLimits } from '../limits.ts';
import type { LogLevel } from '../observability/log.ts';
import type { ParleyConfig, RemoteAgent } from './config.ts';
import type { Key } from './key.ts';
import { KEYS } from './keys.ts';
import type { MeshGrammar } from './mesh-keys.ts';
import type { RunSettings } from './run-keys.ts';
import { RUN_KEYS } from './run-keys.ts';
import { suggest } from './suggest.ts';
import { ConfigError, fromFile, fromText } from './values.ts';

/** Where settings come from, the strongest first: flags, the environment, the file, the defaults. */
export interface Layers {
  /** By the key's name. Lists may be given many times. */
  readonly flags?: ReadonlyMap<string, string | readonly string[] | boolean>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly file?: { readonly path: string; readonly config: ParleyConfig };
}

export interface Settings {
  readonly agents: readonly (string | AgentLike)[];
  readonly port: number;
  readonly host: string;
  readonly url: string | undefined;
  readonly data: string | undefined;
  readonly memory: boolean;
  readonly auth: boolean;
  readonly authRequired: boolean;
  readonly authFolder: string | undefined;
  readonly token: string | undefined;
  readonly insecureBehindProxy: boolean;
  readonly trustedProxies: readonly string[];
  readonly socket: string | undefined;
  readonly audit: boolean;
  readonly tls: {
    readonly cert: string | undefined;
    readonly key: string | undefined;
    readonly ca: string | undefined;
    readonly clients: readonly string[];
    readonly scopes: readonly string[];
  };
  readonly jwt: {
    readonly issuer: string | undefined;
    readonly audience: readonly string[];
    readonly algorithms: readonly string[];
    readonly jwksUrl: string | undefined;
    readonly tenantClaim: string | undefined;
    readonly scopes: readonly string[];
  };
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly allowedTargets: readonly string[];
  readonly allowLoopbackTargets: boolean;
  readonly card: 'superset' | 'strict';
  readonly publisher: string;
  readonly idempotency: 'key' | 'messageId';
  readonly versionRequired: boolean;
  readonly console: boolean;
  readonly mesh: string | undefined;
  readonly namespace: string;
  readonly meshGrammar: MeshGrammar;
  readonly meshRoot: string | undefined;
  readonly meshPools: readonly string[];
  readonly meshInstance: string | undefined;
  /** Of whoever calls over the broker. */
  readonly meshScopes: readonly string[];
  readonly artifacts: string | undefined;
  readonly log: LogLevel;
  /** Only what was set: each store has defaults of its own. */
  readonly limits: Partial<ServerLimits & EngineLimits>;
  readonly enabled: boolean;
  readonly remoteAgents: Readonly<Record<string, RemoteAgent>>;
  readonly run: RunSettings;
}

/** Reads all layers. Throws a ConfigError that says where the mistake stands and what was probably meant. */
export function resolveConfig(layers: Layers): Settings {
  if (layers.file !== undefined) checkNames(layers.file.config, layers.file.path);
  checkEnv(layers.env ?? {});
  const found = new Map<string, unknown>();
  for (const key of KEYS) {
    const value = settingOf(key, layers);
    if (value !== undefined) found.set(key.name, value);
  }
  const of = <T>(name: string): T => (found.get(name) ?? defaultOf(name)) as T;
  return {
    agents: of('agents'),
    port: of('port'),
    host: of('host'),
    url: of('url'),
    data: of('data'),
    memory: of('memory'),
    auth: of('auth'),
    authRequired: of('authRequired'),
    authFolder: of('authFolder'),
    token: of('token'),
    insecureBehindProxy: of('insecureBehindProxy'),
    trustedProxies: of('trustedProxies'),
    socket: of('socket'),
    audit: of('audit'),
    tls: { cert: of('tls.cert'), key: of('tls.key'), ca: of('tls.ca'), clients: of('tls.clients'), scopes: of('tls.scopes') },
    jwt: {
      issuer: of('jwt.issuer'),
      audience: of('jwt.audience'),
      algorithms: of('jwt.algorithms'),
      jwksUrl: of('jwt.jwksUrl'),
      tenantClaim: of('jwt.tenantClaim'),
      scopes: of('jwt.scopes'),
    },
    allowedHosts: of('allowedHosts'),
    allowedOrigins: of('allowedOrigins'),
    allowedTargets: of('allowedTargets'),
    allowLoopbackTargets: of('allowLoopbackTargets'),
    card: of('card'),
    publisher: of('publisher'),
    idempotency: of('idempotency'),
    versionRequired: of('versionRequired'),
    console: of('console'),
    mesh: of('mesh'),
    namespace: of('namespace'),
    meshGrammar: of('meshGrammar'),
    meshRoot: of('meshRoot'),
    meshPools: of('meshPools'),
    meshInstance: of('meshInstance'),
    meshScopes: of('meshScopes'),
    artifacts: of('artifacts'),
    log: of('log'),
    limits: Object.fromEntries([...found].filter(([name]) => name.startsWith('limits.')).map(([name, value]) => [name.slice(7), value])),
    enabled: of('a2a.enabled'),
    remoteAgents: of('a2a.remoteAgents'),
    // Each by its own key, whose type says what it holds.
    run: Object.fromEntries(RUN_KEYS.map(({ name }) => [name.slice('run.'.length), of(name)])) as unknown as RunSettings,
  };
}

function defaultOf(name: string): unknown {
  return KEYS.find((key) => key.name === name)?.default;
}

/** A key in the strongest layer that has it. A foreign name counts in its layer, after our own. */
function settingOf(key: Key, { flags, env = {}, file }: Layers): unknown {
  const flagged = flags?.get(key.name);
  if (flagged !== undefined) return fromFlag(key, flagged);
  for (const name of key.env) {
    const text = env[name];
    if (text !== undefined && (text !== '' || key.type.kind === 'boolean')) return fromText(text, key.type, name);
  }
  if (file === undefined) return undefined;
  for (const place of [key, ...KEYS.filter((other) => other.means === key.name)]) {
    const value = memberAt(file.config, place.name);
    if (value !== undefined) return fromFile(value, place.type, `${file.path}: ${place.name}`);
  }
  return undefined;
}

function fromFlag(key: Key, given: string | readonly string[] | boolean): unknown {
  const where = key.flag === undefined ? key.name : `--${key.flag}`;
  if (typeof given === 'boolean') return key.flagMeans ?? given;
  if (typeof given === 'string') return fromText(given, key.type, where);
  return given.flatMap((text) => fromText(text, key.type, where));
}

function memberAt(config: unknown, name: string): unknown {
  return name.split('.').reduce<unknown>((value, step) => (isObject(value) ? value[step] : undefined), config);
}

/** A misspelt key would be ignored, and its owner would not know. */
function checkNames(config: unknown, path: string, prefix = ''): void {
  if (!isObject(config))
    throw new ConfigError(`${path}: ${prefix === '' ? 'must hold an object' : `${prefix.slice(0, -1)} must be an object`}`);
  const names = KEYS.map((key) => key.name);
  for (const member of Object.keys(config)) {
    const name = `${prefix}${member}`;
    if (names.includes(name)) continue;
    if (names.some((known) => known.startsWith(`${name}.`))) {
      checkNames(config[member], path, `${name}.`);
      continue;
    }
    throw new ConfigError(`${path}: there is no key ${name}${meant(name, names)}`);
  }
}

/** The environment belongs to others too; but what starts like ours and is nearly one of ours is a mistake. */
function checkEnv(env: Readonly<Record<string, string | undefined>>): void {
  const known = [...KEYS.flatMap((key) => key.env), 'PARLEY_CONFIG'];
  for (const name of Object.keys(env)) {
    if (!name.startsWith('PARLEY_') || known.includes(name)) continue;
    const near = suggest(
      name.slice('PARLEY_'.length),
      known.map((each) => each.replace('PARLEY_', '')),
    );
    if (near !== undefined) throw new ConfigError(`there is no variable ${name}; did you mean PARLEY_${near}?`);
  }
}

function meant(name: string, known: readonly string[]): string {
  const near = suggest(name, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}
