import { describe, expect, it } from 'vitest';
import type { ListRequest, TaskPage } from '#protocol';
import { contextId } from '#protocol';
import {
  AT_ONCE,
  agent,
  ask,
  BOB,
  ctx,
  echo,
  fakeTime,
  hanging,
  historyOf,
  request,
  taskOf,
  toTask,
  user,
  world,
} from '../../../test/support/engine.ts';

const asks = agent(async function* () {
  yield ask('more?');
});

async function filled(count: number) {
  const time = fakeTime();
  const made = await world(asks, {}, time);
  const tasks = [];
  for (let at = 0; at < count; at += 1) {
    if (at % 3 === 0) await time.advance(1000);
    tasks.push(
      taskOf(await made.service.send({ message: user(`m${at}`, { contextId: contextId(at % 2 === 0 ? 'even' : 'odd') }) }, ctx())),
    );
  }
  const all = async (filter: ListRequest = {}): Promise<readonly TaskPage[]> => {
    const pages: TaskPage[] = [];
    let pageToken = '';
    do {
      const page = await made.service.list({ ...filter, ...(pageToken === '' ? {} : { pageToken }) }, ctx());
      pages.push(page);
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    return pages;
  };
  return { ...made, tasks, all };
}

describe('a list of tasks', () => {
  it('has every task once, newest status first, in pages of the requested size', async () => {
    const { tasks, all } = await filled(25);
    const pages = await all({ pageSize: 10 });
    expect(pages.map((page) => page.tasks.length)).toEqual([10, 10, 5]);
    expect(pages.map(({ pageSize, totalSize }) => [pageSize, totalSize])).toEqual(Array(3).fill([10, 25]));
    expect(pages.flatMap((page) => page.tasks.map(({ id }) => id))).toEqual(tasks.map(({ id }) => id).toReversed());
    const [whole] = await all();
    expect(whole).toMatchObject({ pageSize: 50, totalSize: 25, nextPageToken: '' });
  });

  it('neither misses nor repeats tasks while others change, appear and disappear', async () => {
    const { service, tasks, all, time, engine } = await filled(30);
    const first = await service.list({ pageSize: 10 }, ctx());
    await time.advance(5000);
    for (const at of [2, 5, 20, 29]) await service.send(toTask(tasks[at], 'moved'), ctx());
    for (const at of [3, 20]) {
      const id = tasks[at]?.id;
      if (id !== undefined) await engine.admin.delete(id);
    }
    await service.send(request('new'), ctx());
    const second = await service.list({ pageSize: 50, pageToken: first.nextPageToken }, ctx());
    const gone = new Set([2, 3, 5, 20, 29]);
    const expected = tasks.filter((_, at) => at < 20 && !gone.has(at)).map(({ id }) => id);
    expect(second.tasks.map(({ id }) => id)).toEqual(expected.toReversed());
    expect((await all())[0]?.totalSize).toBe(29);
  });

  it('is filtered by context, by state and by time', async () => {
    const { service, tasks, time } = await filled(9);
    const [third] = tasks.slice(3);
    const ended = tasks[8];
    if (ended === undefined || third === undefined) throw new Error('too few');
    await service.cancel({ id: ended.id }, ctx());
    const ids = async (filter: ListRequest) => (await service.list(filter, ctx())).tasks.map(({ history }) => history?.[0]?.parts[0]?.text);
    expect(await ids({ contextId: contextId('odd') })).toEqual(['m7', 'm5', 'm3', 'm1']);
    expect(await ids({ status: 'TASK_STATE_CANCELED' })).toEqual(['m8']);
    expect(await ids({ status: 'TASK_STATE_UNSPECIFIED' })).toHaveLength(9);
    expect(await ids({ contextId: contextId('even'), status: 'TASK_STATE_INPUT_REQUIRED' })).toEqual(['m6', 'm4', 'm2', 'm0']);
    const { timestamp } = third.status;
    expect(await ids({ statusTimestampAfter: timestamp ?? '' })).toEqual(['m8', 'm7', 'm6', 'm5', 'm4', 'm3']);
    await time.advance(1);
    expect(await ids({ statusTimestampAfter: new Date(time.clock.now()).toISOString() })).toEqual([]);
    for (const wrong of [{ statusTimestampAfter: 'yesterday' }, { pageSize: 0 }, { pageSize: 101 }, { pageSize: 1.5 }, { pageSize: -1 }]) {
      await expect(service.list(wrong, ctx())).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
    }
  });

  it('returns tokens that are valid only for the same caller and filter', async () => {
    const { service } = await filled(4);
    const { nextPageToken: pageToken } = await service.list({ pageSize: 1 }, ctx());
    await service.send(request('b'), ctx({ principal: BOB }));
    const [place = ''] = pageToken.split(/\.(?=[^.]*$)/);
    const calls = [
      () => service.list({ pageToken }, ctx({ principal: BOB })),
      () => service.list({ pageToken, contextId: contextId('even') }, ctx()),
      () => service.list({ pageToken: `${place}.AAAA` }, ctx()),
      () => service.list({ pageToken: `9${pageToken}` }, ctx()),
      () => service.list({ pageToken: 'nonsense' }, ctx()),
      () => service.list({ pageToken: `${pageToken}x` }, ctx()),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ kind: 'INVALID_PARAMS', details: { field: 'pageToken' } });
    expect((await service.list({ pageToken, pageSize: 99 }, ctx())).tasks).toHaveLength(3);
  });

  it('shows only the caller’s tasks, and artifacts only on request', async () => {
    const { service } = await world(echo);
    await service.send(request('mine'), ctx());
    await service.send(request('theirs'), ctx({ principal: BOB }));
    const page = await service.list({}, ctx());
    expect(page.tasks.map(historyOf)).toEqual([['mine']]);
    expect(page.tasks[0]).not.toHaveProperty('artifacts');
    expect((await service.list({ includeArtifacts: true }, ctx())).tasks[0]?.artifacts).toHaveLength(1);
    expect((await service.list({ historyLength: 0 }, ctx())).tasks[0]).not.toHaveProperty('history');
    const { service: bare } = await world(hanging);
    await bare.send(request('go', AT_ONCE), ctx());
    expect((await bare.list({ includeArtifacts: true }, ctx())).tasks[0]?.artifacts).toEqual([]);
  });

  it('ends a page early at its maximum of bytes, and has every task once', async () => {
    const large = agent(async function* () {
      yield { kind: 'artifact', parts: [{ text: 'x'.repeat(40_000) }] };
    });
    const { service } = await world(large, { limits: { pageBytesMax: 100_000 } });
    const ids = [];
    for (let at = 0; at < 7; at += 1) ids.push(taskOf(await service.send(request(`m${at}`), ctx())).id);
    const read = async (filter: ListRequest): Promise<readonly TaskPage[]> => {
      const pages: TaskPage[] = [await service.list(filter, ctx())];
      for (let page = pages.at(-1); page !== undefined && page.nextPageToken !== ''; page = pages.at(-1)) {
        pages.push(await service.list({ ...filter, pageToken: page.nextPageToken }, ctx()));
      }
      return pages;
    };
    const pages = await read({ includeArtifacts: true, pageSize: 100 });
    expect(pages.map((page) => page.tasks.length)).toEqual([2, 2, 2, 1]);
    expect(pages.flatMap((page) => page.tasks.map(({ id }) => id)).sort()).toEqual(ids.toSorted());
    expect((await read({ pageSize: 100 })).map((page) => page.tasks.length)).toEqual([7]);
    const { service: tiny } = await world(large, { limits: { pageBytesMax: 10 } });
    await tiny.send(request('one'), ctx());
    expect((await tiny.list({ includeArtifacts: true }, ctx())).tasks).toHaveLength(1);
  });
});
