import type { AdminEvent, AdminTask, Task } from '#protocol';
import { isObject } from '#protocol';
import { admin } from '../api.ts';

/** A task with its whole log, without secrets. */
export interface SharedTask {
  readonly about: AdminTask;
  readonly task: Task;
  readonly events: readonly AdminEvent[];
}

/** What a shared file contains: one task, or those of a conversation, the oldest first. */
export interface SharedFile {
  readonly format: typeof FORMAT;
  readonly exportedAt: string;
  readonly tasks: readonly SharedTask[];
}

const FORMAT = 'parley-share-1';
const TASKS_MAX = 50;
/** The id of the element that holds the data of a shared file. */
export const DATA_ID = 'parley-share';

async function sharedTask(id: string): Promise<SharedTask> {
  const { task, onRestart: _, ...about } = await admin.redacted(id);
  const events: AdminEvent[] = [];
  for (;;) {
    const more = await admin.events(id, events.at(-1)?.seq ?? 0, { isRedacted: true });
    if (more.length === 0) return { about, task, events };
    events.push(...more);
  }
}

/** Reads a task, or all tasks of its conversation, as the node shows them without secrets. */
export async function readToShare(id: string, isWhole: boolean): Promise<SharedFile> {
  let ids: readonly string[] = [id];
  if (isWhole) {
    const { contextId, principal } = await admin.redacted(id);
    const { tasks } = await admin.tasks(new URLSearchParams({ contextId, pageSize: String(TASKS_MAX) }));
    ids = tasks.filter((task) => task.principal === principal).map((task) => task.id);
  }
  const tasks: SharedTask[] = [];
  for (const one of ids) tasks.push(await sharedTask(one));
  const startOf = ({ events, about }: SharedTask): number => Date.parse(events[0]?.event.task?.status.timestamp ?? about.statusAt);
  return { format: FORMAT, exportedAt: new Date().toISOString(), tasks: tasks.sort((one, other) => startOf(one) - startOf(other)) };
}

/** Reads a shared file: the HTML page, or its data alone. Throws with a reason for people. */
export function readShared(text: string): SharedFile {
  const inPage = new RegExp(`<script type="application/json" id="${DATA_ID}">([\\s\\S]*?)</script>`).exec(text)?.[1];
  const read: unknown = parsed(inPage ?? text);
  if (!isObject(read) || read['format'] !== FORMAT || !Array.isArray(read['tasks'])) {
    throw new Error('This is not a file that the console exported.');
  }
  const tasks = read['tasks'].filter(isSharedTask);
  if (tasks.length !== read['tasks'].length) throw new Error('The file is damaged: a task in it has no log.');
  return { format: FORMAT, exportedAt: String(read['exportedAt'] ?? ''), tasks };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isSharedTask(value: unknown): value is SharedTask {
  if (!isObject(value) || !isObject(value['about']) || !isObject(value['task']) || !Array.isArray(value['events'])) return false;
  const { id, agent, state, statusAt } = value['about'];
  const isNamed = [id, agent, state, statusAt].every((member) => typeof member === 'string');
  return (
    isNamed && isObject(value['task']['status']) && value['events'].every((entry: unknown) => isObject(entry) && isObject(entry['event']))
  );
}
