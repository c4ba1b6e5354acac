import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import { Role, TaskState } from '@a2a-js/sdk';
import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';
import { AgentEvent } from '@a2a-js/sdk/server';
import { describe, expect, it } from 'vitest';
import type { Artifact } from '#protocol';
import { artifactId, createAgentTextMessage, createUserMessage, messageId } from '#protocol';
import type { FakeTurn } from '../../../test/support/turns.ts';
import { fakeTurn, outputs } from '../../../test/support/turns.ts';
import { fromExecutor } from './from-executor.ts';

const CARD: SdkAgentCard = {
  name: 'moved',
  description: 'Was written for the official SDK.',
  version: '3.1.4',
  supportedInterfaces: [{ url: 'http://127.0.0.1:1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
  provider: { organization: 'Us', url: 'https://us.example' },
  documentationUrl: '',
  capabilities: {
    streaming: true,
    pushNotifications: false,
    extensions: [{ uri: 'urn:x', description: '', required: false, params: { a: 1 } }],
  },
  securitySchemes: {
    oauth: {
      scheme: {
        $case: 'oauth2SecurityScheme',
        value: {
          description: '',
          oauth2MetadataUrl: '',
          flows: {
            flow: {
              $case: 'clientCredentials',
              value: { tokenUrl: 'https://us.example/token', refreshUrl: '', scopes: { read: 'Reads.' } },
            },
          },
        },
      },
    },
  },
  securityRequirements: [{ schemes: { oauth: { list: ['read'] } } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [
    { id: 's', name: 'S', description: 'Does.', tags: ['t'], examples: [], inputModes: [], outputModes: [], securityRequirements: [] },
  ],
  signatures: [{ protected: 'x', signature: 'y', header: undefined }],
};

const words = (text: string) => ({
  content: { $case: 'text' as const, value: text },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
});
const says = (text: string, context: RequestContext) => ({
  messageId: 'said-1',
  role: Role.ROLE_AGENT,
  contextId: context.contextId,
  taskId: context.taskId,
  parts: [words(text)],
  metadata: {},
  extensions: [],
  referenceTaskIds: [],
});
const update = (context: RequestContext, state: TaskState, text?: string) =>
  AgentEvent.statusUpdate({
    taskId: context.taskId,
    contextId: context.contextId,
    status: { state, message: text === undefined ? undefined : says(text, context), timestamp: new Date().toISOString() },
    metadata: {},
  });
const chunk = (context: RequestContext, text: string, append: boolean, lastChunk: boolean) =>
  AgentEvent.artifactUpdate({
    taskId: context.taskId,
    contextId: context.contextId,
    artifact: { artifactId: 'a', name: 'answer', description: '', parts: [words(text)], metadata: {}, extensions: [] },
    append,
    lastChunk,
    metadata: {},
  });
const task = (context: RequestContext, state: TaskState, more: object = {}) =>
  AgentEvent.task({
    id: context.taskId,
    contextId: context.contextId,
    status: { state, message: undefined, timestamp: undefined },
    history: [context.userMessage],
    artifacts: [],
    metadata: {},
    ...more,
  });

type Execute = AgentExecutor['execute'];
class Executor implements AgentExecutor {
  readonly canceled: string[] = [];
  readonly execute: Execute;
  readonly #onCancel: (() => void) | undefined;

  constructor(execute: Execute, onCancel?: () => void) {
    this.execute = execute;
    this.#onCancel = onCancel;
  }

  cancelTask = async (taskId: string, _bus: ExecutionEventBus): Promise<void> => {
    this.canceled.push(taskId);
    this.#onCancel?.();
  };
}

const said = (execute: Execute, turn = fakeTurn('hello')) => outputs(fromExecutor(new Executor(execute), CARD), turn);
const ids = { taskId: 'task-1', contextId: 'context-1' };
const PART = { text: 'hi', mediaType: 'text/plain' };

describe('what an executor publishes', () => {
  it('is what the agent says', async () => {
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

  it('may be a message alone', async () => {
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

  it('is not repeated where the task had it before', async () => {
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
  ])('ends with state %i: %s', async (state, isLast) => {
    const all = await said(async (context, bus) => {
      bus.publish(update(context, state));
      bus.publish(chunk(context, 'late', false, true));
    });
    expect(all).toHaveLength(isLast ? 1 : 2);
    expect(all[0]).toMatchObject({ event: { statusUpdate: { status: { state: TaskState[state] } } } });
  });

  it('is taken until it says that it is finished, and no longer', async () => {
    const all = await said(async (context, bus) => {
      bus.publish(chunk(context, 'hi', false, false));
      bus.finished();
      bus.publish(chunk(context, 'late', true, true));
    });
    expect(all).toHaveLength(1);
  });

  it('comes out as it is published, not at the end', async () => {
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

  it('is kept as it was, whatever the executor does with it afterwards', async () => {
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

  it('carries files and links', async () => {
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

  it('that is no state, or no content, fails the run', async () => {
    const unknown = said(async (context, bus) => bus.publish(update(context, TaskState.UNRECOGNIZED)));
    await expect(unknown).rejects.toMatchObject({ kind: 'INVALID_AGENT_RESPONSE' });
    const empty = said(async (context, bus) => {
      bus.publish(AgentEvent.message({ ...says('', context), parts: [{ ...words(''), content: undefined }] }));
    });
    await expect(empty).rejects.toMatchObject({ kind: 'INVALID_AGENT_RESPONSE' });
  });
});

describe('what an executor is given', () => {
  const given = async (options: FakeTurn = {}): Promise<RequestContext> => {
    let seen: RequestContext | undefined;
    await said(
      async (context) => {
        seen = context;
      },
      fakeTurn([{ text: 'hello' }, { raw: 'AQID', filename: 'a.bin' }, { data: { a: 1 } }], options),
    );
    if (seen === undefined) throw new Error('not executed');
    return seen;
  };

  it('is the message in its own shapes', async () => {
    const context = await given({ messageId: messageId('m1'), metadata: { k: 1 } });
    expect(context).toMatchObject({ taskId: 'task-1', contextId: 'context-1' });
    expect(context.task).toBeUndefined();
    expect(context.request.message).toEqual(context.userMessage);
    expect(context.userMessage).toEqual({
      messageId: 'm1',
      taskId: 'task-1',
      contextId: 'context-1',
      role: Role.ROLE_USER,
      parts: [
        { content: { $case: 'text', value: 'hello' }, metadata: undefined, filename: '', mediaType: '' },
        { content: { $case: 'raw', value: Buffer.from([1, 2, 3]) }, metadata: undefined, filename: 'a.bin', mediaType: '' },
        { content: { $case: 'data', value: { a: 1 } }, metadata: undefined, filename: '', mediaType: '' },
      ],
      metadata: { k: 1 },
      extensions: [],
      referenceTaskIds: [],
    });
    const [, file] = context.userMessage.parts;
    expect(file?.content?.$case === 'raw' && file.content.value.toString('base64')).toBe('AQID');
  });

  it('is the task as well, when the message continues one', async () => {
    const { task: before } = await given({ history: [createUserMessage('first'), createAgentTextMessage('which?')] });
    expect(before?.status?.state).toBe(TaskState.TASK_STATE_WORKING);
    expect(before?.history.map(({ role }) => role)).toEqual([Role.ROLE_USER, Role.ROLE_AGENT, Role.ROLE_USER]);
  });

  it('is a call context that works', async () => {
    const { context } = await given();
    expect(context.user).toEqual({ isAuthenticated: false, userName: 'local' });
    context.addActivatedExtension('urn:x');
    context.addActivatedExtension('urn:x');
    expect(context.activatedExtensions).toEqual(['urn:x']);
    context.state.set('k', 1);
    context.setTenant('t');
    context.setRequestedExtensions(['urn:y']);
    expect([context.state.get('k'), context.tenant, context.requestedExtensions, context.requestedVersion]).toEqual([
      1,
      't',
      ['urn:y'],
      '1.0',
    ]);
  });

  it('is a bus that can be listened to', async () => {
    const heard: string[] = [];
    await said(async (context, bus) => {
      const always = () => heard.push('always');
      bus.on('event', always).once('event', ({ kind }) => heard.push(`once ${kind}`));
      bus.once('finished', () => heard.push('finished')).on('finished', () => heard.push('never'));
      bus.publish(chunk(context, 'a', false, false));
      bus.publish(chunk(context, 'b', true, false));
      bus.off('event', always);
      bus.publish(chunk(context, 'c', true, true));
      bus.removeAllListeners('event');
      bus.finished();
      bus.removeAllListeners();
      bus.finished();
    });
    expect(heard).toEqual(['always', 'once artifactUpdate', 'always', 'finished', 'never']);
  });
});

describe('an executor that', () => {
  it('throws fails the run, after what it published', async () => {
    const seen: unknown[] = [];
    const agent = fromExecutor(
      new Executor(async (context, bus) => {
        bus.publish(chunk(context, 'hi', false, false));
        throw new Error('secret');
      }),
      CARD,
    );
    const run = async () => {
      for await (const output of agent.run(fakeTurn('hello'))) seen.push(output);
    };
    await expect(run()).rejects.toThrow('secret');
    expect(seen).toHaveLength(1);
  });

  it('is canceled hears of it, and the run ends', async () => {
    const stop = new AbortController();
    let end: () => void = () => {};
    const executor = new Executor(
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
      () => end(),
    );
    const running = outputs(fromExecutor(executor, CARD), fakeTurn('hello', { signal: stop.signal }));
    stop.abort();
    expect(await running).toEqual([]);
    expect(executor.canceled).toEqual(['task-1']);
  });

  it('does not listen to its cancel ends for us all the same', async () => {
    const stop = new AbortController();
    const executor = new Executor(
      () => new Promise<void>(() => {}),
      () => {
        throw new Error('can not');
      },
    );
    const running = outputs(fromExecutor(executor, CARD), fakeTurn('hello', { signal: stop.signal }));
    stop.abort();
    expect(await running).toEqual([]);
  });

  it('publishes a great deal at once loses none of it', async () => {
    const all = await said(async (context, bus) => {
      for (let at = 0; at < 50_000; at += 1) bus.publish(chunk(context, `${at}`, at > 0, false));
    });
    expect(all).toHaveLength(50_000);
    expect(all.at(-1)).toMatchObject({ event: { artifactUpdate: { artifact: { parts: [{ text: '49999' }] } } } });
  });
});

describe('its card', () => {
  it('is read from the SDK, without the addresses and signatures that were for another server', () => {
    const { card, recovery } = fromExecutor(new Executor(async () => {}), CARD);
    expect(card).toEqual({
      name: 'moved',
      description: 'Was written for the official SDK.',
      version: '3.1.4',
      supportedInterfaces: [],
      provider: { organization: 'Us', url: 'https://us.example' },
      capabilities: { streaming: true, pushNotifications: false, extensions: [{ uri: 'urn:x', params: { a: 1 } }] },
      securitySchemes: {
        oauth: {
          oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: 'https://us.example/token', scopes: { read: 'Reads.' } } } },
        },
      },
      securityRequirements: [{ schemes: { oauth: { list: ['read'] } } }],
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [expect.objectContaining({ id: 's', name: 'S', description: 'Does.', tags: ['t'] })],
    });
    expect(recovery).toBe('fail');
    expect(fromExecutor(new Executor(async () => {}), CARD, { recovery: 'retry' }).recovery).toBe('retry');
  });

  it('that is none is refused', () => {
    const none = { name: 'x', description: '', version: '1', skills: 7 } as unknown as SdkAgentCard;
    expect(() => fromExecutor(new Executor(async () => {}), none)).toThrow('no agent card');
  });
});
