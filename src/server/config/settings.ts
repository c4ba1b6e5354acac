import type { EngineLimits } from '#engine';
import type { Json } from '#protocol';
import { CALLER_SCOPES } from '../access/authorisation/scopes.ts';
import type { ServerLimits } from '../limits.ts';
import type { ConfigFileOf, ResolvedSettings, SettingDeclaration, SettingTable } from './setting.ts';
import { AUTH_SETTINGS, BACKUP_SETTINGS, JWT_SETTINGS, RECORD_SETTINGS, TLS_SETTINGS } from './table/access.ts';
import { COMMON_SETTINGS } from './table/common.ts';
import { CORTEX_SETTINGS } from './table/cortex.ts';
import { LIMIT_SETTINGS } from './table/limits.ts';
import { LLM_SETTINGS } from './table/llm.ts';
import { MESH_SETTINGS } from './table/mesh.ts';
import { NETWORK_SETTINGS, PROTOCOL_SETTINGS, WEBHOOK_SETTINGS } from './table/network.ts';
import { PROGRAM_SETTINGS } from './table/programs.ts';

/** The groups of settings, in the order of `parley serve --help` and of docs/config.md. */
export type SettingGroup =
  | 'Common options'
  | 'Coding agents and commands'
  | 'Language models'
  | 'Network and console'
  | 'Who may call'
  | 'TLS'
  | 'Tokens of an issuer'
  | 'Webhooks'
  | 'Cards and protocol'
  | 'Mesh'
  | 'Backups'
  | 'Limits and records'
  | 'CortexPrism’s block';

const TABLE: Readonly<Record<SettingGroup, SettingTable>> = {
  'Common options': COMMON_SETTINGS,
  'Coding agents and commands': PROGRAM_SETTINGS,
  'Language models': LLM_SETTINGS,
  'Network and console': NETWORK_SETTINGS,
  'Who may call': AUTH_SETTINGS,
  TLS: TLS_SETTINGS,
  'Tokens of an issuer': JWT_SETTINGS,
  Webhooks: WEBHOOK_SETTINGS,
  'Cards and protocol': PROTOCOL_SETTINGS,
  Mesh: MESH_SETTINGS,
  Backups: BACKUP_SETTINGS,
  'Limits and records': { ...RECORD_SETTINGS, ...LIMIT_SETTINGS },
  'CortexPrism’s block': CORTEX_SETTINGS,
};

type Declared = typeof COMMON_SETTINGS &
  typeof PROGRAM_SETTINGS &
  typeof LLM_SETTINGS &
  typeof NETWORK_SETTINGS &
  typeof AUTH_SETTINGS &
  typeof TLS_SETTINGS &
  typeof JWT_SETTINGS &
  typeof WEBHOOK_SETTINGS &
  typeof PROTOCOL_SETTINGS &
  typeof MESH_SETTINGS &
  typeof BACKUP_SETTINGS &
  typeof RECORD_SETTINGS &
  typeof CORTEX_SETTINGS;

interface LimitsBlock {
  /** Only the limits that are set. Each store has its own defaults for the others. */
  readonly limits: Partial<ServerLimits & EngineLimits>;
}

/** The settings of a node, resolved from flags, environment, configuration file and defaults. */
export type Settings = ResolvedSettings<Declared> & LimitsBlock;

/** What `parley.config.ts` or `parley.config.json` holds. docs/config.md describes every key. */
export type ParleyConfig = ConfigFileOf<Declared> & Partial<LimitsBlock>;

/** One setting with everything that is derived from its declaration. */
export interface Setting extends Omit<SettingDeclaration, 'reload'> {
  /** Its key in the configuration file, as `limits.bodyBytesMax`. */
  readonly name: string;
  readonly group: SettingGroup;
  /** Environment variables, our own first. */
  readonly env: readonly string[];
  /** What applies a change: a reload of the running node, or a restart. */
  readonly appliedBy: 'reload' | 'restart';
}

/** Every setting that there is. */
export const SETTINGS: readonly Setting[] = Object.entries(TABLE).flatMap(([group, table]) =>
  Object.entries(table).map(([name, { reload, ...declared }]): Setting => {
    const value = defaultOf(declared);
    return {
      ...declared,
      name,
      group: group as SettingGroup,
      env: envOf(name, declared),
      appliedBy: reload === 'live' ? 'reload' : 'restart',
      ...(value === undefined ? {} : { default: value }),
    };
  }),
);

/** `PARLEY_` and the key in upper snake case. Limits go without the name of their block. */
function envOf(name: string, { isFileOnly, sameAs, alsoEnv = [] }: SettingDeclaration): readonly string[] {
  if (isFileOnly === true || sameAs !== undefined) return alsoEnv;
  const words = name.replace(/^limits\./, '').replaceAll('.', '_');
  return [`PARLEY_${words.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`, ...alsoEnv];
}

/** The default of a type, for settings without one of their own. */
function defaultOf({ type, default: value, sameAs }: SettingDeclaration): Json | undefined {
  if (value !== undefined || sameAs !== undefined) return value;
  switch (type) {
    case 'boolean':
      return false;
    case 'list':
      return [];
    case 'scopes':
      return CALLER_SCOPES;
    case 'remotes':
    case 'launches':
      return {};
    default:
      return undefined;
  }
}

/**
 * Returns its argument. It lets an editor complete and check a configuration file.
 *
 * ```ts
 * export default defineConfig({ agents: ['echo'], port: 8080 });
 * ```
 */
export function defineConfig(config: ParleyConfig): ParleyConfig {
  return config;
}
