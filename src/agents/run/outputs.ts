import type { AgentOutput, Json, JsonObject, Part } from '#protocol';
import { createAgentPartsMessage, createDataPart, createTextPart, unreachable } from '#protocol';
import { stripAnsi } from '../process/ansi.ts';
import { compact } from '../process/json-line.ts';
import { clip, clipJson } from './clip.ts';
import type { FileDiff, RunEvent, Usage } from './events.ts';

/** A run's events, except questions and ends, as outputs for the caller (docs/coding-agents.md). */
export type Told = Exclude<RunEvent, { readonly kind: 'approval' | 'done' | 'refused' | 'error' }>;

/** Turns the events of one run into outputs. */
export interface Telling {
  /** The outputs for an event; often none yet, or several. */
  tell(event: Told): readonly AgentOutput[];
  /** Outputs that were held back. */
  flush(): readonly AgentOutput[];
  /** The artifact `result`, or nothing if it would be empty. */
  result(done: Extract<RunEvent, { readonly kind: 'done' }>): readonly AgentOutput[];
  /** The length of the answer so far, in characters. */
  readonly answered: number;
}

/** Options of `startTelling`. */
export interface TellingOptions {
  readonly adapter: string;
  /** Distinguishes this turn's artifacts from those of earlier turns of the task. */
  readonly suffix: string;
  /** The maximum length of the answer. The rest is counted and left out. */
  readonly outputBytesMax: number;
}

/**
 * At most 200 characters of a tool's result are shown as text, as in coding-agent-a2a. The data part
 * holds more.
 */
const RESULT_CHARACTERS = 200;
const OUTPUT_CHARACTERS = 16_384;
const THOUGHT_CHARACTERS = 400;

/** Starts with an empty answer. */
export function startTelling({ adapter, suffix, outputBytesMax }: TellingOptions): Telling {
  const known: { model?: string; sessionId?: string; mode?: string } = {};
  const tools = new Map<string, string>();
  let usage: Usage = {};
  let thought = '';
  let last = '';
  let answered = 0;
  let leftOut = 0;

  const answer = (text: string): readonly AgentOutput[] => {
    const room = outputBytesMax - answered;
    const taken = text.length <= room ? text : text.slice(0, Math.max(0, room)).toWellFormed();
    leftOut += text.length - taken.length;
    if (taken === '') return [];
    const isFirst = answered === 0;
    answered += taken.length;
    last = (last + taken).slice(-OUTPUT_CHARACTERS);
    return chunks(`assistant-response${suffix}`, taken, isFirst);
  };
  const flush = (): readonly AgentOutput[] => {
    if (thought.trim() === '') return [];
    const text = thought;
    thought = '';
    return [note([createTextPart(text)], 'thought')];
  };
  return {
    get answered() {
      return answered;
    },
    flush,
    tell: (event) => {
      if (event.kind === 'thought') {
        thought += event.text;
        return thought.length < THOUGHT_CHARACTERS ? [] : flush();
      }
      const before = flush();
      switch (event.kind) {
        case 'text':
          return [...before, ...answer(event.startsMessage === true && answered > 0 ? `\n\n${event.text}` : event.text)];
        case 'init':
          Object.assign(known, knownIn(event));
          return [...before, ...begun(event, `agent-metadata${suffix}`, { adapter, ...known })];
        case 'tool_use':
          tools.set(event.id, event.tool);
          return [...before, toolUse(event)];
        case 'tool_result':
          return [...before, toolResult(event, event.tool ?? tools.get(event.id))];
        case 'plan':
          return [...before, plan(event.entries)];
        case 'usage':
          usage = { ...usage, ...event.usage };
          return before;
        case 'note':
          return [...before, note([createTextPart(event.text)], 'note')];
        default:
          return unreachable(event);
      }
    },
    result: ({ summary, stopReason, output }) => {
      const stats = compact({ ...usage });
      const data = compact({
        ...{ adapter, ...known, stopReason, output },
        summary: summary === undefined || summary === '' ? last.trim() || undefined : clip(summary, OUTPUT_CHARACTERS),
        ...(Object.keys(stats).length === 0 ? {} : { stats }),
        ...(leftOut === 0 ? {} : { charactersLeftOut: leftOut }),
      });
      return [{ kind: 'artifact', id: `result${suffix}`, name: 'result', parts: [createDataPart(data)] }];
    },
  };
}

