import { describe, expect, it } from 'vitest';
import type { A2AService, PushConfig, TaskId } from '#protocol';
import { pushConfigId, taskId } from '#protocol';
import {
  AT_ONCE,
  agent,
  ask,
  BOB,
  CARD,
  ctx,
  echo,
  fakeSender,
  hanging,
  quiet,
  request,
  taskOf,
  toTask,
  withSemantics,
  world,
} from '../../../test/support/engine.ts';

const config = (id: TaskId, more: Partial<PushConfig> = {}): PushConfig => ({ taskId: id, url: 'https://example.com/hook', ...more });
const ids = async (service: A2AService, id: TaskId) => (await service.push.list({ taskId: id }, ctx())).configs.map((each) => each.id);

describe('push notification configs', () => {
  it('are created, found, listed, replaced and deleted', async () => {
    const { service, crash } = await world(echo);
    const { id } = taskOf(await service.send(request('go'), ctx()));
    const authentication = { scheme: 'Bearer', credentials: 's3cret' };
    const made = await service.push.create(config(id, { authentication, token: 't' }), ctx());
    expect(made).toEqual({ taskId: id, id: made.id, url: 'https://example.com/hook', authentication: { scheme: 'Bearer' } });
    expect(made.id).toMatch(/^id/);
    await service.push.create(config(id, { id: pushConfigId('mine') }), ctx());
    await service.push.create(config(id, { id: pushConfigId('') }), ctx());
    expect(await ids(service, id)).toHaveLength(3);
    await service.push.create(config(id, { id: pushConfigId('mine'), url: 'http://example.com/other' }), ctx());
    expect(await ids(service, id)).toHaveLength(3);
    expect(await service.push.get({ taskId: id, id: pushConfigId('mine') }, ctx())).toMatchObject({ url: 'http://example.com/other' });
    expect(await service.push.get({ taskId: id }, ctx())).toEqual(made);
    const { service: later } = await crash();
    await later.push.delete({ taskId: id, id: pushConfigId('mine') }, ctx());
    await later.push.delete({ taskId: id, id: pushConfigId('mine') }, ctx());
    expect(await ids(later, id)).toHaveLength(2);
    await expect(later.push.get({ taskId: id, id: pushConfigId('mine') }, ctx())).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
  });

  it('are listed in pages, whose tokens are valid for one list only', async () => {
    const { service } = await world(echo);
    const { id } = taskOf(await service.send(request('go'), ctx()));
    const { id: other } = taskOf(await service.send(request('go'), ctx()));
    for (const each of ['a', 'b', 'c']) await service.push.create(config(id, { id: pushConfigId(each) }), ctx());
    const first = await service.push.list({ taskId: id, pageSize: 2 }, ctx());
    expect(first.configs.map((each) => each.id)).toEqual(['a', 'b']);
    const pageToken = first.nextPageToken ?? '';
    expect((await service.push.list({ taskId: id, pageSize: 2, pageToken }, ctx())).configs.map((each) => each.id)).toEqual(['c']);
    expect(await service.push.list({ taskId: id, pageSize: 3 }, ctx())).not.toHaveProperty('nextPageToken');
    for (const wrong of [
      { taskId: other, pageToken },
      { taskId: id, pageToken: 'x' },
      { taskId: id, pageToken: '0.x' },
      { taskId: id, pageSize: 0 },
    ]) {
      await expect(service.push.list(wrong, ctx())).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
    }
  });

  it('are rejected without the capability, for another caller’s task, and without a valid URL', async () => {
    const { service } = await world(echo);
    const { id } = taskOf(await service.send(request('go'), ctx()));
    const attempts = (of: A2AService, task: TaskId, who = ctx()) => [
      of.push.create(config(task), who),
      of.push.get({ taskId: task }, who),
      of.push.list({ taskId: task }, who),
      of.push.delete({ taskId: task, id: pushConfigId('a') }, who),
    ];
    for (const refused of attempts(service, taskId('nobody'))) await expect(refused).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    for (const refused of attempts(service, id, ctx({ principal: BOB })))
      await expect(refused).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    const { service: without } = await world(agent(echo.run, { card: { ...CARD, capabilities: {} } }));
    for (const refused of attempts(without, taskId('nobody')))
      await expect(refused).rejects.toMatchObject({ kind: 'PUSH_NOTIFICATION_NOT_SUPPORTED' });
    for (const url of ['', 'example.com', 'file:///etc/passwd', 'javascript:alert(1)', `https://e.org/${'x'.repeat(3000)}`]) {
      await expect(service.push.create(config(id, { url }), ctx())).rejects.toMatchObject({
        kind: 'INVALID_PARAMS',
        details: { field: 'url' },
      });
    }
    await expect(service.push.create({ url: 'https://e.org' }, ctx())).rejects.toMatchObject({
      kind: 'INVALID_PARAMS',
      details: { field: 'taskId' },
    });
    expect(await ids(service, id)).toEqual([]);
  });

  it('W9: reject secrets that can’t be sent in a header', async () => {
    const { service } = await world(echo);
    const { id } = taskOf(await service.send(request('go'), ctx()));
    const long = 'x'.repeat(8193);
    const wrong: readonly (readonly [Partial<PushConfig>, string])[] = [
      [{ token: 'a\r\nX-Evil: 1' }, 'token'],
      [{ token: 'a\nb' }, 'token'],
      [{ token: 'caf\u00e9' }, 'token'],
      [{ token: long }, 'token'],
      [{ authentication: { scheme: 'Bearer', credentials: 'a\u0000' } }, 'authentication.credentials'],
      [{ authentication: { scheme: 'Bearer', credentials: long } }, 'authentication.credentials'],
      [{ authentication: { scheme: 'Bearer x' } }, 'authentication.scheme'],
      [{ authentication: { scheme: '' } }, 'authentication.scheme'],
      [{ authentication: { scheme: 'B\r\n' } }, 'authentication.scheme'],
    ];
    for (const [more, field] of wrong) {
      await expect(service.push.create(config(id, more), ctx())).rejects.toMatchObject({ kind: 'INVALID_PARAMS', details: { field } });
      const inline = { configuration: { taskPushNotificationConfig: { url: 'https://e.org', ...more } } };
      await expect(service.send(request('go', inline), ctx())).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
    }
    expect(await ids(service, id)).toEqual([]);
  });

  it('W11: never return their secrets, and store them encrypted', async () => {
    const { service, store } = await world(echo);
    const { id } = taskOf(await service.send(request('go'), ctx()));
    const secret = { token: 'canary-token', authentication: { scheme: 'Basic', credentials: 'canary-credentials' } };
    const made = await service.push.create(config(id, { id: pushConfigId('a'), ...secret }), ctx());
    const key = (await store.task('any', id))?.key;
    if (key === undefined) throw new Error('no task');
    const seen = [made, await service.push.get({ taskId: id }, ctx()), await service.push.list({ taskId: id }, ctx())];
    expect(JSON.stringify([...seen, await store.pushConfigs(key)])).not.toMatch(/canary/);
    expect(seen[1]).toEqual({ taskId: id, id: 'a', url: 'https://example.com/hook', authentication: { scheme: 'Basic' } });
  });

  it('with secrets are rejected where there is no key', async () => {
    const { service } = await world(echo, { vault: undefined as never });
    const { id } = taskOf(await service.send(request('go'), ctx()));
    await expect(service.push.create(config(id, { token: 't' }), ctx())).rejects.toMatchObject({ kind: 'UNSUPPORTED_OPERATION' });
    await service.push.create(config(id), ctx());
  });

  it('reject an address that the sender refuses', async () => {
    const sender = fakeSender();
    sender.check = async () => {
      throw new Error('10.0.0.1 is not a public address');
    };
    const { service, engine } = await world(echo, { sender });
    const inline = { configuration: { taskPushNotificationConfig: { url: 'https://10.0.0.1/' } } };
    await expect(service.send(request('go', inline), ctx())).rejects.toMatchObject({
      kind: 'INVALID_PARAMS',
      details: { field: 'configuration.taskPushNotificationConfig.url' },
    });
    expect((await engine.admin.tasks({})).totalSize).toBe(0);
    const { id } = taskOf(await service.send(request('go'), ctx()));
    await expect(service.push.create(config(id, { url: 'https://10.0.0.1/' }), ctx())).rejects.toThrow(/not a public address/);
  });

  it('W10: are limited per caller, over all tasks', async () => {
    const { service } = await world(hanging, { limits: { ownerPushConfigsMax: 2 } });
    const inline = { configuration: { returnImmediately: true, taskPushNotificationConfig: { url: 'https://e.org' } } };
    const { id } = taskOf(await service.send(request('a', inline), ctx()));
    await service.send(request('b', inline), ctx());
    await expect(service.send(request('c', inline), ctx())).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
    await expect(service.push.create(config(id), ctx())).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
    await service.send(request('d', inline), ctx({ principal: BOB }));
    await service.cancel({ id }, ctx());
    await quiet();
    await service.push.create(config(taskOf(await service.send(request('e', AT_ONCE), ctx())).id), ctx());
  });

  it('are limited per task', async () => {
    const { service } = await world(echo, { limits: { pushConfigsMax: 2 } });
    const { id } = taskOf(await service.send(request('go'), ctx()));
    await service.push.create(config(id, { id: pushConfigId('a') }), ctx());
    await service.push.create(config(id), ctx());
    await expect(service.push.create(config(id), ctx())).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
    await service.push.create(config(id, { id: pushConfigId('a'), url: 'https://e.org/new' }), ctx());
  });

  it('use the caller’s name for the task', async () => {
    const { service } = await world(echo, withSemantics({ taskNames: 'reusable' }));
    await service.send(request('go', { alias: 'thread' as never }), ctx());
    const made = await service.push.create(config(taskId('thread'), { id: pushConfigId('a') }), ctx());
    expect(made.taskId).toBe('thread');
    expect(await service.push.get({ taskId: taskId('thread') }, ctx())).toEqual(made);
  });
});

