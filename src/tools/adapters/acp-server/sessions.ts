import type { ListSessionsRequest, ListSessionsResponse, SessionUpdate } from '@agentclientprotocol/sdk';
import { callingContext } from '#agents';
import type { Task } from '#protocol';
import { contextId, getTextFromMessage, isA2AError, isInterrupted, turnsOf } from '#protocol';
import type { Reachable } from '../../agent-tools.ts';
import { chunkOf, userChunkOf } from './updates.ts';

const TITLE_CHARACTERS = 80;

/** The contexts of the caller, newest first. An agent that can't list tasks has none. */
export async function listSessions({ service }: Reachable, { cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
  const ctx = callingContext({ signal: AbortSignal.timeout(LIST_MS_MAX), extensions: [] });
  try {
    const page = await service.list({ pageSize: 100, ...(typeof cursor === 'string' ? { pageToken: cursor } : {}) }, ctx);
    const byContext = new Map<string, Task>();
    for (const task of page.tasks) if (task.contextId !== undefined && !byContext.has(task.contextId)) byContext.set(task.contextId, task);
    const sessions = [...byContext].map(([sessionId, { status, history = [] }]) => {
      const first = history.find(({ role }) => role === 'ROLE_USER');
      const title = first === undefined ? '' : getTextFromMessage(first).replaceAll(/\s+/g, ' ').slice(0, TITLE_CHARACTERS);
      return {
        ...{ sessionId, cwd: cwd ?? process.cwd(), title: title === '' ? null : title },
        ...(status.timestamp === undefined ? {} : { updatedAt: status.timestamp }),
      };
    });
    return { sessions, ...(page.nextPageToken === '' ? {} : { nextCursor: page.nextPageToken }) };
  } catch (thrown) {
    const isRefused = isA2AError(thrown) && (thrown.kind === 'UNAUTHENTICATED' || thrown.kind === 'PERMISSION_DENIED');
    if (isA2AError(thrown) && !isRefused) return { sessions: [] };
    throw thrown;
  }
}

const LIST_MS_MAX = 30_000;
const TASKS_MAX = 100;

/** The tasks of a context, oldest first. */
export async function tasksOf({ service }: Reachable, context: string): Promise<readonly Task[]> {
  const ctx = callingContext({ signal: AbortSignal.timeout(LIST_MS_MAX), extensions: [] });
  const { tasks } = await service.list({ contextId: contextId(context), pageSize: TASKS_MAX, includeArtifacts: true }, ctx);
  return [...tasks].reverse();
}

/** The task that waits for an answer. */
export function waitingIn(tasks: readonly Task[]): Task | undefined {
  return tasks.findLast(({ status }) => isInterrupted(status.state));
}

/** What the editor has to show of a session that it loads. */
export function replayOf(tasks: readonly Task[]): readonly SessionUpdate[] {
  return tasks.flatMap((task) =>
    turnsOf(task).flatMap(({ message, artifacts, status }) => {
      const texts = artifacts.flatMap(({ parts }) => parts);
      const words = status.message === undefined || status.state === 'TASK_STATE_WORKING' ? '' : getTextFromMessage(status.message);
      const isSaid = words === '' || texts.some(({ text }) => text === words);
      return [...(message?.parts ?? []).map(userChunkOf), ...texts.map(chunkOf), ...(isSaid ? [] : [chunkOf({ text: words })])];
    }),
  );
}
