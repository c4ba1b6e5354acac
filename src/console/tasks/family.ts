import type { AdminTask, AdminWholeTask } from '#protocol';
import { isObject, ORIGIN_NOTE } from '#protocol';
import { ApiError, admin } from '../api.ts';

/** How a task came from the one above it in the tree. */
export type Kinship = 'root' | 'delegated' | 'refers';

/** A task in the tree of tasks that belong together. */
export interface Relative {
  readonly id: string;
  readonly kinship: Kinship;
  /** Undefined: the task is on another node. */
  readonly task: AdminTask | undefined;
  readonly words: string;
  readonly children: readonly Relative[];
}

const ABOVE_MAX = 5;
const BELOW_MAX = 4;
const BESIDE_MAX = 50;

async function found(id: string): Promise<AdminWholeTask | undefined> {
  try {
    return await admin.task(id);
  } catch (thrown) {
    if (thrown instanceof ApiError && (thrown.status === 404 || thrown.status === 400)) return undefined;
    throw thrown;
  }
}

/** The task at the remote agent that does the work, from Parley's note in the metadata. */
function delegateOf({ task: { metadata } }: AdminWholeTask): string | undefined {
  const note = metadata?.[ORIGIN_NOTE];
  return isObject(note) && typeof note['taskId'] === 'string' ? note['taskId'] : undefined;
}

function firstMessage({ task: { history = [] } }: AdminWholeTask) {
  return history.find(({ role }) => role === 'ROLE_USER');
}

/** The task above. A proxy names its messages after its own task: `TASK:0`. */
async function parentOf(one: AdminWholeTask): Promise<AdminWholeTask | undefined> {
  const first = firstMessage(one);
  const proxy = /^(.+):\d+$/.exec(first?.messageId ?? '')?.[1];
  const above = proxy === undefined ? undefined : await found(proxy);
  if (above !== undefined && delegateOf(above) === one.id) return above;
  const referred = first?.referenceTaskIds?.at(-1);
  return referred === undefined || referred === one.id ? undefined : await found(referred);
}

/** The tasks of the same conversation whose first message refers to this one. */
async function referringTo({ id, contextId }: AdminTask): Promise<readonly AdminTask[]> {
  const { tasks } = await admin.tasks(new URLSearchParams({ contextId, pageSize: String(BESIDE_MAX) }));
  const others = tasks.filter((task) => task.id !== id);
  if (others.length === 0) return [];
  const words = await admin.words(others.map((task) => task.id));
  const referring = new Set(words.filter(({ references = [] }) => references.at(-1) === id).map((one) => one.id));
  return others.filter((task) => referring.has(task.id)).reverse();
}

async function treeFrom(one: AdminWholeTask, kinship: Kinship, depth: number): Promise<Relative> {
  const children: Relative[] = [];
  if (depth < BELOW_MAX) {
    const delegate = delegateOf(one);
    const below = delegate === undefined ? undefined : await found(delegate);
    if (below !== undefined && below.id !== one.id) children.push(await treeFrom(below, 'delegated', depth + 1));
    else if (delegate !== undefined) children.push({ id: delegate, kinship: 'delegated', task: undefined, words: '', children: [] });
    for (const { id } of await referringTo(one)) {
      const referring = await found(id);
      if (referring !== undefined) children.push(await treeFrom(referring, 'refers', depth + 1));
    }
  }
  const { task: _, onRestart: __, ...task } = one;
  const [words] = await admin.words([one.id]);
  return { id: one.id, kinship, task, words: words?.text ?? '', children };
}

/** The tree that a task belongs to. Undefined: it is alone. */
export async function familyOf(id: string): Promise<Relative | undefined> {
  let top = await found(id);
  if (top === undefined) return undefined;
  const seen = new Set([top.id]);
  for (let above = 0; above < ABOVE_MAX; above += 1) {
    const parent: AdminWholeTask | undefined = await parentOf(top);
    if (parent === undefined || seen.has(parent.id)) break;
    seen.add(parent.id);
    top = parent;
  }
  const tree = await treeFrom(top, 'root', 0);
  return tree.children.length === 0 ? undefined : tree;
}
