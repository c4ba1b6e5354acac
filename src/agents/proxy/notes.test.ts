import { describe, expect, it } from 'vitest';
import type { ContextId, Principal } from '#protocol';
import { MESH_NOTE, ORIGIN_NOTE } from '#protocol';
import { AT_ONCE, ctx, request, taskOf, textOf, toTask, world } from '../../../test/support/engine.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { proxied } from '../../../test/support/proxied.ts';
import { createScript } from '../built-in/script.ts';
import { proxyAgent } from './proxy.ts';

const BOB: Principal = { id: 'bob', scopes: ['*'] };

describe('the note with the origin’s task id', () => {
  it('can’t be set by a caller to reach another caller’s task', async () => {
    const { here, there } = await proxied(createScript());
    const asked = taskOf(await here.service.send(request('ask'), ctx()));
    const note = asked.metadata?.[ORIGIN_NOTE] as { readonly taskId: string; readonly contextId: string };
    const metadata = { [ORIGIN_NOTE]: note, own: 1 };
    const theirs = taskOf(await here.service.send(request('chunks=2', { metadata }), ctx({ principal: BOB })));
    expect(textOf(theirs)).toBe('chunk 1chunk 2');
    expect(theirs.metadata).toMatchObject({ own: 1, [ORIGIN_NOTE]: { taskId: expect.any(String) } });
    expect(theirs.metadata).not.toMatchObject({ [ORIGIN_NOTE]: { taskId: note.taskId } });
    const { tasks } = await there.engine.admin.tasks({});
    expect(tasks.filter(({ contextId }) => contextId === (note.contextId as ContextId))).toHaveLength(1);
    const answered = taskOf(await here.service.send(toTask(asked, 'blue'), ctx()));
    expect(textOf(answered)).toBe('answer: blue');
  });

  it('can’t be used to cancel another caller’s task', async () => {
    const { here } = await proxied(createScript());
    const running = taskOf(await here.service.send(request('chunks=3 delay=100', AT_ONCE), ctx()));
    const noteOf = async () => (await here.service.get({ id: running.id }, ctx())).metadata?.[ORIGIN_NOTE];
    await eventually(async () => (await noteOf()) !== undefined);
    const metadata = { [ORIGIN_NOTE]: (await noteOf()) as { taskId: string } };
    const theirs = taskOf(await here.service.send(request('never', { metadata, ...AT_ONCE }), ctx({ principal: BOB })));
    await here.service.cancel({ id: theirs.id }, ctx({ principal: BOB }));
    await eventually(async () => (await here.service.get({ id: running.id }, ctx())).status.state === 'TASK_STATE_COMPLETED');
  });

  it('is separate for each proxy: a proxy of a proxy passes questions and answers', async () => {
    const { here } = await proxied(createScript());
    const outer = await world(proxyAgent({ service: here.service, card: createScript().card, pollMs: 20 }));
    const asked = taskOf(await outer.service.send(request('ask'), ctx()));
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(textOf(taskOf(await outer.service.send(toTask(asked, 'red'), ctx())))).toBe('answer: red');
  });
});

describe('the note with the mesh route of a request', () => {
  it('is set only by the binding', async () => {
    const { service } = await world(createScript());
    const forged = { [MESH_NOTE]: { userId: 'alice', callDepth: 0 } };
    const plain = taskOf(await service.send(request('chunks=1', { metadata: forged }), ctx()));
    expect(plain.metadata).toBeUndefined();
    const notes = { [MESH_NOTE]: { userId: 'bob', callDepth: 2 } };
    const meshed = taskOf(await service.send(request('chunks=1', { metadata: forged }), ctx({ notes })));
    expect(meshed.metadata).toEqual(notes);
  });
});
