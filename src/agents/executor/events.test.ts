import { TaskState } from '@a2a-js/sdk';
import { AgentEvent } from '@a2a-js/sdk/server';
import { describe, expect, it } from 'vitest';
import type { Artifact } from '#protocol';
import { artifactId, createUserMessage } from '#protocol';
import { CARD, chunk, Executor, said, says, task, update, words } from '../../../test/support/executor.ts';
import { fakeTurn } from '../../../test/support/turns.ts';
import { fromExecutor } from './from-executor.ts';

const ids = { taskId: 'task-1', contextId: 'context-1' };
const PART = { text: 'hi', mediaType: 'text/plain' };

describe('the events of an executor', () => {
  it('become the outputs of the agent', async () => {
    const all = await said(async (context, bus) => {
      bus.publish(task(context, TaskState.TASK_STATE_SUBMITTED));
      bus.publish(update(context, TaskState.TASK_STATE_WORKING, 'hi'));
      bus.publish(chunk(context, 'hi', false, false));
      bus.publish(chunk(context, 'hi', true, true));
      bus.publish(update(context, TaskState.TASK_STATE_COMPLETED));
      bus.finished();
    });
    const message = { messageId: 'said-1', role: 'ROLE_AGENT', parts: [PART], ...ids };
    const artifact = { artifactId: 'a', name: 'answer', parts: [PART] };
    expect(all).toEqual([
      { kind: 'event', event: { statusUpdate: { ...ids, status: { state: 'TASK_STATE_WORKING', message } } } },
      { kind: 'event', event: { artifactUpdate: { ...ids, artifact } } },
      { kind: 'event', event: { artifactUpdate: { ...ids, artifact, append: true, lastChunk: true } } },
      { kind: 'event', event: { statusUpdate: { ...ids, status: { state: 'TASK_STATE_COMPLETED' } } } },
    ]);
  });

  it('may be a single message', async () => {
    const all = await said(async (context, bus) => {
      bus.publish(AgentEvent.message({ ...says('hi', context), messageId: '', taskId: '', contextId: '' }));
    });
    expect(all).toEqual([{ kind: 'message', message: { messageId: expect.stringMatching(/.{8,}/), role: 'ROLE_AGENT', parts: [PART] } }]);
  });

  it('may be a whole task: its artifacts, then its state', async () => {
    const all = await said(async (context, bus) => {
      const artifacts = [{ artifactId: 'a', name: '', description: 'D', parts: [words('hi')], metadata: { k: 1 }, extensions: ['urn:e'] }];
      bus.publish(task(context, TaskState.TASK_STATE_COMPLETED, { artifacts, metadata: { cost: 3 } }));
    });
    expect(all).toEqual([
      {
        kind: 'event',
        event: {
          artifactUpdate: {
            ...ids,
            artifact: { artifactId: 'a', description: 'D', parts: [PART], metadata: { k: 1 }, extensions: ['urn:e'] },
          },
        },
      },
      { kind: 'event', event: { statusUpdate: { ...ids, status: { state: 'TASK_STATE_COMPLETED' }, metadata: { cost: 3 } } } },
    ]);
  });

  it('are not repeated if the task has them already', async () => {
    const before: Artifact = { artifactId: artifactId('a'), parts: [PART] };
    const turn = fakeTurn('more', { history: [createUserMessage('hello')], artifacts: [before], taskMetadata: { cost: 3 } });
    const all = await said(async (context, bus) => {
      if (context.task === undefined) throw new Error('no task');
      bus.publish(AgentEvent.task(context.task));
    }, turn);
    expect(all).toEqual([{ kind: 'event', event: { statusUpdate: { ...ids, status: { state: 'TASK_STATE_WORKING' } } } }]);
  });

  it.each([
    [TaskState.TASK_STATE_COMPLETED, true],
    [TaskState.TASK_STATE_FAILED, true],
    [TaskState.TASK_STATE_CANCELED, true],
    [TaskState.TASK_STATE_REJECTED, true],
    [TaskState.TASK_STATE_INPUT_REQUIRED, true],
    [TaskState.TASK_STATE_AUTH_REQUIRED, false],
    [TaskState.TASK_STATE_WORKING, false],
  ])('end with state %i: %s', async (state, isLast) => {
    const all = await said(async (context, bus) => {
      bus.publish(update(context, state));
      bus.publish(chunk(context, 'late', false, true));
    });
    expect(all).toHaveLength(isLast ? 1 : 2);
    expect(all[0]).toMatchObject({ event: { statusUpdate: { status: { state: TaskState[state] } } } });
  });

  it('are read until finished(), and not after it', async () => {
    const all = await said(async (context, bus) => {
      bus.publish(chunk(context, 'hi', false, false));
      bus.finished();
      bus.publish(chunk(context, 'late', true, true));
    });
    expect(all).toHaveLength(1);
  });

  it('are passed on as they are published', async () => {
    let go: () => void = () => {};
    const agent = fromExecutor(
      new Executor(async (context, bus) => {
        bus.publish(update(context, TaskState.TASK_STATE_WORKING));
        await new Promise<void>((resolve) => {
          go = resolve;
        });
        bus.publish(update(context, TaskState.TASK_STATE_COMPLETED));
      }),
      CARD,
    );
    const run = agent.run(fakeTurn('hello'))[Symbol.asyncIterator]();
    expect((await run.next()).value).toMatchObject({ event: { statusUpdate: { status: { state: 'TASK_STATE_WORKING' } } } });
    go();
    expect((await run.next()).value).toMatchObject({ event: { statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } } });
    expect((await run.next()).done).toBe(true);
  });

  it('are copied, so that later changes by the executor have no effect', async () => {
    const all = await said(async (context, bus) => {
      const event = chunk(context, 'hi', false, true);
      const data = { list: [1] };
      if (event.kind === 'artifactUpdate') event.data.artifact?.parts.push({ ...words(''), content: { $case: 'data', value: data } });
      bus.publish(event);
      await Promise.resolve();
      await new Promise((resolve) => setTimeout(resolve, 5));
      data.list.push(2);
    });
    expect(all[0]).toMatchObject({ event: { artifactUpdate: { artifact: { parts: [PART, { data: { list: [1] } }] } } } });
  });

  it('contain files and links', async () => {
    const all = await said(async (context, bus) => {
      const raw = { ...words(''), content: { $case: 'raw' as const, value: Buffer.from([1, 2, 3]) }, filename: 'a.bin', mediaType: '' };
      const url = { ...words(''), content: { $case: 'url' as const, value: 'https://a.example/f' }, metadata: { m: 1 } };
      bus.publish(AgentEvent.message({ ...says('', context), parts: [raw, url] }));
    });
    expect(all[0]).toMatchObject({
      message: {
        parts: [
          { raw: 'AQID', filename: 'a.bin' },
          { url: 'https://a.example/f', mediaType: 'text/plain', metadata: { m: 1 } },
        ],
      },
    });
  });

  it('fail the run if they have no known state or no content', async () => {
    const unknown = said(async (context, bus) => bus.publish(update(context, TaskState.UNRECOGNIZED)));
    await expect(unknown).rejects.toMatchObject({ kind: 'INVALID_AGENT_RESPONSE' });
    const empty = said(async (context, bus) => {
      bus.publish(AgentEvent.message({ ...says('', context), parts: [{ ...words(''), content: undefined }] }));
    });
    await expect(empty).rejects.toMatchObject({ kind: 'INVALID_AGENT_RESPONSE' });
  });
});
