import { afterAll, describe, expect, it } from 'vitest';
import { createEngine } from '#engine';
import type { A2AService, Agent, Message, SendRequest } from '#protocol';
import { contextId, externalId, getTextFromMessage, messageId } from '#protocol';
import { defineAgent } from '../src/agents/define.ts';
import { memoryStore } from '../src/engine/adapters/memory.ts';
import { callContext } from './support/calls.ts';
import { callerOver, WIRES, type Wired } from './support/wires.ts';

/** Answers with the earlier messages. */
const memory: Agent = defineAgent({
  name: 'memory',
  description: 'Remembers.',
  run: async (turn) => {
    const { messages } = await turn.conversation();
    return `before: ${messages.map((message) => `${message.role === 'ROLE_USER' ? 'u' : 'a'} ${getTextFromMessage(message)}`).join(', ')}`;
  },
});

const engine = createEngine({ store: memoryStore(), agents: { memory } });
await engine.start();
afterAll(() => engine.stop());

/** What the agent answers to the second of two messages. */
async function secondAnswer(
  wire: Wired,
  more: (text: string) => Partial<SendRequest>,
  inMessage: Partial<Message>,
  ids = '',
): Promise<string> {
  const link: A2AService = wire.open(engine.serviceOf('memory'));
  const say = (text: string) => {
    const request = callerOver(wire).request(text, more(text));
    const { contextId: _, ...written } = request.message;
    const message = { ...written, messageId: messageId(`${ids}${wire.name} ${text}`), ...inMessage };
    return link.send({ ...request, message }, callContext());
  };
  await say('I am Ada');
  const { task, message } = await say('who am I?');
  const said = [...(task?.artifacts ?? []), message, task?.status.message].find((each) => each !== undefined);
  return said?.parts.map((part) => part.text ?? '').join('') ?? '';
}

const ADA = 'before: u I am Ada, a before: ';

// Society has no context ids, only thread names.
describe.each(WIRES.filter(({ has, dialect }) => has('send') && dialect.id !== 'society'))('a conversation in $name', (wire) => {
  it('remembers the message and the answer before', async () => {
    const named = wire.dialect.traits.callerNamesTask;
    const alias = (text: string) => (named ? { alias: externalId(`${wire.name} ${text}`) } : {});
    expect(await secondAnswer(wire, alias, { contextId: contextId(`context of ${wire.name}`) })).toBe(ADA);
  });
});

describe.each(WIRES.filter(({ has, dialect }) => has('send') && dialect.id !== 'society'))('two messages in $name', (wire) => {
  it.each([['no', {}] as const, ['an empty', { contextId: contextId('') }] as const])(
    'with %s context id are two conversations',
    async (which, inMessage) => {
      const named = wire.dialect.traits.callerNamesTask;
      const alias = (text: string) => (named ? { alias: externalId(`${wire.name} ${which} ${text}`) } : {});
      expect(await secondAnswer(wire, alias, inMessage, `${which} `)).toBe('before: ');
    },
  );
});

describe.each(WIRES.filter(({ dialect }) => ['v01', 'society'].includes(dialect.id)))('a thread name in $name', (wire) => {
  it('is a conversation without a context id', async () => {
    expect(await secondAnswer(wire, () => ({ alias: externalId(`thread of ${wire.name}`) }), {})).toBe(ADA);
  });
});
