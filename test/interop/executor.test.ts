import type { AgentCard, SendMessageRequest } from '@a2a-js/sdk';
import { Role, Task as SdkTask, TaskState } from '@a2a-js/sdk';
import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore, ServerCallContext } from '@a2a-js/sdk/server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fromExecutor } from '#agents';
import { isTextPart, type Task, taskId } from '#protocol';
import type { Talk } from '../support/talk.ts';
import { callContext, course, statusText, talkTo, taskIn } from '../support/talk.ts';

const CARD: AgentCard = {
  name: 'sdk',
  description: 'Written for the official SDK.',
  version: '1.0.0',
  supportedInterfaces: [],
  provider: undefined,
  capabilities: { streaming: true, pushNotifications: true, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 's', name: 'S', description: 'S.', tags: ['s'], examples: [], inputModes: [], outputModes: [], securityRequirements: [] }],
  signatures: [],
};

const part = (text: string) => ({ content: { $case: 'text' as const, value: text }, metadata: {}, filename: '', mediaType: '' });

/** An executor like those in the SDK's documentation: a task first, then updates, and a question if something is missing. */
class Clerk implements AgentExecutor {
  readonly #canceled = new Set<string>();

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage, task } = context;
    const text = userMessage.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join(' ');
    const status = (state: TaskState, words?: string) => ({
      state,
      timestamp: new Date().toISOString(),
      message:
        words === undefined
          ? undefined
          : {
              messageId: crypto.randomUUID(),
              role: Role.ROLE_AGENT,
              parts: [part(words)],
              taskId,
              contextId,
              metadata: {},
              extensions: [],
              referenceTaskIds: [],
            },
    });
    const update = (state: TaskState, words?: string) =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state, words), metadata: {} }));
    const chunk = (words: string, append: boolean, lastChunk: boolean) =>
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: { artifactId: 'letter', name: 'letter.txt', description: '', parts: [part(words)], metadata: {}, extensions: [] },
          append,
          lastChunk,
          metadata: {},
        }),
      );
    if (text === 'hello') {
      const direct = status(TaskState.TASK_STATE_COMPLETED, 'hello yourself').message;
      if (direct !== undefined) bus.publish(AgentEvent.message({ ...direct, taskId: '' }));
      bus.finished();
      return;
    }
    const first = task ?? {
      id: taskId,
      contextId,
      status: status(TaskState.TASK_STATE_SUBMITTED),
      history: [userMessage],
      artifacts: [],
      metadata: { clerk: 'B.' },
    };
    bus.publish(AgentEvent.task(first));
    update(TaskState.TASK_STATE_WORKING, 'writing');
    if (text === 'leave') return;
    if (text === 'crash') throw new Error('a secret');
    if (text === 'wait') while (!this.#canceled.has(taskId)) await new Promise((resolve) => setTimeout(resolve, 5));
    if (text === 'ask') {
      update(TaskState.TASK_STATE_INPUT_REQUIRED, 'To whom?');
      bus.finished();
      return;
    }
    chunk('Dear ', false, false);
    await Promise.resolve();
    chunk(text, true, true);
    update(text === 'fail' ? TaskState.TASK_STATE_FAILED : TaskState.TASK_STATE_COMPLETED, 'done');
    bus.finished();
  }

  async cancelTask(id: string): Promise<void> {
    this.#canceled.add(id);
  }
}

const open: Talk[] = [];
afterEach(async () => {
  for (const talk of open.splice(0)) await talk.stop();
});

async function talkToClerk(): Promise<Talk> {
  const talk = await talkTo(fromExecutor(new Clerk(), CARD));
  open.push(talk);
  return talk;
}

/** Sends the same text to the same executor in the SDK's own server. */
function sdkServer(): (text: string, task?: string) => Promise<Task> {
  const handler = new DefaultRequestHandler(CARD, new InMemoryTaskStore(), new Clerk());
  return async (text, task = '') => {
    const message = {
      messageId: crypto.randomUUID(),
      role: Role.ROLE_USER,
      parts: [part(text)],
      taskId: task,
      contextId: '',
      metadata: {},
      extensions: [],
      referenceTaskIds: [],
    };
    const request: SendMessageRequest = { tenant: '', message, configuration: undefined, metadata: {} };
    const answer = await handler.sendMessage(request, new ServerCallContext({ requestedVersion: '1.0' }));
    return SdkTask.toJSON(answer as SdkTask) as Task;
  };
}

/** The task without ids, times and history. */
function gist(task: Task) {
  return {
    state: task.status.state,
    words: statusText(task),
    artifacts: task.artifacts?.map(({ artifactId, name, parts }) => [
      artifactId,
      name,
      // The SDK keeps a part for each chunk, Parley keeps one text.
      parts
        .filter(isTextPart)
        .map(({ text }) => text)
        .join(''),
    ]),
    metadata: task.metadata,
  };
}

describe('an executor in our engine ends as it does in the SDK', () => {
  it.each(['a letter', 'fail', 'ask'])('%s', async (text) => {
    const [ours, theirs] = [await (await talkToClerk()).task(text), await sdkServer()(text)];
    expect(gist(ours)).toEqual(gist(theirs));
  });

  it('over two turns', async () => {
    const talk = await talkToClerk();
    const server = sdkServer();
    const [ours, theirs] = [await talk.task('ask'), await server('ask')];
    const [mine, yours] = [await talk.task('Ada', { taskId: ours.id }), await server('Ada', theirs.id)];
    expect(mine.status.state).toBe('TASK_STATE_COMPLETED');
    expect(gist(mine)).toEqual(gist(yours));
  });
});

describe('an executor in our engine', () => {
  it('streams as it publishes', async () => {
    const events = await (await talkToClerk()).stream('a letter');
    expect(course(events)).toEqual(['task WORKING', 'status WORKING', 'status WORKING', 'artifact', 'artifact + .', 'status COMPLETED']);
  });

  it('returns a direct message, and no task', async () => {
    const talk = await talkToClerk();
    expect((await talk.send('hello')).message).toMatchObject({ role: 'ROLE_AGENT', parts: [{ text: 'hello yourself' }] });
  });

  it('completes a task that the executor leaves open; in the SDK it stays working', async () => {
    expect((await (await talkToClerk()).task('leave')).status.state).toBe('TASK_STATE_COMPLETED');
    expect((await sdkServer()('leave')).status.state).toBe('TASK_STATE_WORKING');
  });

  it('fails without revealing the reason; the SDK reveals it', async () => {
    const log = vi.spyOn(console, 'error').mockReturnValue(undefined);
    expect(JSON.stringify(await sdkServer()('crash'))).toContain('secret');
    log.mockRestore();
    const talk = await talkToClerk();
    const task = await talk.task('crash');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(task)).not.toContain('secret');
    expect(talk.reports).toEqual([expect.stringContaining('a secret')]);
  });

  it('is canceled', async () => {
    const talk = await talkToClerk();
    const { id } = taskIn(await talk.begin('wait'));
    expect((await talk.cancel(id)).status.state).toBe('TASK_STATE_CANCELED');
    expect((await talk.service.get({ id: taskId(id) }, callContext())).status.state).toBe('TASK_STATE_CANCELED');
    expect(talk.reports).toEqual([]);
  });
});
