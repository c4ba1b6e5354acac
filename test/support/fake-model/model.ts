import type { Json, JsonObject } from '#protocol';

/** The common content of every provider's request. */
export interface Asked {
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
}

export type Turn =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'model'; readonly text: string }
  | { readonly role: 'tool'; readonly text: string };

export interface Tool {
  readonly name: string;
  /** JSON Schema of its input. A tool without one takes plain text. */
  readonly schema?: JsonObject;
}

export type Act =
  | { readonly kind: 'say'; readonly text: string }
  /** Streams the text word by word, with this many milliseconds between words. */
  | { readonly kind: 'mumble'; readonly words: number; readonly everyMs: number }
  | { readonly kind: 'call'; readonly tool: string; readonly input: JsonObject };

/**
 * A model that follows commands in the prompt, one after the other: `[[write PATH|TEXT]]`, `[[run COMMAND]]`, `[[say TEXT]]`,
 * `[[mumble WORDS|MS]]`, `[[recall]]`, `[[call TOOL|JSON]]`, `[[report]]`. Each tool result leads to the next command. A request without tools that gives no order is repeated. Others without an
 * order (a title, a check who speaks next) get `ok`.
 */
export function decide({ turns, tools }: Asked): Act {
  const asked = turns.findLastIndex((turn) => turn.role === 'user' && turn.text.includes('[['));
  const turn = turns[asked];
  if (turn?.text.includes('[[mumble') === true && tools.length === 0) return mumbling(turn.text);
  if (turn === undefined && tools.length === 0) return { kind: 'say', text: `You said ${turns.at(-1)?.text ?? ''}` };
  if (turn === undefined || tools.length === 0) return { kind: 'say', text: 'ok' };
  const orders = [...turn.text.matchAll(/\[\[(\w+)\s*(.*?)\]\]/gs)];
  const results = turns.slice(asked + 1).filter(({ role }) => role === 'tool').length;
  const order = orders[results];
  if (order === undefined) return { kind: 'say', text: 'All done.' };
  const [, verb = '', rest = ''] = order;
  const [first = '', second = ''] = rest.split('|');
  switch (verb) {
    case 'write':
      return writing(tools, first.trim(), second);
    case 'run':
      return running(tools, rest);
    case 'mumble':
      return { kind: 'mumble', words: Number(first), everyMs: Number(second) };
    case 'call':
      return { kind: 'call', tool: first.trim(), input: record(JSON.parse(second || '{}') as Json) };
    case 'report':
      return { kind: 'say', text: turns.at(-1)?.text ?? '' };
    case 'recall':
      return { kind: 'say', text: recalled(turns.slice(0, asked)) };
    default:
      return { kind: 'say', text: rest };
  }
}

function mumbling(text: string): Act {
  const [, words, everyMs] = /\[\[mumble (\d+)\|(\d+)\]\]/.exec(text) ?? [];
  return { kind: 'mumble', words: Number(words), everyMs: Number(everyMs) };
}

/** Only a resumed session contains the earlier messages. */
function recalled(before: readonly Turn[]): string {
  const words = before.flatMap((turn) => (turn.role === 'user' ? [...turn.text.matchAll(/the word is (\w+)/g)] : []));
  return words.length === 0 ? 'I remember nothing.' : `I remember ${words.map(([, word]) => word).join(', ')}.`;
}

const WRITERS = ['Write', 'write_file', 'write', 'create'];
const SHELLS = ['Bash', 'run_shell_command', 'bash', 'exec_command', 'shell', 'shell_command', 'local_shell'];

function writing(tools: readonly Tool[], path: string, text: string): Act {
  const tool = pick(tools, WRITERS);
  if (tool === undefined) return patching(tools, path, text);
  return { kind: 'call', tool: tool.name, input: filled(tool, { path, text }) };
}

/** Codex has no tool for writing files: it extracts patches from its shell commands. */
function patching(tools: readonly Tool[], path: string, text: string): Act {
  const lines = text.replace(/\n$/, '').split('\n');
  const patch = ['*** Begin Patch', `*** Add File: ${path}`, ...lines.map((line) => `+${line}`), '*** End Patch'];
  const act = running(tools, [`apply_patch <<'EOF'`, ...patch, 'EOF'].join('\n'));
  if (act.kind !== 'call') return act;
  const { sandbox_permissions: _, justification: __, ...input } = act.input;
  return { ...act, input };
}

function running(tools: readonly Tool[], command: string): Act {
  const tool = pick(tools, SHELLS);
  if (tool === undefined) return { kind: 'say', text: `I have no shell among ${tools.map(({ name }) => name).join(', ')}.` };
  return { kind: 'call', tool: tool.name, input: filled(tool, { command }) };
}

function pick(tools: readonly Tool[], names: readonly string[]): Tool | undefined {
  return names.map((name) => tools.find((tool) => tool.name === name)).find((tool) => tool !== undefined);
}

/** Every CLI has other names for the same three values; its schema has the names. */
const NAMES = {
  path: ['file_path', 'filePath', 'path'],
  text: ['content', 'file_text', 'contents'],
  command: ['command', 'cmd'],
} as const;

function filled(tool: Tool, values: { readonly [K in keyof typeof NAMES]?: string }): Record<string, Json> {
  const properties = record(tool.schema?.['properties']);
  const input: Record<string, Json> = {};
  for (const [meaning, names] of Object.entries(NAMES)) {
    const value = values[meaning as keyof typeof NAMES];
    const name = names.find((candidate) => candidate in properties);
    if (value === undefined || name === undefined) continue;
    input[name] = record(properties[name])['type'] === 'array' ? ['bash', '-c', value] : value;
  }
  // Codex runs a command in its own sandbox, unless the command asks to leave the sandbox.
  if (values.command !== undefined && 'sandbox_permissions' in properties) {
    Object.assign(input, { sandbox_permissions: 'require_escalated', justification: 'May I?' });
  }
  const required = tool.schema?.['required'];
  for (const name of Array.isArray(required) ? required : []) {
    if (typeof name !== 'string' || name in input) continue;
    input[name] = record(properties[name])['type'] === 'boolean' ? false : 'as asked';
  }
  return input;
}

export function record(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

export function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
