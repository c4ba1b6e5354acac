import type { AgentCard, AgentInterface, Dialect } from '#protocol';
import { createRegistry, DIALECTS } from '#protocol';
import { CliError, usage } from '../command.ts';

export type Binding = 'JSONRPC' | 'HTTP+JSON';

export interface Chosen {
  readonly iface: AgentInterface;
  readonly binding: Binding;
  readonly dialect: Dialect;
  /** What `A2A-Version` says. */
  readonly version: string;
}

const NAMES: ReadonlyMap<string, Binding | 'GRPC'> = new Map([
  ['jsonrpc', 'JSONRPC'],
  ['json-rpc', 'JSONRPC'],
  ['http+json', 'HTTP+JSON'],
  ['rest', 'HTTP+JSON'],
  ['http', 'HTTP+JSON'],
  ['grpc', 'GRPC'],
]);

const registry = createRegistry(DIALECTS);
export const DEFAULT_VERSION = '1.0';

/** `--transport` by any of its names. What we do not speak may be preferred: it is passed over. */
export function readTransports(given: readonly string[]): readonly (Binding | 'GRPC')[] {
  return given.map((name) => {
    const binding = NAMES.get(name.toLowerCase());
    if (binding !== undefined) return binding;
    throw new CliError(`--transport: there is no binding ${name}`, {
      meant: { word: name.toLowerCase(), known: [...NAMES.keys()] },
      hint: 'one of: JSONRPC, HTTP+JSON (or rest)',
      exit: 2,
    });
  });
}

export function checkVersion(version: string): string {
  if (/^\d+\.\d+(\.\d+)?$/.test(version)) return version;
  throw usage(`--a2a-version: ${version} is no version`, 'as: --a2a-version 1.0');
}

/**
 * The first entry of the card that we can speak, in the preferred binding if there is one: the list is the server's preference (A2A
 * 1.0.1 §5.4). Never below 1.0 unless the caller said so, and never silently another version than it said.
 */
export function chooseInterface(
  card: AgentCard,
  { transports, version }: { readonly transports: readonly (Binding | 'GRPC')[]; readonly version: string | undefined },
): Chosen {
  const spoken = card.supportedInterfaces.flatMap((iface): readonly Chosen[] => {
    const binding = NAMES.get(iface.protocolBinding.toLowerCase());
    const dialect =
      version === undefined ? registry.speaks(iface) : (registry.speaks({ protocolVersion: version }) ?? registry.byId('v10'));
    if (binding === undefined || binding === 'GRPC' || dialect === undefined) return [];
    if (binding === 'HTTP+JSON' && dialect.rest === undefined && restForm(dialect) === undefined) return [];
    const used = binding === 'HTTP+JSON' ? (restForm(dialect) ?? dialect) : dialect;
    return [{ iface, binding, dialect: used, version: version ?? DEFAULT_VERSION }];
  });
  const allowed = spoken.filter(({ iface }) => majorOf(iface.protocolVersion) >= 1 || version !== undefined);
  const fitting = version === undefined ? allowed : sameVersion(allowed, version);
  for (const wanted of transports) {
    const found = fitting.find(({ binding }) => binding === wanted);
    if (found !== undefined) return found;
  }
  const [first] = fitting;
  if (first !== undefined) return first;
  throw none(card, spoken);
}

/** An older version's HTTP+JSON form is a dialect of its own. */
function restForm(dialect: Dialect): Dialect | undefined {
  return dialect.rest === undefined ? registry.byId(`${dialect.id}.rest`) : dialect;
}

/** Interfaces of the version that was named; if there is none, all: the server is asked in that version and says no itself. */
function sameVersion(all: readonly Chosen[], version: string): readonly Chosen[] {
  const same = all.filter(
    ({ iface }) => iface.protocolVersion.split('.').slice(0, 2).join('.') === version.split('.').slice(0, 2).join('.'),
  );
  return same.length > 0 ? same : all;
}

function majorOf(version: string): number {
  return Number(/^\d+/.exec(version)?.[0] ?? 0);
}

function none(card: AgentCard, spoken: readonly Chosen[]): CliError {
  const listed = card.supportedInterfaces.map(({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion}`).join(', ');
  const [old] = spoken;
  if (old !== undefined) {
    const version = old.iface.protocolVersion.split('.').slice(0, 2).join('.');
    return new CliError(`${card.name} speaks A2A ${version}, and nothing from 1.0 on`, {
      code: 'VersionNotSupportedError',
      hint: `allow it with --a2a-version ${version}; parley ask speaks every version by itself`,
    });
  }
  return new CliError(`${card.name} offers no interface that parley speaks: ${listed === '' ? 'it lists none' : listed}`, {
    code: 'PARLEY_ERR_NO_INTERFACE',
    hint: 'JSONRPC and HTTP+JSON are spoken',
  });
}
