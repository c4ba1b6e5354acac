import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { plain } from './plain-text.ts';

/** A place in a file of the user. */
interface Frame {
  readonly where: string;
  readonly file: string;
  readonly line: number;
}

/** The folders of this package's own code. */
const OWN = ['../../../src/', '../../../dist/'].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));
/** The place at the end of a line: a row, and perhaps a column. */
const POSITION = /:(\d{1,9})(?::(\d{1,9}))?$/;
const FRAMES_MAX = 6;

/** An error as a log line holds it. */
export interface LoggedError {
  readonly name?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly cause?: unknown;
}

/** An error for people: what was thrown, the line of the user's code, and the user's part of the stack. Paths are relative to `cwd`. */
export function readableStack({ name = 'Error', message = '', stack = '', cause }: LoggedError, cwd: string): string {
  const frames = stack.split('\n').flatMap((line) => frameOf(line, cwd));
  const [first] = frames;
  const lines = [
    `${name}: ${plain(message)}`,
    ...(first === undefined ? [] : excerpt(first)),
    ...frames.slice(0, FRAMES_MAX).map(({ where }) => `    at ${where}`),
  ];
  if (cause === undefined) return lines.join('\n');
  const inner = typeof cause === 'object' && cause !== null ? readableStack(cause, cwd) : plain(String(cause));
  return `${lines.join('\n')}\ncaused by ${inner}`;
}

/** Frames of Node, of packages and of Parley say nothing about the user's mistake. */
function frameOf(line: string, cwd: string): readonly Frame[] {
  const found = placeIn(line);
  if (found === undefined) return [];
  const { name, path, row, column } = found;
  if (path.includes('node_modules') || OWN.some((folder) => path.startsWith(folder))) return [];
  const near = relative(cwd, path);
  const place = `${near.startsWith('..') ? path : near}:${row}:${column}`;
  return [{ where: name === '' ? place : `${name} (${place})`, file: path, line: Number(row) }];
}

interface StackPlace {
  readonly name: string;
  readonly path: string;
  readonly row: string;
  readonly column: string;
}

/** Reads `at NAME (file:///PATH:ROW:COLUMN)`, the same without a name, and `PATH:ROW`, the first line of a syntax error's stack. */
function placeIn(line: string): StackPlace | undefined {
  const text = line.trim();
  const isFrame = text.startsWith('at ');
  const rest = isFrame ? text.slice('at '.length) : text;
  const open = rest.endsWith(')') ? rest.lastIndexOf('(') : -1;
  const at = open === -1 ? rest : rest.slice(open + 1, -1);
  const position = POSITION.exec(at);
  const [, row = '', column] = position ?? [];
  // Only the first line of a syntax error has no column.
  if (position === null || isFrame !== (column !== undefined)) return undefined;
  const [path = ''] = at
    .slice(0, position.index)
    .replace(/^file:\/\//, '')
    .split('?');
  if (!/^(?:\/|[A-Z]:\\)./.test(path)) return undefined;
  return { name: open === -1 ? '' : rest.slice(0, open).trim(), path, row, column: column ?? '1' };
}

/** The line of the file, if it can be read: Node leaves the lines of TypeScript files where they are. */
function excerpt({ file, line }: Frame): readonly string[] {
  const text = existsSync(file) ? readFileSync(file, 'utf8').split('\n')[line - 1] : undefined;
  return text === undefined || text.trim() === '' ? [] : [`  ${line} | ${text.trim()}`];
}
