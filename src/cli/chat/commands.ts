import type { A2AClient, SendHandle } from '#client';
import type { Artifact, Part } from '#protocol';
import { usage } from '../command.ts';
import type { Screen } from '../conversation/terminal.ts';
import { taskRows } from '../output/task-rows.ts';
import { partsFrom } from '../parts/read-parts.ts';
import { saveArtifacts } from '../parts/save-artifacts.ts';

/** What can be typed in a chat besides messages. */
const HELP: readonly (readonly [string, string])[] = [
  ['/help', 'shows this'],
  ['/new', 'starts a new conversation'],
  ['/file PATH', 'adds a file to the next message'],
  ['/save [FOLDER]', 'writes the files of the last answer into a folder; default: this one'],
  ['/tasks', 'lists the tasks of this agent, newest first'],
  ['/ids', 'shows the ids of the conversation'],
  ['/quit', 'leaves'],
];

/** The same on one line, for hints. */
export const CHAT_COMMANDS: string = `${HELP.map(([command]) => command).join(', ')}`;

/** State between turns: the context, the waiting task, the files for the next message, and the last answer. */
export interface ChatThread {
  contextId?: string;
  taskId?: string;
  /** The call that waits for an answer. Its agent may keep the stream open until then. */
  asked?: SendHandle;
  files: Part[];
  /** What the last answer made. */
  artifacts: readonly Artifact[];
}

/** What the commands of a chat work with. */
export interface ChatParts {
  readonly client: A2AClient;
  readonly thread: ChatThread;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/** A line as parts to send, or a command such as `/new`. Undefined: there is nothing to send. */
export async function inputFor(line: string, parts: ChatParts): Promise<readonly Part[] | 'quit' | undefined> {
  const { thread } = parts;
  const [, command, rest = ''] = /^\/(\w+)\s*(.*)$/.exec(line.trim()) ?? [];
  if (command === undefined) return line.trim() === '' ? undefined : [{ text: line }, ...thread.files];
  if (command === 'quit' || command === 'exit') return 'quit';
  const run = COMMANDS[command];
  if (run === undefined) {
    parts.screen.note(`there is no command /${command} in a chat`, 'bad');
    parts.screen.note(`${CHAT_COMMANDS}.`, 'dim');
    return undefined;
  }
  try {
    await run(parts, rest.trim());
  } catch (thrown) {
    parts.screen.note(thrown instanceof Error ? thrown.message : String(thrown), 'bad');
  }
  return undefined;
}

type ChatCommand = (parts: ChatParts, rest: string) => Promise<void>;

const TASKS_MAX = 20;

const COMMANDS: Readonly<Record<string, ChatCommand>> = {
  help: async ({ screen }) => {
    const width = Math.max(...HELP.map(([command]) => command.length));
    for (const [command, doc] of HELP) screen.note(`${command.padEnd(width)}  ${doc}`);
  },
  new: async ({ thread, screen }) => {
    delete thread.contextId;
    delete thread.taskId;
    await thread.asked?.close();
    delete thread.asked;
    screen.note('a new context begins', 'dim');
  },
  ids: async ({ thread, screen }) => screen.note(`context ${thread.contextId ?? '(none yet)'}, task ${thread.taskId ?? '(none waits)'}`),
  file: async ({ thread }, path) => void thread.files.push(...(await filesFrom([path]))),
  save: async ({ thread, screen, signal }, folder) => {
    if (fileNames(thread.artifacts).length === 0) throw usage('the last answer has no file');
    const options = { folder: folder === '' ? '.' : folder, filesOnly: true, overwrite: false, signal };
    const saved = await saveArtifacts(thread.artifacts, { ...options, warn: (text) => screen.note(text) });
    for (const { path, bytes } of saved) screen.note(`wrote ${path} (${bytes} bytes)`, 'good');
  },
  tasks: async ({ client, screen, signal }) => {
    const { tasks } = await client.list({ pageSize: TASKS_MAX, historyLength: TASKS_MAX, signal }).page();
    const rows = taskRows(tasks, { agent: client.card?.name ?? 'agent', columns: process.stdout.columns || 80 });
    screen.note(rows === '' ? 'there are no tasks yet' : rows.trimEnd());
  },
};

/** The names of the files in artifacts. */
export function fileNames(artifacts: readonly Artifact[]): readonly string[] {
  const files = artifacts.flatMap(({ parts }) => parts.filter((part) => part.raw !== undefined || part.url !== undefined));
  return files.map((part) => part.filename ?? part.url ?? 'unnamed');
}

export async function filesFrom(paths: readonly string[]): Promise<Part[]> {
  const parts = await Promise.all(paths.map((value) => partsFrom([{ flag: { name: 'file-part', kind: 'list', doc: '' }, value }])));
  return parts.flat();
}
