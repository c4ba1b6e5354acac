import type { AgentOutput, ChoiceLike, Json, JsonObject } from '#protocol';
import { isObject } from '#protocol';
import type { BaseTurn } from '../turn.ts';
import type { Step, StepCall } from './steps.ts';
import { RESULT_CHARS_MAX, storeStep } from './steps.ts';
import type { LlmTool, LlmToolResult } from './tools.ts';

/** Which tools need an approval. `unless-read-only`: all but those that say that they change nothing. */
export type ToolApproval = 'always' | 'unless-read-only' | 'never' | ((tool: LlmTool, input: JsonObject) => boolean);

/** What running the calls of a step needs. */
export interface CallContextOfStep {
  readonly turn: BaseTurn<unknown>;
  readonly tools: readonly LlmTool[];
  readonly approval: ToolApproval;
  /** Number of the step, from 1. */
  readonly nth: number;
}

const DECISION: readonly ChoiceLike[] = [
  { optionId: 'allow', name: 'Yes, run it', kind: 'allow_once' },
  { optionId: 'reject', name: 'No', kind: 'reject_once' },
];

/**
 * Runs the calls of a step one after the other. Each is stored before it starts and when it has ended:
 * after a crash an answered approval is not asked again, and no tool runs twice.
 */
export async function* runCalls(step: Step, context: CallContextOfStep): AsyncGenerator<AgentOutput> {
  const { turn, tools, nth } = context;
  const store = (note?: string): AgentOutput => storeStep(step, nth, { of: turn.message, ...(note === undefined ? {} : { note }) });
  for (const call of step.calls) {
    const prepared = prepare(call, tools);
    if (call.result !== undefined) {
      // The engine gives recorded answers in the order of their questions, so this one is asked too.
      if (call.asked === true) await turn.ask(question(call), { options: DECISION });
      continue;
    }
    if (typeof prepared === 'string') call.result = { text: prepared, isError: true };
    else yield* runOne(call, { ...context, ...prepared, store });
    yield store();
  }
}

interface PreparedCall {
  readonly tool: LlmTool;
  readonly input: JsonObject;
}

/** The tool and its input, or what is wrong with the call. */
function prepare(call: StepCall, tools: readonly LlmTool[]): PreparedCall | string {
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) return `There is no tool ${call.name}.`;
  const input = inputOf(call);
  return input === undefined ? 'The input is not a JSON object.' : { tool, input };
}

interface OneCall extends CallContextOfStep, PreparedCall {
  readonly store: (note?: string) => AgentOutput;
}

async function* runOne(call: StepCall, { turn, tool, input, approval, store }: OneCall): AsyncGenerator<AgentOutput> {
  if (call.asked !== true && needsApproval(approval, tool, input)) {
    call.asked = true;
    yield store();
  }
  const isAllowed = call.asked !== true || (await turn.ask(question(call), { options: DECISION })).option === 'allow';
  if (!isAllowed) call.result = { text: 'The user did not allow this call.', isError: true };
  else if (call.started === true) call.result = { text: 'The call was interrupted. It may have had its effect.', isError: true };
  else {
    call.started = true;
    yield store(`Calling ${call.name}`);
    await turn.durable();
    call.result = await resultOf(tool, input, turn.signal);
  }
}

function needsApproval(approval: ToolApproval, tool: LlmTool, input: JsonObject): boolean {
  if (typeof approval === 'function') return approval(tool, input);
  return approval === 'always' || (approval === 'unless-read-only' && tool.isReadOnly !== true);
}

/** The same for a repeated run: the engine recognises the question by its content. */
function question({ name, input }: StepCall): string {
  return `May I call ${name} with ${input}?`;
}

function inputOf({ input }: StepCall): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(input === '' ? '{}' : input);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function resultOf(tool: LlmTool, input: JsonObject, signal: AbortSignal): Promise<LlmToolResult> {
  try {
    const { text, isError } = await tool.run(input, { signal });
    const kept =
      text.length > RESULT_CHARS_MAX
        ? `${text.slice(0, RESULT_CHARS_MAX)}\n[${text.length - RESULT_CHARS_MAX} more characters are left out]`
        : text;
    return { text: kept, ...(isError === true ? { isError } : {}) };
  } catch (thrown) {
    signal.throwIfAborted();
    return { text: thrown instanceof Error ? thrown.message : String(thrown), isError: true };
  }
}
