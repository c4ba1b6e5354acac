import { signal } from '@preact/signals';
import type { AdminMesh, AdminPeer } from '#protocol';
import { agents, loadAgents } from '../agents/known.ts';
import { admin, wordsFor } from '../api.ts';

/** The last known state of the mesh. Null: this node is not on a mesh. */
export const mesh = signal<AdminMesh | null | undefined>(undefined);
/** Why the mesh could not be read. Empty: it was. */
export const meshProblem = signal('');

/** A change since the page was opened. */
export interface News {
  readonly at: number;
  readonly name: string;
  readonly what: 'came' | 'fell silent' | 'is heard again' | 'is gone';
}

/** Changes since the page was opened, newest first. */
export const news = signal<readonly News[]>([]);
const NEWS_MAX = 20;

/**
 * Reads the state of the mesh. The node listens to the calls of all participants for a few seconds
 * after each read.
 */
export async function refreshMesh(): Promise<void> {
  try {
    const before = mesh.value;
    const now = await admin.mesh();
    mesh.value = now;
    meshProblem.value = '';
    if (before && now) news.value = [...changes(before.peers, now.peers), ...news.value].slice(0, NEWS_MAX);
    const isNew = (now?.peers ?? []).some(
      ({ name, path }) => path === `/agents/${name}` && !agents.value?.some((known) => known.name === name),
    );
    if (isNew) await loadAgents(); // a gateway serves new agents
  } catch (thrown) {
    meshProblem.value = wordsFor(thrown);
  }
}

/** What has changed between two readings of the mesh. */
function changes(before: readonly AdminPeer[], now: readonly AdminPeer[]): readonly News[] {
  const at = Date.now();
  const found: News[] = [];
  for (const { name, kind, state } of now) {
    const old = before.find((peer) => peer.name === name && peer.kind === kind);
    if (old === undefined) found.push({ at, name, what: 'came' });
    else if (old.state !== state) found.push({ at, name, what: state === 'stale' ? 'fell silent' : 'is heard again' });
  }
  for (const { name, kind } of before)
    if (!now.some((peer) => peer.name === name && peer.kind === kind)) found.push({ at, name, what: 'is gone' });
  return found;
}

/** The chat page of a participant. */
export function chatWith({ name, path }: AdminPeer): string {
  return path === `/agents/${name}` ? `/chat/${encodeURIComponent(name)}` : `/chat/${encodeURIComponent(`mesh:${name}`)}`;
}
