import { describe, expect, it } from 'vitest';
import type { Choice, Message, SendRequest, Task } from '#protocol';
import { contextId, createAgentPartsMessage, createChoicesPart, createTextPart, getTextFromMessage } from '#protocol';
import { agent, BOB, ctx, historyOf, said, taskOf, textOf, user, withSemantics, world } from '../../../test/support/engine.ts';

const APPROVAL: readonly Choice[] = [
  { optionId: 'allow', name: 'Do it', kind: 'allow_once' },
  { optionId: 'deny', name: 'Leave it', kind: 'reject_once' },
];
const question = (): Message => createAgentPartsMessage([createTextPart('May I?'), createChoicesPart(APPROVAL)]);

/** Asks for an approval, ending its run with the question or waiting for the answer within it. */
const ending = agent(async function* ({ message, history }) {
  if (history.length > 0) yield { kind: 'text', text: `took ${getTextFromMessage(message)}` };
  else if (getTextFromMessage(message) === 'auth') yield { kind: 'auth', request: said('sign in') };
  else yield { kind: 'ask', question: question() };
});
const staying = agent(async function* (turn) {
  const answer = await turn.ask(question());
  yield { kind: 'text', text: `took ${getTextFromMessage(answer)}` };
});

const inContext = (content: string | Message['parts'], context = 'c'): SendRequest => ({
  message: { ...user(''), contextId: contextId(context), parts: typeof content === 'string' ? [createTextPart(content)] : content },
});
const byContext = withSemantics({ continuesByContext: true });
const stateOf = ({ status }: Task): string => status.state.slice('TASK_STATE_'.length);

describe.each([
  ['ended with', ending],
  ['waits in', staying],
])('an approval that its run %s, by a message that names only the context', (_, run) => {
  it.each(['allow', 'Do it', ' DO IT ', 'y', 'yes', 'no', 'deny'])('is answered by "%s"', async (text) => {
    const { service } = await world(run, byContext);
    const asked = taskOf(await service.send(inContext('a'), ctx()));
    const answered = taskOf(await service.send(inContext(text), ctx()));
    expect([answered.id, stateOf(answered), textOf(answered)]).toEqual([asked.id, 'COMPLETED', `took ${text}`]);
  });

  it('is answered by an option’s id in data', async () => {
    const { service } = await world(run, byContext);
    const asked = taskOf(await service.send(inContext('a'), ctx()));
    const answered = taskOf(await service.send(inContext([{ data: { optionId: 'allow' } }]), ctx()));
    expect([answered.id, stateOf(answered)]).toEqual([asked.id, 'COMPLETED']);
  });

  it.each(['sure', 'yes please', 'what is the weather?', ''])(
    'gets "%s", which chooses nothing, and no task waits behind it',
    async (text) => {
      const { service, engine } = await world(run, byContext);
      const asked = taskOf(await service.send(inContext('a'), ctx()));
      const answered = taskOf(await service.send(inContext(text), ctx()));
      expect([answered.id, historyOf(answered).at(-1)]).toEqual([asked.id, text]);
      expect((await engine.admin.tasks({})).totalSize).toBe(1);
    },
  );

  it('is not answered by another caller, where two tasks wait, or in 1.0; and is answered after a restart', async () => {
    const { service, crash } = await world(run, byContext);
    const asked = taskOf(await service.send(inContext('a'), ctx()));
    const stranger = taskOf(await service.send(inContext('yes'), ctx({ principal: BOB })));
    expect(stranger.id).not.toBe(asked.id);
    const later = await crash();
    const answered = taskOf(await later.service.send(inContext('yes'), ctx()));
    expect([answered.id, stateOf(answered)]).toEqual([asked.id, 'COMPLETED']);
    await Promise.all(['a', 'b'].map((text) => later.service.send(inContext(text, 'two'), ctx())));
    expect(historyOf(taskOf(await later.service.send(inContext('yes', 'two'), ctx())))[0]).toBe('yes');

    const { service: known } = await world(run);
    const first = taskOf(await known.send(inContext('a'), ctx()));
    expect(taskOf(await known.send(inContext('yes'), ctx())).id).not.toBe(first.id);
    const old = ctx({ semantics: { continuesByContext: true } });
    const older = taskOf(await known.send(inContext('a', 'old'), old));
    expect(taskOf(await known.send(inContext('yes', 'old'), old)).id).toBe(older.id);
  });

  it('is answered by one of two simultaneous messages; the other makes a task', async () => {
    const { service } = await world(run, byContext);
    const asked = taskOf(await service.send(inContext('a'), ctx()));
    const both = (await Promise.all(['yes', 'no'].map((text) => service.send(inContext(text), ctx())))).map(taskOf);
    expect(both.filter(({ id }) => id === asked.id)).toHaveLength(1);
  });
});

describe('a question without choices', () => {
  it('is answered by any message with its context; so is auth-required', async () => {
    const { service } = await world(ending, byContext);
    const asked = taskOf(await service.send(inContext('auth'), ctx()));
    const answered = taskOf(await service.send(inContext('here they are'), ctx()));
    expect([answered.id, textOf(answered)]).toEqual([asked.id, 'took here they are']);
  });
});

describe('an operator who repeats a task', () => {
  it('does not answer another task’s question', async () => {
    const { service, engine } = await world(
      agent(async function* ({ message, history }) {
        if (getTextFromMessage(message) === 'ask' && history.length === 0) yield { kind: 'ask', question: said('more?') };
      }),
      byContext,
    );
    const done = taskOf(await service.send(inContext('work'), ctx()));
    const asked = taskOf(await service.send({ message: user('ask', { contextId: contextId('c') }) }, ctx()));
    const again = await engine.admin.retry(done.id);
    expect(again.id).not.toBe(asked.id);
    expect(stateOf(await service.get({ id: asked.id }, ctx()))).toBe('INPUT_REQUIRED');
  });
});
