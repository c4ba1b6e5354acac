import { bindingOf } from '#bindings';
import type { Registry } from '#protocol';
import type { Endpoint, StrictMode } from '../discovery/endpoint.ts';
import { ClientError } from '../errors/client-error.ts';

/** The A2A version that strict mode asks for by default. */
export const STRICT_VERSION = '1.0';

/** Options of `strictMode`. */
export interface StrictOptions {
  /** The A2A version to use. Default: 1.0 or later. A version before 1.0 is used only if it is named here. */
  readonly version?: string | undefined;
  /** Preferred bindings, best first. If the card has none of them, its own order decides. */
  readonly bindings?: readonly string[];
}

/**
 * Strict mode of the A2A CLI specification §8: the first interface of the card in a preferred binding, never a version before 1.0 unless
 * the caller names it, and never silently another version than the one it names.
 *
 * ```ts
 * const client = await A2AClient.connect('https://agent.example', { strict: strictMode({ bindings: ['HTTP+JSON'] }) });
 * ```
 */
export function strictMode({ version, bindings = [] }: StrictOptions = {}): StrictMode {
  return {
    choose: (endpoints, registry, card) => {
      const accepted =
        version === undefined ? endpoints.filter((endpoint) => majorOf(endpoint) >= 1) : inVersion(endpoints, version, registry);
      for (const wanted of bindings) {
        const preferred = accepted.find(({ binding }) => binding === wanted);
        if (preferred !== undefined) return preferred;
      }
      const [first] = accepted;
      if (first === undefined) throw tooOld(endpoints, card?.name ?? 'the agent');
      return first;
    },
  };
}

/** A card without an interface list states no version. Such an endpoint counts as current. */
function majorOf({ version }: Endpoint): number {
  return version === '' ? 1 : Number(/^\d+/.exec(version)?.[0] ?? 0);
}

/** The endpoints of this version. If there is none, every endpoint is asked in this version, so that the server refuses it itself. */
function inVersion(endpoints: readonly Endpoint[], version: string, registry: Registry): readonly Endpoint[] {
  const same = endpoints.filter((endpoint) => majorMinor(endpoint.version) === majorMinor(version));
  const spoken = registry.speaks({ protocolVersion: version }) ?? registry.speaks({ protocolVersion: STRICT_VERSION });
  const asked = same.length > 0 ? same : endpoints.flatMap((endpoint) => speaking(endpoint, spoken, registry));
  return asked.map((endpoint) => ({
    ...endpoint,
    dialect: { ...endpoint.dialect, wire: { ...endpoint.dialect.wire, versionHeader: version } },
  }));
}

function speaking(endpoint: Endpoint, spoken: Endpoint['dialect'] | undefined, registry: Registry): readonly Endpoint[] {
  const dialect = spoken === undefined ? undefined : bindingOf(endpoint.binding).formOf(spoken, registry);
  return dialect === undefined ? [] : [{ ...endpoint, dialect }];
}

function majorMinor(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

function tooOld(endpoints: readonly Endpoint[], name: string): ClientError {
  const versions = [...new Set(endpoints.map(({ version }) => majorMinor(version)))];
  return new ClientError('version-not-accepted', `${name} supports only A2A ${versions.join(' and ')}`, {
    why: 'strict mode uses a version before 1.0 only if the caller names it',
    hint: `name the version: ${versions[0]}`,
  });
}
