import type { TaskStatusUpdate } from './events.ts';
import type { Json, JsonObject } from './json.ts';
import { isObject } from './json.ts';
import type { Message } from './message.ts';
import { getTextFromMessage } from './message.ts';
import { isDataPart } from './parts.ts';

/** One step of an agent's plan, as a report tells it. */
export interface PlanStep {
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
  readonly priority?: string;
}

/** A changed file, as a report tells it. */
export interface ReportedDiff {
  readonly path: string;
  /** Absent: the file is new. */
  readonly oldText?: string;
  readonly newText: string;
}

/**
 * What a progress status tells. A2A has no form for tool calls, plans and delegations. Our coding
 * agents, language model agents and workflows put a data part with `type` into the status message, and
 * so does Solace Agent Mesh.
 */
export type WorkReport =
  | {
      readonly kind: 'tool_use';
      /** Unique within the task's run. The result has the same id. */
      readonly id: string;
      readonly tool: string;
      readonly title?: string;
      readonly toolKind?: string;
      readonly input?: Json;
      readonly paths?: readonly string[];
      readonly diffs?: readonly ReportedDiff[];
    }
  | {
      readonly kind: 'tool_result';
      readonly id: string;
      readonly tool?: string;
      readonly output: string;
      readonly isError: boolean;
      readonly diffs?: readonly ReportedDiff[];
    }
  | { readonly kind: 'plan'; readonly entries: readonly PlanStep[] }
  | { readonly kind: 'thought'; readonly text: string }
  /** Another agent works for this one. */
  | { readonly kind: 'delegated'; readonly id: string; readonly agent: string; readonly description?: string; readonly taskId?: string }
  /** `taskId`: the task of the other agent, if it is known. */
  | { readonly kind: 'returned'; readonly id: string; readonly error?: string; readonly taskId?: string }
  /** Words for people. */
  | { readonly kind: 'note'; readonly text: string };

/** The report of a progress status. Undefined: it tells nothing. */
export function reportIn({ status, metadata }: Pick<TaskStatusUpdate, 'status' | 'metadata'>): WorkReport | undefined {
  const { message } = status;
  if (message === undefined) return undefined;
  const text = getTextFromMessage(message);
  const data = signalIn(message);
  const told = data === undefined ? undefined : (READERS[String(data['type'])]?.(data) ?? undefined);
  if (told !== undefined) return told;
  if (text === '') return undefined;
  return { kind: metadata?.['event'] === 'thought' ? 'thought' : 'note', text };
}

function signalIn({ parts }: Message): JsonObject | undefined {
  for (const part of parts) {
    if (isDataPart(part) && isObject(part.data) && typeof part.data['type'] === 'string') return part.data;
  }
  return undefined;
}

type Reader = (data: JsonObject) => WorkReport | undefined;

