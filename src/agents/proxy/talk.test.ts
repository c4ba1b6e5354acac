import { describe, expect, it } from 'vitest';
import type { A2AService, Task, TaskEvent } from '#protocol';
import { A2AError, contextId, messageId, taskId } from '#protocol';
import { ctx } from '../../../test/support/engine.ts';
import { DEFAULT_PROXY_TIMEOUTS } from './follow.ts';
import { talk } from './talk.ts';

const IDS = { taskId: taskId('t'), contextId: contextId('c') };
const ANSWER = { message: { messageId: messageId('m'), role: 'ROLE_USER', parts: [{ text: 'green' }], taskId: IDS.taskId } } as const;

function task(state: Task['status']['state']): TaskEvent {
  return { task: { id: IDS.taskId, contextId: IDS.contextId, status: { state } } };
}

/** A remote agent whose stream yields these events, or fails. */
function remote(events: readonly TaskEvent[] | A2AError): { readonly service: A2AService; readonly sent: string[] } {
  const sent: string[] = [];
  const service = {
    stream: async function* () {
      sent.push('stream');
      if (events instanceof A2AError) throw events;
      for (const event of events) yield [{ event }];
    },
    send: async () => {
      sent.push('send');
      return task('TASK_STATE_COMPLETED');
    },
    get: async () => task('TASK_STATE_INPUT_REQUIRED').task,
  };
  return { service: service as Partial<A2AService> as A2AService, sent };
}

async function states(service: A2AService): Promise<readonly string[]> {
  const seen: string[] = [];
  for await (const event of talk({ service, request: ANSWER, ctx: ctx(), patience: DEFAULT_PROXY_TIMEOUTS, streams: true })) {
    seen.push(event.task?.status.state ?? event.statusUpdate?.status.state ?? '');
  }
  return seen;
}

describe('an answer that a proxy sends to a waiting task', () => {
  it('is read past the snapshot that still asks the old question', async () => {
    const done: TaskEvent = { statusUpdate: { ...IDS, status: { state: 'TASK_STATE_COMPLETED' } } };
    expect(await states(remote([task('TASK_STATE_INPUT_REQUIRED'), done]).service)).toEqual(['TASK_STATE_COMPLETED']);
  });

  it('finds the next question when the stream holds nothing but that snapshot', async () => {
    expect(await states(remote([task('TASK_STATE_INPUT_REQUIRED')]).service)).toEqual(['TASK_STATE_INPUT_REQUIRED']);
  });

  it('is not sent again when the agent refuses it as unsupported', async () => {
    const { service, sent } = remote(new A2AError('UNSUPPORTED_OPERATION'));
    await expect(states(service)).rejects.toMatchObject({ kind: 'UNSUPPORTED_OPERATION' });
    expect(sent).toEqual(['stream']);
  });

  it('is sent without a stream when the agent has no such method', async () => {
    const { service, sent } = remote(new A2AError('METHOD_NOT_FOUND'));
    expect(await states(service)).toEqual(['TASK_STATE_COMPLETED']);
    expect(sent).toEqual(['stream', 'send']);
  });
});
