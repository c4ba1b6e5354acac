import { describe, expect, it } from 'vitest';
import type { CallContext, ContextId, ConversationPage, ConversationRange, Message, Turn } from '#protocol';
import { contextId } from '#protocol';
import { agent, BOB, ctx, request, said, taskOf, toTask, user, type World, world } from '../../../test/support/engine.ts';

const CONTEXT = contextId('c1');
const inContext = (text: string, more: Partial<Message> = {}) => request(text, { message: user(text, { contextId: CONTEXT, ...more }) });

/** Reads the conversation in the way of each message: `{"messagesMax":2}` is its range. */
function listener() {
  const pages: ConversationPage[] = [];
  const run = agent(async function* (turn: Turn) {
    const text = turn.message.parts[0]?.text ?? '';
    const range: ConversationRange = text.startsWith('{') ? JSON.parse(text) : {};
    pages.push(await turn.conversation(range));
    yield { kind: 'status', message: said('working on it') };
    if (text === 'fail') throw new Error('it broke');
    if (text === 'question') yield { kind: 'ask', question: said('which one?') };
    else for (const word of ['heard ', text]) yield { kind: 'text', text: word };
  });
  return { pages, run };
}

const inShort = ({ messages }: ConversationPage): readonly string[] =>
  messages.map(({ role, parts }) => `${role === 'ROLE_USER' ? 'user' : 'agent'}: ${parts.map((part) => part.text ?? '?').join('|')}`);

const read = (service: World['service'], range: ConversationRange = {}, more: Partial<CallContext> = {}, of: ContextId = CONTEXT) =>
  service.conversation?.({ contextId: of, ...range }, ctx(more)) ?? Promise.reject(new Error('no conversation'));

describe('the conversation of a turn', () => {
  it('has the messages and answers of earlier tasks, newest last, without progress notes', async () => {
    const { pages, run } = listener();
    const { service } = await world(run);
    for (const text of ['one', 'two', 'three']) await service.send(inContext(text), ctx());
    expect(pages.map(inShort)).toEqual([
      [],
      ['user: one', 'agent: heard one'],
      ['user: one', 'agent: heard one', 'user: two', 'agent: heard two'],
    ]);
    expect(pages.at(-1)?.earlier).toBeUndefined();
  });

  it('survives a crash', async () => {
    const { pages, run } = listener();
    const first = await world(run);
    await first.service.send(inContext('my name is Ada'), ctx());
    const second = await first.crash();
    await second.service.send(inContext('who am I?'), ctx());
    expect(inShort(pages.at(-1) ?? { messages: [] })).toEqual(['user: my name is Ada', 'agent: heard my name is Ada']);
  });

  it('has the questions and answers of the current task, before the current message', async () => {
    const { pages, run } = listener();
    const { service } = await world(run);
    await service.send(inContext('before'), ctx());
    const task = taskOf(await service.send(inContext('question'), ctx()));
    await service.send(toTask(task, 'this one'), ctx());
    expect(inShort(pages.at(-1) ?? { messages: [] })).toEqual([
      'user: before',
      'agent: heard before',
      'user: question',
      'agent: which one?',
    ]);
  });

  it('leaves out what the engine says about a failure, and keeps the message that failed', async () => {
    const { pages, run } = listener();
    const { service } = await world(run);
    await service.send(inContext('fail'), ctx());
    await service.send(inContext('again'), ctx());
    expect(inShort(pages.at(-1) ?? { messages: [] })).toEqual(['user: fail']);
  });

  it("does not have other callers' messages, nor those of other contexts", async () => {
    const { pages, run } = listener();
    const { service } = await world(run);
    await service.send(inContext('secret of alice'), ctx());
    await service.send(inContext('bob here', {}), ctx({ principal: BOB }));
    await service.send(request('elsewhere'), ctx());
    expect(pages.map(inShort)).toEqual([[], [], []]);
    expect(inShort(await read(service, {}, { principal: BOB }))).toEqual(['user: bob here', 'agent: heard bob here']);
  });
});

describe('the limits of a conversation', () => {
  it('gives the newest messages that fit, and a position for the others', async () => {
    const { service } = await world(listener().run);
    for (let n = 1; n <= 20; n += 1) await service.send(inContext(`n${n}`), ctx());
    const texts: string[] = [];
    let page = await read(service, { messagesMax: 7 });
    expect(inShort(page)).toHaveLength(7);
    for (; ; page = await read(service, { messagesMax: 7, before: page.earlier ?? '' })) {
      texts.unshift(...inShort(page));
      if (page.earlier === undefined) break;
    }
    expect(texts).toEqual(Array.from({ length: 20 }, (_, at) => [`user: n${at + 1}`, `agent: heard n${at + 1}`]).flat());
    await expect(read(service, { before: 'x' })).rejects.toMatchObject({ kind: 'INVALID_PARAMS' });
  });

  it('counts bytes, and shortens a message that alone is too large', async () => {
    const { service } = await world(listener().run);
    await service.send(inContext('a'.repeat(400)), ctx());
    await service.send(inContext('b'.repeat(400)), ctx());
    const page = await read(service, { bytesMax: 1000 });
    expect(inShort(page).map((text) => text.length)).toEqual([406, 413]);
    const [short] = inShort(await read(service, { bytesMax: 50 }));
    expect(short).toMatch(/^agent: heard b{44}\|\[the rest of this message is left out\]$/);
  });

  it('names files that are too large to repeat, and does not read them', async () => {
    const run = agent(async function* () {
      yield { kind: 'artifact', parts: [{ raw: 'A'.repeat(5000), filename: 'big.png', mediaType: 'image/png' }] };
      yield { kind: 'text', text: 'here it is' };
    });
    const { service } = await world(run, { limits: { spillBytes: 1000 } });
    await service.send(
      request('', { message: user('', { contextId: CONTEXT, parts: [{ raw: 'B'.repeat(300), mediaType: 'image/gif' }] }) }),
      ctx(),
    );
    expect(inShort(await read(service, { bytesMax: 200 }))).toEqual([
      'user: [a file, image/gif: 300 characters, left out]',
      'agent: [big.png, image/png: too large to repeat]|here it is',
    ]);
  });

  it('reads no more of a long answer than it gives', async () => {
    const run = agent(async function* () {
      for (let n = 0; n < 3000; n += 1) yield { kind: 'text', text: `${n} ` };
    });
    const { service, store } = await world(run);
    await service.send(inContext('count'), ctx());
    await service.send(inContext('again'), ctx());
    let entries = 0;
    const { readConversation } = await import('./conversation.ts');
    const counted = {
      store: {
        list: store.list,
        entries: (...args: Parameters<typeof store.entries>) => {
          const found = store.entries(...args);
          if (found instanceof Promise) throw new Error('the memory store is synchronous');
          entries += found.length;
          return found;
        },
      },
    };
    await readConversation(counted, { owner: { tenant: '', principal: 'alice' }, agent: 'agent', contextId: CONTEXT }, { bytesMax: 200 });
    expect(entries).toBeLessThan(1100);
  });
});
