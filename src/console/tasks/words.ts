import { signal } from '@preact/signals';
import type { AdminTask, AdminWords } from '#protocol';
import { admin } from '../api.ts';
import { plainWords } from '../ui/plain.ts';

/** How tasks began, by id. Only of tasks that were shown. */
export const taskWords = signal<ReadonlyMap<string, AdminWords>>(new Map());

const AT_ONCE = 100;
const WAIT_MS = 120;
const KEPT_MAX = 5000;
const asked = new Set<string>();
let wanted: readonly string[] = [];
let timer = 0;

/** Reads how these tasks began, if it is not known. A list that is scrolled fast asks only where it stops. */
export function wantWords(ids: readonly string[]): void {
  wanted = ids.filter((id) => !asked.has(id)).slice(0, AT_ONCE);
  clearTimeout(timer);
  if (wanted.length > 0) timer = window.setTimeout(() => void read(wanted), WAIT_MS);
}

/** Tasks that failed after their words were read: the cause is not known yet. */
export function wantCauses(tasks: readonly AdminTask[]): void {
  for (const { id, state } of tasks) {
    const isBad = state === 'TASK_STATE_FAILED' || state === 'TASK_STATE_REJECTED';
    if (isBad && taskWords.value.get(id)?.cause === undefined && taskWords.value.has(id)) asked.delete(id);
  }
  wantWords(tasks.map(({ id }) => id));
}

async function read(ids: readonly string[]): Promise<void> {
  for (const id of ids) asked.add(id);
  try {
    const found = await admin.words(ids);
    const all = [...taskWords.value, ...found.map((one) => [one.id, { ...one, text: plainWords(one.text) }] as const)];
    for (const [id] of all.slice(0, -KEPT_MAX)) asked.delete(id);
    taskWords.value = new Map(all.slice(-KEPT_MAX));
  } catch {
    for (const id of ids) asked.delete(id); // they are asked for again when they are shown
  }
}