describe('the push config of a send', () => {
  const inline = (more: Partial<PushConfig> = {}) => ({
    configuration: { taskPushNotificationConfig: { url: 'https://example.com/hook', ...more } },
  });

  it('is saved by the commit of the message, with its position in the log', async () => {
    const { service, store, engine } = await world(async function* () {
      yield ask('more?');
    });
    const task = taskOf(await service.send(request('go', inline({ id: pushConfigId('a') })), ctx()));
    expect(engine.stats().commits).toBe(1);
    await service.send({ ...toTask(task, 'more'), ...inline({ id: pushConfigId('b'), token: 't' }) }, ctx());
    const key = (await store.task('any', task.id))?.key;
    if (key === undefined) throw new Error('no task');
    expect(await store.pushConfigs(key)).toMatchObject([
      { config: { id: 'a' }, dialect: 'v10', after: 1 },
      { config: { id: 'b' }, sealed: expect.stringMatching(/^sealed /), dialect: 'v10', after: 3 },
    ]);
    expect(await ids(service, task.id)).toEqual(['a', 'b']);
  });

  it('fails the send if it can’t be stored, and no task is made', async () => {
    const without = await world(agent(echo.run, { card: { ...CARD, capabilities: {} } }));
    await expect(without.service.send(request('go', inline()), ctx())).rejects.toMatchObject({ kind: 'PUSH_NOTIFICATION_NOT_SUPPORTED' });
    const { service, engine } = await world(echo, { limits: { pushConfigsMax: 0 } });
    await expect(service.send(request('go', inline({ url: 'nowhere' })), ctx())).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
    expect((await engine.admin.tasks({})).totalSize).toBe(0);
    const task = await world(
      async function* () {
        yield ask('more?');
      },
      { limits: { pushConfigsMax: 0 } },
    );
    const asked = taskOf(await task.service.send(request('go', AT_ONCE), ctx()));
    await expect(task.service.send({ ...toTask(asked, 'b'), ...inline() }, ctx())).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
    expect((await task.service.get({ id: asked.id }, ctx())).generation).toBe(2);
    expect(task.engine.stats().liveTasks).toBe(0);
  });
});
