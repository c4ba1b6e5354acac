import type { LogEntry, TaskKey, TaskRow, Write } from '#engine';
import { timeOrderedIds } from '#engine';
import type { Message, Seq, TaskEvent } from '#protocol';
import { artifactId, contextId, createUserMessage, dialectId, taskId } from '#protocol';
import type { SqliteStore } from '../src/engine/adapters/sqlite.ts';

const ids = timeOrderedIds();
export const OWNER = { tenant: '', principal: 'local' } as const;
export const AGENT = 'echo';

/** Fills a store as a server would after so many tasks of the echo agent. One in a hundred has failed, one in a thousand is unfinished. */
export async function fill(store: SqliteStore, tasks: number, events: number): Promise<void> {
  const STEP = 1000;
  for (let key = 1; key <= tasks; key += STEP) {
    const batch: Write[] = [];
    for (let at = 0; at < STEP; at += 1) {
      const { row, first } = newTask(key + at);
      const entries: LogEntry[] = [first];
      for (let seq = 2; seq <= events; seq += 1) entries.push({ seq: seq as Seq, event: chunk(row) });
      const state = (key + at) % 100 === 0 ? 'TASK_STATE_FAILED' : (key + at) % 1000 === 1 ? 'TASK_STATE_WORKING' : 'TASK_STATE_COMPLETED';
      batch.push({ kind: 'task', row: { ...row, state, last: events as Seq }, isNew: true, entries });
    }
    await store.commit(batch);
  }
}

export function newTask(key: number): { row: TaskRow; first: LogEntry; message: Message } {
  const [id, context] = [taskId(ids.next()), contextId(ids.next())];
  const now = new Date();
  const message: Message = { ...createUserMessage('hello there'), taskId: id, contextId: context };
  const row: TaskRow = {
    key: key as TaskKey,
    id,
    owner: OWNER,
    agent: AGENT,
    contextId: context,
    dialect: dialectId('v10'),
    state: 'TASK_STATE_WORKING',
    statusAt: now.getTime(),
    last: 1 as Seq,
    turn: 1 as Seq,
    attempt: 0,
    bytes: 400,
  };
  const task = {
    id,
    contextId: context,
    status: { state: 'TASK_STATE_SUBMITTED' as const, timestamp: now.toISOString() },
    history: [message],
  };
  return { row, first: { seq: 1 as Seq, event: { task } }, message };
}

export function chunk(row: TaskRow): TaskEvent {
  return {
    artifactUpdate: {
      ...of(row),
      append: true,
      artifact: { artifactId: artifactId('response'), parts: [{ text: 'thirty-two bytes of text, so far.' }] },
    },
  };
}

export function of(row: TaskRow): { taskId: TaskRow['id']; contextId: TaskRow['contextId'] } {
  return { taskId: row.id, contextId: row.contextId };
}
