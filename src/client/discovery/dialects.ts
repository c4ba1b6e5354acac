import type { Registry } from '#protocol';
import { CURRENT_REGISTRY } from '#protocol';
import type { ClientOptions } from '../options.ts';

/** The dialects of a client. */
export interface ClientDialects {
  /** What is there without loading: the current dialect, or those that the caller chose. */
  readonly loaded: Registry;
  /** Loads the others. */
  all(): Promise<Registry>;
}

export function dialectsOf({ registry }: ClientOptions): ClientDialects {
  if (registry !== undefined) return { loaded: registry, all: async () => registry };
  return { loaded: CURRENT_REGISTRY, all: async () => (await loadOnDemand()).everyDialect };
}

/** Bundlers put this part of the client into a file of its own, which a browser loads only for agents that need it. */
export function loadOnDemand(): Promise<typeof import('./on-demand.ts')> {
  return import('./on-demand.ts');
}
