import OpenAI from 'openai';
import { ask, defineAgent, fail, status } from '#agents';
import type { Agent } from '#protocol';
import { createAgentPartsMessage } from '#protocol';

/** Resolves the waiting runs of `slow`, by context. */
export const gates: Map<string, () => void> = new Map();

const talker = defineAgent({
  name: 'talker',
  description: 'Does what the message names.',
  inputModes: ['*/*'],
  outputModes: ['*/*'],
  async *run(turn) {
    if (turn.text === 'fail') return fail('The disk is full.');
    if (turn.text === 'colour') return ask('Which colour?');
    if (turn.text === 'tool') {
      const call = { tool_call_id: 'c1', tool_name: 'weather', tool_args: { city: 'Rome' } };
      const answer = await turn.ask(createAgentPartsMessage([{ text: 'Please run weather.', metadata: call }]));
      return `The weather is ${answer.data}`;
    }
    if (turn.text === 'parts') return turn.files.map(({ raw, url, mediaType }) => `${raw ?? url} ${mediaType}`).join(', ');
    if (turn.history.length > 0) return `You said ${turn.text}`;
    yield status('Thinking');
    yield 'Hello ';
    yield turn.text;
    return undefined;
  },
});
const slow = defineAgent({
  name: 'slow',
  description: 'Says the second word when it is released.',
  async *run(turn) {
    if (turn.text === 'ask first') await turn.ask('Sure?');
    yield 'One ';
    await new Promise<void>((resolve) => {
      gates.set(turn.contextId, resolve);
      turn.signal.addEventListener('abort', () => resolve());
    });
    yield 'two.';
  },
});
const where = defineAgent({ name: 'where', description: '', run: (turn) => turn.contextId });

export const AGENTS: readonly Agent[] = [talker, slow, where];

/** The official client. */
export function openAi(url: string, apiKey = 'none'): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
}

/** What a refused call says. */
export async function refused(
  call: Promise<unknown>,
): Promise<{ status: number; code: string | null; param: string | null; message: string }> {
  try {
    await call;
  } catch (thrown) {
    if (thrown instanceof OpenAI.APIError)
      return { status: Number(thrown.status), code: thrown.code ?? null, param: thrown.param ?? null, message: thrown.message };
    throw thrown;
  }
  throw new Error('the call was not refused');
}
