import type { JsonObject, Turn } from '#protocol';
import { A2AError } from '#protocol';

/**
 * The settings that a request may choose, as members of its message's or its own metadata.
 * docs/coding-agents.md lists them.
 */
export interface RequestSettings {
  /** Model of the coding agent, by its own name. */
  readonly model?: string;
  /** Mode of the coding agent, for example `plan`. */
  readonly mode?: string;
  /** Working folder, inside the allowed roots. */
  readonly cwd?: string;
  /** The run stops when its reported cost exceeds this amount. */
  readonly budgetUsd?: number;
  /** Maximum number of model turns. */
  readonly turnsMax?: number;
  /** Maximum duration of the run in milliseconds, not counting waits for the caller. */
  readonly timeoutMs?: number;
  /** Maximum time without output in milliseconds. */
  readonly idleMs?: number;
  /** Work in a separate git worktree. */
  readonly worktree?: boolean;
}

/** Refuses values that could be taken for an option, a path or a shell word. */
const NAME = /^[A-Za-z0-9][\w.:/@+[\]-]{0,127}$/;
const LONGEST_MS = 24 * 3_600_000;

/**
 * The settings of a task's first message also apply to later messages in the task, unless they choose
 * again.
 */
export function settingsIn({ message, task, history }: Turn): RequestSettings {
  const first = history.find(({ role }) => role === 'ROLE_USER')?.metadata;
  const given: JsonObject = { ...task.metadata, ...first, ...message.metadata };
  const name = (key: string): string | undefined => {
    const value = given[key];
    if (value === undefined) return undefined;
    if (typeof value === 'string' && NAME.test(value)) return value;
    throw wrong(key, 'a name of letters, digits and . : / @ + - _');
  };
  const number = (key: string, max: number): number | undefined => {
    const value = given[key];
    if (value === undefined) return undefined;
    if (typeof value === 'number' && value > 0 && value <= max) return value;
    throw wrong(key, `a number above 0 and of at most ${max}`);
  };
  const folder = given['cwd'] ?? given['repoPath'];
  if (folder !== undefined && (typeof folder !== 'string' || folder === '')) throw wrong('cwd', 'a path');
  const worktree = given['worktree'];
  if (worktree !== undefined && typeof worktree !== 'boolean') throw wrong('worktree', 'true or false');
  return defined({
    model: name('model'),
    mode: name('mode'),
    cwd: folder,
    budgetUsd: number('budgetUsd', 100_000),
    turnsMax: number('turnsMax', 10_000),
    timeoutMs: number('timeoutMs', LONGEST_MS),
    idleMs: number('idleMs', LONGEST_MS),
    worktree,
  });
}

function wrong(key: string, expected: string): A2AError {
  return new A2AError('INVALID_PARAMS', `metadata.${key} must be ${expected}`, { field: `message.metadata.${key}` });
}

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

function defined<T extends object>(members: T): Defined<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>;
}
