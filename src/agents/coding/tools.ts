import type { Json } from '#protocol';
import { isJsonObject, textAt } from '../process/json-line.ts';
import { oneLine } from '../run/clip.ts';
import type { ToolKind, Usage } from '../run/events.ts';

/** The kind of a tool, by the names that CLIs give theirs. */
const KINDS: readonly (readonly [RegExp, ToolKind])[] = [
  [/bash|shell|exec|command|terminal|powershell/i, 'execute'],
  [/delete|remove/i, 'delete'],
  [/move|rename/i, 'move'],
  [/edit|write|create|replace|patch|notebook/i, 'edit'],
  [/grep|glob|search|find|(?:^|_)ls$|list/i, 'search'],
  [/fetch|web|http|url/i, 'fetch'],
  [/read|view|cat|open/i, 'read'],
  [/task|think|todo|plan|agent/i, 'think'],
];

/** The kind of a tool by its name. `other` if no pattern fits. */
export function toolKind(tool: string): ToolKind {
  return KINDS.find(([pattern]) => pattern.test(tool))?.[1] ?? 'other';
}

const PATHS = ['file_path', 'filePath', 'path', 'notebook_path', 'absolute_path', 'dir_path'];
const TITLE_CHARACTERS = 300;

/** The files that a tool call is about, for the rules of approvals. */
export function pathsIn(input: Json | undefined): readonly string[] {
  return isJsonObject(input) ? PATHS.map((name) => textAt(input, name)).filter((path) => path !== undefined) : [];
}

/** `Bash: npm test`, `Edit: src/a.ts`: the tool, and the part of its input that people decide by. */
export function titleOf(tool: string, input: Json | undefined): string {
  if (!isJsonObject(input)) return tool;
  const about = textAt(input, 'command') ?? pathsIn(input)[0] ?? textAt(input, 'url') ?? textAt(input, 'query') ?? textAt(input, 'pattern');
  if (about !== undefined) return oneLine(`${tool}: ${about}`, TITLE_CHARACTERS);
  return Object.keys(input).length === 0 ? tool : oneLine(`${tool}: ${JSON.stringify(input)}`, TITLE_CHARACTERS);
}

/** Adds up usage that is reported step by step. */
export function createTally(): (step: Readonly<Record<string, Json>>) => Usage {
  const sum: Record<string, number> = {};
  return (step) => {
    for (const [name, value] of Object.entries(step)) if (typeof value === 'number') sum[name] = (sum[name] ?? 0) + value;
    return { ...sum };
  };
}