/** `tool_result` is both our own (`id`, `output`) and that of Solace Agent Mesh (`function_call_id`, `result_data`). */
const READERS: Readonly<Record<string, Reader>> = {
  tool_use: (data) => {
    const id = textIn(data, 'id');
    if (id === undefined) return undefined;
    const agent = textIn(data, 'agent');
    const title = textIn(data, 'title');
    if (agent !== undefined)
      return { kind: 'delegated', id, agent, ...(title === undefined ? {} : { description: title }), ...taskIn(data) };
    const [toolKind, paths] = [textIn(data, 'kind'), data['paths']];
    return {
      ...{ kind: 'tool_use', id, tool: textIn(data, 'tool') ?? 'tool' },
      ...(title === undefined ? {} : { title }),
      ...(toolKind === undefined ? {} : { toolKind }),
      ...(data['input'] === undefined ? {} : { input: data['input'] }),
      ...(Array.isArray(paths) ? { paths: paths.filter((path) => typeof path === 'string') } : {}),
      ...diffsIn(data),
    };
  },
  tool_result: (data) => {
    const id = textIn(data, 'id') ?? textIn(data, 'function_call_id');
    if (id === undefined) return undefined;
    const [agent, tool] = [textIn(data, 'agent'), textIn(data, 'tool') ?? textIn(data, 'tool_name')];
    const isError = data['isError'] === true;
    const output = wordsOf(data['output'] ?? data['result_data']);
    if (agent !== undefined) return { kind: 'returned', id, ...(isError ? { error: output || 'failed' } : {}), ...taskIn(data) };
    return { kind: 'tool_result', id, ...(tool === undefined ? {} : { tool }), output, isError, ...diffsIn(data) };
  },
  plan: (data) => {
    const { entries } = data;
    return Array.isArray(entries) ? { kind: 'plan', entries: entries.flatMap(readStep) } : undefined;
  },
  tool_invocation_start: (data) => {
    const id = textIn(data, 'function_call_id');
    if (id === undefined) return undefined;
    const input = data['tool_args'];
    return { kind: 'tool_use', id, tool: textIn(data, 'tool_name') ?? 'tool', ...(input === undefined ? {} : { input }) };
  },
  agent_progress_update: (data) => {
    const text = textIn(data, 'status_text');
    return text === undefined ? undefined : { kind: 'note', text };
  },
  thinking_content: (data) => {
    const text = textIn(data, 'content');
    return text === undefined ? undefined : { kind: 'thought', text };
  },
  workflow_node_execution_start: (data) => {
    const id = nodeOf(data);
    const agent = textIn(data, 'agent_name');
    return id === undefined || agent === undefined ? undefined : { kind: 'delegated', id, agent, description: id, ...taskIn(data) };
  },
  workflow_node_execution_result: (data) => {
    const id = nodeOf(data);
    if (id === undefined) return undefined;
    const isError = data['status'] === 'error';
    return { kind: 'returned', id, ...(isError ? { error: textIn(data, 'error_message') ?? 'failed' } : {}), ...taskIn(data) };
  },
};

/** `sub_task_id` is the name of Solace Agent Mesh. */
function taskIn(data: JsonObject): { readonly taskId?: string } {
  const taskId = textIn(data, 'taskId') ?? textIn(data, 'sub_task_id');
  return taskId === undefined ? {} : { taskId };
}

function diffsIn({ diffs }: JsonObject): { readonly diffs?: readonly ReportedDiff[] } {
  if (!Array.isArray(diffs)) return {};
  return {
    diffs: diffs.flatMap((diff) => {
      const [path, newText] = isObject(diff) ? [diff['path'], diff['newText']] : [];
      if (!isObject(diff) || typeof path !== 'string' || typeof newText !== 'string') return [];
      const { oldText } = diff;
      return [typeof oldText === 'string' ? { path, oldText, newText } : { path, newText }];
    }),
  };
}

function nodeOf(data: JsonObject): string | undefined {
  return textIn(data, 'path') ?? textIn(data, 'node_id');
}

const STEP_STATES: ReadonlyMap<unknown, PlanStep['status']> = new Map<unknown, PlanStep['status']>([
  ['in_progress', 'in_progress'],
  ['completed', 'completed'],
]);

function readStep(value: Json): readonly PlanStep[] {
  if (!isObject(value)) return [];
  const [content, priority] = [textIn(value, 'content'), textIn(value, 'priority')];
  if (content === undefined) return [];
  return [{ content, status: STEP_STATES.get(value['status']) ?? 'pending', ...(priority === undefined ? {} : { priority }) }];
}

/** A tool that the agent asks its caller to run. */
export interface CallerToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
}

/**
 * The tools that a question asks its caller to run, in the form of PromptKit: parts with `tool_call_id`,
 * `tool_name` and `tool_args` in their metadata. `createToolResultPart` makes the answer.
 */
export function callerToolsIn({ parts }: Message): readonly CallerToolCall[] {
  return parts.flatMap(({ metadata }) => {
    const [id, name] = [metadata?.['tool_call_id'], metadata?.['tool_name']];
    if (typeof id !== 'string' || id === '' || typeof name !== 'string') return [];
    return [{ id, name, arguments: metadata?.['tool_args'] ?? {} }];
  });
}

function textIn(data: JsonObject, name: string): string | undefined {
  const value = data[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function wordsOf(value: Json | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
