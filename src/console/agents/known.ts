import { signal } from '@preact/signals';
import type { ClientOptions } from '#client';
import { A2AClient } from '#client';
import { NODE, withPrefix } from '../prefix.ts';
import { credentials, token } from '../session.ts';
import { recording } from '../wire/recorder.ts';
import { relayed } from './relay.ts';
import { keptAuth } from './remote-auth.ts';

/** An agent of this node, as its catalog lists it. */
export interface KnownAgent {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly url: string;
}

/** The agents of this node. Undefined until they are loaded. */
export const agents = signal<readonly KnownAgent[] | undefined>(undefined);
/** Why the agents could not be loaded. Empty: they were. */
export const agentsProblem = signal('');

interface Catalog {
  readonly entries?: readonly { readonly url?: string; readonly displayName?: string; readonly description?: string }[];
}

/** Reads the catalog of the node. */
export async function loadAgents(): Promise<void> {
  try {
    const response = await fetch(withPrefix('/.well-known/ai-catalog.json'), { cache: 'no-cache' });
    if (!response.ok) throw new Error(`the catalog could not be read: HTTP ${response.status}`);
    const { entries = [] } = (await response.json()) as Catalog;
    agents.value = entries.flatMap(({ url = '', displayName = '', description = '' }) => {
      const name = /\/agents\/([^/]+)\//.exec(url)?.[1];
      return name === undefined ? [] : [{ name, title: displayName, description, url: `${NODE}/agents/${name}` }];
    });
    agentsProblem.value = '';
  } catch (thrown) {
    agentsProblem.value = thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** The target of a chat or request: an agent of this node or its mesh by name, or an address. */
export interface ChatTarget {
  readonly name?: string;
  readonly mesh?: string;
  readonly url?: string;
  /** For an address: the name of the credentials that the user entered. They are kept in memory only. */
  readonly auth?: string;
}

const MESH = 'mesh:';

/** The agent's name in tasks and console addresses: `echo`, or `mesh:echo`. */
export function targetNamed(name: string): ChatTarget {
  return name.startsWith(MESH) ? { mesh: name.slice(MESH.length) } : { name };
}

/** The console page of an agent. */
export function placeOf(name: string): string {
  return name.startsWith(MESH) ? `/mesh/${encodeURIComponent(name.slice(MESH.length))}` : `/agents/${encodeURIComponent(name)}`;
}

/** The name of an agent for people. */
export function titleOf(target: ChatTarget): string {
  if (target.mesh !== undefined) return `${MESH}${target.mesh}`;
  return target.name ?? (target.url === undefined ? 'agent' : new URL(target.url).host);
}

const open = new Map<string, Promise<A2AClient>>();

/** One client for each target. Requests to other origins go through the node. */
export function clientFor(target: ChatTarget, options: Pick<ClientOptions, 'binding' | 'dialect'> = {}): Promise<A2AClient> {
  const key = JSON.stringify([target, options, token.value]);
  const known = open.get(key);
  if (known !== undefined) return known;
  const made = connect(target, options);
  open.set(key, made);
  made.catch(() => open.delete(key));
  return made;
}

function connect(target: ChatTarget, options: Pick<ClientOptions, 'binding' | 'dialect'>): Promise<A2AClient> {
  const own = pathTo(target);
  if (own !== undefined) {
    const present = (): { headers: Readonly<Record<string, string>> } => ({ headers: credentials() });
    return A2AClient.connect(`${NODE}${own}`, { ...options, auth: { present }, interceptors: [recording(titleOf(target))] });
  }
  const auth = keptAuth(target.auth);
  return A2AClient.connect(target.url ?? '', {
    ...options,
    ...(auth === undefined ? {} : { auth }),
    fetch: relayed,
    interceptors: [recording(titleOf(target))],
  });
}

/** An agent of this node. */
function pathTo({ name, mesh }: ChatTarget): string | undefined {
  if (mesh !== undefined) return `/api/parley/v1/mesh/agents/${encodeURIComponent(mesh)}`;
  return name === undefined ? undefined : `/agents/${name}`;
}
