import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import { Role, TaskState } from '@a2a-js/sdk';
import type { RequestContext } from '@a2a-js/sdk/server';
import { describe, expect, it } from 'vitest';
import { createAgentTextMessage, createUserMessage, messageId } from '#protocol';
import { CARD, chunk, Executor, said } from '../../../test/support/executor.ts';
import type { FakeTurn } from '../../../test/support/turns.ts';
import { fakeTurn, outputs } from '../../../test/support/turns.ts';
import { fromExecutor } from './from-executor.ts';

describe('the request context of an executor', () => {
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

  it('has the message in the SDK’s form', async () => {
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

  it('has the task if the message continues one', async () => {
    const { task: before } = await given({ history: [createUserMessage('first'), createAgentTextMessage('which?')] });
    expect(before?.status?.state).toBe(TaskState.TASK_STATE_WORKING);
    expect(before?.history.map(({ role }) => role)).toEqual([Role.ROLE_USER, Role.ROLE_AGENT, Role.ROLE_USER]);
  });

  it('has a working call context', async () => {
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

  it('comes with a bus that accepts listeners', async () => {
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
  it('throws fails the run, after its published events', async () => {
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

  it('is canceled gets cancelTask, and the run ends', async () => {
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

  it('ignores its cancel does not keep the run alive', async () => {
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

  it('publishes many events at once loses none', async () => {
    const all = await said(async (context, bus) => {
      for (let at = 0; at < 50_000; at += 1) bus.publish(chunk(context, `${at}`, at > 0, false));
    });
    expect(all).toHaveLength(50_000);
    expect(all.at(-1)).toMatchObject({ event: { artifactUpdate: { artifact: { parts: [{ text: '49999' }] } } } });
  });
});

describe('its card', () => {
  it('is read without its addresses and signatures, which belong to another server', () => {
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

  it('is rejected if it is not a card', () => {
    const none = { name: 'x', description: '', version: '1', skills: 7 } as unknown as SdkAgentCard;
    expect(() => fromExecutor(new Executor(async () => {}), none)).toThrow('not an agent card');
  });
});
