import type { AgentOutput, Json, JsonObject, Message, Metadata } from '#protocol';
import { isObject, LLM_NOTE } from '#protocol';
import { status } from '../outputs.ts';
import type { ModelCall } from './model.ts';
import type { LlmToolResult } from './tools.ts';

/** A tool call, and how far it has come. */
export interface StepCall extends ModelCall {
  /** The caller was asked whether it may run. */
  asked?: true;
  /** It has been started. Without a result it was interrupted, and nobody knows what it did. */
  started?: true;
  result?: LlmToolResult;
}

/** One answer of the model that calls tools. */
export interface Step {
  readonly text: string;
  readonly calls: readonly StepCall[];
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** How much of a tool's result is stored, in characters. The model gets no more of it. */
export const RESULT_CHARS_MAX = 16_384;

/**
 * The steps of a run that its task remembers, so that a run after a crash repeats neither the model's
 * decision nor a tool. They are in the task's metadata.
 */
export function stepsIn(metadata: Metadata | undefined, of: Message): readonly Step[] {
  const steps: Step[] = [];
  for (;;) {
    const note = metadata?.[`${LLM_NOTE}${steps.length + 1}`];
    const step = isObject(note) && note['of'] === of.messageId ? stepOf(note) : undefined;
    if (step === undefined) return steps;
    steps.push(step);
  }
}

/** The output that stores a step, with a progress note for people. */
export function storeStep(step: Step, nth: number, { of, note }: { readonly of: Message; readonly note?: string }): AgentOutput {
  const { text, inputTokens, outputTokens } = step;
  const calls = step.calls.map(({ result, ...call }): JsonObject => (result === undefined ? call : { ...call, result: { ...result } }));
  return status(note, { [`${LLM_NOTE}${nth}`]: { of: of.messageId, text, inputTokens, outputTokens, calls } });
}

function stepOf({ text, calls, inputTokens, outputTokens }: JsonObject): Step | undefined {
  if (typeof text !== 'string' || !Array.isArray(calls)) return undefined;
  const read = calls.map(callOf);
  const known = read.filter((call) => call !== undefined);
  if (known.length !== read.length) return undefined;
  return { text, calls: known, inputTokens: Number(inputTokens), outputTokens: Number(outputTokens) };
}

function callOf(given: Json): StepCall | undefined {
  if (!isObject(given)) return undefined;
  const { id, name, input, asked, started, result } = given;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof input !== 'string') return undefined;
  const said =
    isObject(result) && typeof result['text'] === 'string' ? { text: result['text'], isError: result['isError'] === true } : undefined;
  return {
    ...{ id, name, input },
    ...(asked === true ? { asked } : {}),
    ...(started === true ? { started } : {}),
    ...(said === undefined ? {} : { result: said }),
  };
}
