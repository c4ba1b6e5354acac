import type { Agent, CallContext, SendRequest } from '#protocol';
import { createUserMessage, messageId } from '#protocol';
import { agent, ctx } from './engine.ts';

export const send = (id: string, text = 'hello'): SendRequest => ({ message: createUserMessage(text, { messageId: messageId(id) }) });
/** Calls through a host that reports every response as not delivered. */
export const lost = (more: Partial<CallContext> = {}): CallContext => ctx({ onDelivered: () => {}, ...more });
export const keyed = (key: string): CallContext => ctx({ idempotencyKey: key });

/** An agent that answers with the number of its runs and the text of each. */
export function counting(): { readonly runs: readonly string[]; readonly run: Agent } {
  const runs: string[] = [];
  const run = agent(async function* ({ message }) {
    runs.push(message.parts[0]?.text ?? '');
    yield { kind: 'text', text: `run ${runs.length}` };
  });
  return { runs, run };
}