/**
 * coding-agent-a2a sends the name and `append` with every chunk. The answer starts with an empty text, because the Python SDK drops a chunk
 * that appends to an artifact it does not have.
 */
function chunks(id: string, text: string, isFirst: boolean): readonly AgentOutput[] {
  const piece = (parts: readonly Part[], append: boolean): AgentOutput => ({
    kind: 'artifact',
    id,
    name: 'assistant-response',
    parts,
    append,
  });
  const next = piece([createTextPart(text)], true);
  return isFirst ? [piece([createTextPart('')], false), next] : [next];
}

type Init = Extract<RunEvent, { readonly kind: 'init' }>;

function knownIn({ sessionId, model, mode }: Init): JsonObject {
  return compact({ sessionId, model, mode });
}

/**
 * A status, and an artifact with the model and the session if they are known, as in coding-agent-a2a.
 */
function begun(event: Init, id: string, data: JsonObject): readonly AgentOutput[] {
  const told = note(event.note === undefined ? [] : [createTextPart(event.note)], 'init', knownIn(event));
  if (data['sessionId'] === undefined && data['model'] === undefined) return [told];
  return [told, { kind: 'artifact', id, name: 'agent-metadata', parts: [createDataPart(data)] }];
}

/** A progress status. `event` in its metadata names its kind, so that programs can sort them. */
function note(parts: readonly Part[], event: string, data?: JsonObject): AgentOutput {
  const all = data === undefined || Object.keys(data).length === 0 ? parts : [...parts, createDataPart({ type: event, ...data })];
  return all.length === 0
    ? { kind: 'status', metadata: { event } }
    : { kind: 'status', message: createAgentPartsMessage(all), metadata: { event } };
}

/** A tool call as a status message: one line for people, and data for programs. */
function toolUse({ id, tool, title, toolKind, input, paths, diffs }: Extract<RunEvent, { readonly kind: 'tool_use' }>): AgentOutput {
  const data = compact({
    ...{ id, tool, title, kind: toolKind },
    input: input === undefined ? undefined : clipJson(input, OUTPUT_CHARACTERS),
    ...(paths === undefined || paths.length === 0 ? {} : { paths }),
    ...diffsIn(diffs),
  });
  return note([createTextPart(`Using tool: ${clip(stripAnsi(title ?? tool), RESULT_CHARACTERS)}`)], 'tool_use', data);
}

/** The result of a tool call, shortened for people. */
function toolResult(
  { id, output, isError, diffs }: Extract<RunEvent, { readonly kind: 'tool_result' }>,
  tool: string | undefined,
): AgentOutput {
  const plain = stripAnsi(output);
  const shown = clip(plain, RESULT_CHARACTERS);
  const words = shown === '' ? `Tool ${isError ? 'failed' : 'finished'}: ${tool ?? id}` : `Tool ${isError ? 'error' : 'result'}: ${shown}`;
  const data = compact({ id, tool, isError, output: clip(plain, OUTPUT_CHARACTERS), ...diffsIn(diffs) });
  return note([createTextPart(words)], 'tool_result', data);
}

/** Changes of files, shortened. */
function diffsIn(diffs: readonly FileDiff[] | undefined): { readonly diffs?: Json } {
  if (diffs === undefined || diffs.length === 0) return {};
  return {
    diffs: diffs.map(({ path, oldText, newText }) =>
      compact({
        path,
        oldText: oldText === undefined ? undefined : clip(oldText, OUTPUT_CHARACTERS),
        newText: clip(newText, OUTPUT_CHARACTERS),
      }),
    ),
  };
}

const BOXES = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const;

function plan(entries: Extract<RunEvent, { readonly kind: 'plan' }>['entries']): AgentOutput {
  const words = ['Plan:', ...entries.map(({ content, status }) => `${BOXES[status]} ${content}`)].join('\n');
  return note([createTextPart(words)], 'plan', { entries: entries.map((entry) => compact({ ...entry })) });
}
