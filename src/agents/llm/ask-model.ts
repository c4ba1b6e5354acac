import type { AgentOutput } from '#protocol';
import { A2AError } from '#protocol';
import { status, text } from '../outputs.ts';
import { sleep } from '../sleep.ts';
import { cutOff, ModelError } from './errors.ts';
import type { ChatModel, ModelRequest } from './model.ts';
import type { Step, StepCall } from './steps.ts';

/** Asking a busy model again. */
const TRIES_MAX = 3;
const WAIT_MS = 1000;
/** A longer wait is the caller's decision. */
const WAIT_MS_MAX = 20_000;

/** Asks the model and yields its text while it comes. A busy model is asked again, if it has said nothing. */
export async function* askModel(model: ChatModel, request: ModelRequest, signal: AbortSignal): AsyncGenerator<AgentOutput, Step> {
  for (let nth = 1; ; nth += 1) {
    let said = '';
    const calls: StepCall[] = [];
    let usage = { inputTokens: 0, outputTokens: 0 };
    let isOver = false;
    try {
      for await (const chunk of model.stream(request, signal)) {
        if (chunk.kind === 'text') {
          said += chunk.text;
          yield text(chunk.text);
        } else if (chunk.kind === 'call') calls.push({ ...chunk.call });
        else if (chunk.kind === 'usage') usage = { inputTokens: chunk.inputTokens, outputTokens: chunk.outputTokens };
        else isOver = true;
      }
      if (!isOver) throw cutOff();
      return { text: said, calls, ...usage };
    } catch (thrown) {
      signal.throwIfAborted();
      const waitMs = said === '' && nth < TRIES_MAX ? waitAfter(thrown, nth) : undefined;
      if (waitMs === undefined) throw failure(thrown);
      yield status(`The model is busy. Trying again in ${Math.ceil(waitMs / 1000)} s.`);
      await sleep(waitMs, signal);
    }
  }
}

function waitAfter(thrown: unknown, nth: number): number | undefined {
  if (!(thrown instanceof ModelError) || (thrown.problem !== 'rate' && thrown.problem !== 'busy')) return undefined;
  const waitMs = thrown.retryAfterMs ?? WAIT_MS * 2 ** (nth - 1);
  return waitMs > WAIT_MS_MAX ? undefined : waitMs;
}

/** The caller sees the message of a `ModelError`. The engine logs its cause. */
function failure(thrown: unknown): unknown {
  if (!(thrown instanceof ModelError)) return thrown;
  const { retryAfterMs } = thrown;
  return new A2AError('UNAVAILABLE', thrown.message, { cause: thrown, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}
