import { describe, expect, it } from 'vitest';
import type { ReplyPublisher, TaskReply } from '#engine';
import { isA2AError, pushConfigId } from '#protocol';
import {
  AT_ONCE,
  agent,
  ask,
  ctx,
  echo,
  gate,
  quiet,
  request,
  said,
  shortly,
  taskOf,
  toTask,
  world,
} from '../../../test/support/engine.ts';

interface FakePublisher extends ReplyPublisher {
  readonly published: TaskReply[];
  next: () => Promise<void>;
}

function fakePublisher(): FakePublisher {
  const publisher: FakePublisher = {
    published: [],
    next: async () => {},
    publish: async (reply) => {
      await publisher.next();
      publisher.published.push(reply);
    },
  };
  return publisher;
}

const TO = 'mesh:somewhere';
const events = ({ published }: FakePublisher): readonly string[] => published.flatMap((reply) => shortly(reply.events));
const answers = ({ published }: FakePublisher): readonly (string | undefined)[] =>
  published.filter(({ task }) => task !== undefined).map(({ task }) => task?.status.state.slice(11));

describe('a reply', () => {
  it('holds the accepted message, the events and the final task, many events at a time', async () => {
    const publisher = fakePublisher();
    const { service, store } = await world(echo, { replyPublisher: publisher });
    await service.send(request('go', AT_ONCE), ctx({ reply: TO }));
    await quiet(200);
    expect(events(publisher)).toEqual(
      ['task WORKING', 'artifact output', 'COMPLETED'].map((each, at) => (at === 1 ? expect.stringMatching(/^artifact/) : each)),
    );
    expect(publisher.published[0]).toMatchObject({ to: TO, agent: 'agent', dialect: 'v10' });
    expect(answers(publisher)).toEqual(['COMPLETED']);
    expect(await store.outbox({ limit: 10, state: 'dead' })).toEqual([]);
  });

  it('is deleted with its address when the answer is published', async () => {
    const publisher = fakePublisher();
    const { service, store, time } = await world(echo, { replyPublisher: publisher });
    await service.send(request('go', AT_ONCE), ctx({ reply: TO }));
    await quiet(200);
    await time.advance(1000);
    expect(await store.outbox({ limit: 10 })).toEqual([]);
    const [row] = await store.list({ owner: 'any', limit: 1 });
    expect(await store.pushConfigs(row?.key ?? (0 as never))).toEqual([]);
  });

  it('is retried until the broker accepts it', async () => {
    const publisher = fakePublisher();
    publisher.next = async () => Promise.reject(new Error('the broker is away'));
    const { service, time, reports } = await world(echo, { replyPublisher: publisher });
    await service.send(request('go', AT_ONCE), ctx({ reply: TO }));
    await time.advance(60_000);
    expect(publisher.published).toEqual([]);
    expect(reports.length).toBe(1);
    publisher.next = async () => {};
    await time.advance(3000);
    expect(answers(publisher)).toEqual(['COMPLETED']);
  });

  it('is published after a crash, with the events that the last process had not published', async () => {
    const publisher = fakePublisher();
    publisher.next = () => new Promise(() => {});
    const door = gate();
    const first = await world(
      agent(async function* ({ attempt }) {
        yield { kind: 'text', text: `attempt ${attempt}` };
        if (attempt === 1) await door.wait;
      }),
      { replyPublisher: publisher },
    );
    await first.service.send(request('go', AT_ONCE), ctx({ reply: TO }));
    await quiet(50);
    publisher.next = async () => {};
    const second = await first.crash();
    await quiet(200);
    await second.time.advance(5000);
    await quiet(200);
    expect(answers(publisher)).toEqual(['COMPLETED']);
    expect(events(publisher)[0]).toBe('task WORKING');
  });

  it('ends when the agent asks a question; the next message opens another reply', async () => {
    const publisher = fakePublisher();
    const { service } = await world(
      agent(async function* ({ history }) {
        if (history.length === 0) yield ask('which one?');
        else yield { kind: 'complete', message: said('done') };
      }),
      { replyPublisher: publisher },
    );
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx({ reply: TO })));
    await quiet(200);
    expect(answers(publisher)).toEqual(['INPUT_REQUIRED']);
    await service.send({ ...toTask({ id } as never, 'this'), ...AT_ONCE }, ctx({ reply: TO }));
    await quiet(200);
    expect(answers(publisher)).toEqual(['INPUT_REQUIRED', 'COMPLETED']);
    expect(events(publisher).filter((each) => each === 'INPUT_REQUIRED').length).toBe(1);
  });

  it('is published again for a repeated message, and the agent does not run again', async () => {
    const publisher = fakePublisher();
    let runs = 0;
    const { service } = await world(
      agent(async function* () {
        runs += 1;
        yield { kind: 'text', text: 'once' };
      }),
      { replyPublisher: publisher },
    );
    const sent = request('go', AT_ONCE);
    for (const _ of [1, 2, 3]) {
      await service.send(sent, ctx({ reply: TO, idempotencyKey: 'k' }));
      await quiet(200);
    }
    expect([runs, answers(publisher)]).toEqual([1, ['COMPLETED', 'COMPLETED', 'COMPLETED']]);
  });

  it('goes to each address of simultaneous repetitions, and twice only to those that arrived during a delivery', async () => {
    const publisher = fakePublisher();
    const { service } = await world(echo, { replyPublisher: publisher });
    const sent = request('go', AT_ONCE);
    await Promise.all([TO, TO, 'mesh:other', TO].map((reply) => service.send(sent, ctx({ reply, idempotencyKey: 'k' }))));
    await quiet(300);
    const answered = publisher.published.filter(({ task }) => task !== undefined).map(({ to }) => to);
    expect([...new Set(answered)].sort()).toEqual(['mesh:other', TO]);
    expect(answered.length).toBeLessThan(4);
  });

  it('is published again for a repetition that arrives during a delivery', async () => {
    const publisher = fakePublisher();
    const way = Promise.withResolvers<void>();
    const { service } = await world(echo, { replyPublisher: publisher });
    const sent = request('go', AT_ONCE);
    publisher.next = () => way.promise;
    await service.send(sent, ctx({ reply: TO, idempotencyKey: 'k' }));
    await quiet(100);
    await service.send(sent, ctx({ reply: TO, idempotencyKey: 'k' }));
    way.resolve();
    await quiet(200);
    expect(events(publisher).filter((each) => each === 'task WORKING')).toHaveLength(2);
    expect(answers(publisher).at(-1)).toBe('COMPLETED');
  });

  it('can’t be seen, replaced or deleted by callers', async () => {
    const publisher = fakePublisher();
    const door = gate();
    const { service, store } = await world(
      agent(async function* () {
        await door.wait;
        yield { kind: 'text', text: 'x' };
      }),
      { replyPublisher: publisher },
    );
    const { id } = taskOf(await service.send(request('go', AT_ONCE), ctx({ reply: TO })));
    const [row] = await store.list({ owner: 'any', limit: 1 });
    const [kept] = await store.pushConfigs(row?.key ?? (0 as never));
    const own = kept?.config.id ?? pushConfigId('');
    expect((await service.push.list({ taskId: id }, ctx())).configs).toEqual([]);
    await expect(service.push.get({ taskId: id, id: own }, ctx())).rejects.toSatisfy(isA2AError);
    await expect(service.push.create({ taskId: id, id: own, url: 'https://evil.example/' }, ctx())).rejects.toThrow('must not begin with');
    await service.push.delete({ taskId: id, id: own }, ctx());
    door.open();
    await quiet(200);
    expect(answers(publisher)).toEqual(['COMPLETED']);
  });

  it('is rejected without a publisher, and prevents direct messages', async () => {
    const direct = agent(async function* () {
      yield { kind: 'message', message: said('hello') };
    });
    const without = await world(direct);
    await expect(without.service.send(request('go'), ctx({ reply: TO }))).rejects.toThrow('publishes no replies');
    expect(without.service.keepsReplies).toBeUndefined();
    const publisher = fakePublisher();
    const { service } = await world(direct, { replyPublisher: publisher });
    expect(service.keepsReplies).toBe(true);
    await service.send(request('go', AT_ONCE), ctx({ reply: TO }));
    await quiet(200);
    expect(answers(publisher)).toEqual(['COMPLETED']);
  });
});
