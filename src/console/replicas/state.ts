import { computed, signal } from '@preact/signals';
import type { AdminReplica } from '#protocol';
import { admin, wordsFor } from '../api.ts';
import { refused } from '../session.ts';
import { changesBetween } from './changes.ts';

/** The nodes on the database, oldest first. Null: this node has a store of its own. */
export const replicas = signal<readonly AdminReplica[] | null | undefined>(undefined);
/** Why they could not be read. Empty: they were. */
export const replicasProblem = signal('');
/** Several nodes are there now, or were since the page was opened. */
export const hasOthers = computed(() => (replicas.value ?? []).length > 1 || changes.value.length > 0);

const COLOURS = 6;
const colours = new Map<string, number>();

/** The class of a node's colour. A node that starts again at the same address keeps it. Colours repeat after six nodes. */
export function colourOf({ id, url }: AdminReplica): string {
  const name = url === '' ? String(id) : url;
  const known = colours.get(name) ?? colours.size % COLOURS;
  colours.set(name, known);
  return `node-${known}`;
}

/** A change since the page was opened. */
export interface ReplicaChange {
  readonly at: number;
  readonly text: string;
}

/** Changes since the page was opened, newest first. */
export const changes = signal<readonly ReplicaChange[]>([]);
const CHANGES_MAX = 50;

/** Reads which nodes there are, and which cells each owns. */
export async function refreshReplicas(): Promise<void> {
  try {
    const before = replicas.value;
    const now = await admin.replicas();
    replicas.value = now;
    replicasProblem.value = '';
    if (before && now) {
      const at = Date.now();
      const found = changesBetween(before, now).map((text) => ({ at, text }));
      if (found.length > 0) changes.value = [...found, ...changes.value].slice(0, CHANGES_MAX);
    }
  } catch (thrown) {
    replicasProblem.value = wordsFor(thrown);
  }
}

const LOOK_MS = 10_000;

/** Looks now and then whether other nodes have joined. A node with a store of its own is asked once. */
export function watchReplicas(): () => void {
  let timer = 0;
  let isOver = false;
  const look = async (): Promise<void> => {
    if (refused.value === undefined && !document.hidden) await refreshReplicas();
    if (!isOver && replicas.value !== null) timer = window.setTimeout(look, LOOK_MS);
  };
  void look();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
