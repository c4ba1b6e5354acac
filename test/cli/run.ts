import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';

export const BIN: string = fileURLToPath(new URL('../../bin/parley', import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the real program as a user would, on the Node of the tests or on another one. */
export function parley(args: readonly string[], input = '', node: string = process.execPath): Ran {
  const { status, stdout, stderr } = spawnSync(node, [BIN, ...args], { input, encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}

/** An empty home folder, without .env and tokens. */
export const HOME: string = mkdtempSync(join(tmpdir(), 'parley-cli-'));

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
  readonly timeoutMs?: number;
}

export interface Started {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly ended: Promise<Ran>;
  /** Waits until the output matches. */
  until(pattern: RegExp, stream?: 'out' | 'err'): Promise<string>;
}

/** Only the variables that a program needs, so that settings of the machine do not interfere. */
function environment(env: RunOptions['env'] = {}): NodeJS.ProcessEnv {
  const { PATH, LANG } = process.env;
  return { PATH, LANG, HOME, TZ: 'UTC', ...env };
}

/** Starts the real program without waiting, beside the servers of this test. */
export function start(args: readonly string[], { env, input, cwd = HOME, timeoutMs = 90_000 }: RunOptions = {}): Started {
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env: environment(env), stdio: ['pipe', 'pipe', 'pipe'] });
  const text = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text.out += more;
  });
  child.stderr.setEncoding('utf8').on('data', (more: string) => {
    text.err += more;
  });
  if (input !== undefined) child.stdin.end(input);
  else if (!args.includes('chat')) child.stdin.end();
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const ended = new Promise<Ran>((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, out: text.out, err: text.err });
    });
  });
  return {
    child,
    ended,
    out: () => text.out,
    err: () => text.err,
    until: async (pattern, stream = 'out') => {
      await eventually(() => pattern.test(text[stream]) || child.exitCode !== null, timeoutMs);
      if (!pattern.test(text[stream])) throw new Error(`${pattern} never came: ${JSON.stringify(text)}`);
      return text[stream];
    },
  };
}

export async function run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return await start(args, options).ended;
}

/** The only JSON document on standard output. */
export function jsonOf<T = Record<string, unknown>>({ out }: Ran): T {
  return JSON.parse(out) as T;
}

/** JSON lines. */
export function linesOf<T = Record<string, unknown>>({ out }: Ran): readonly T[] {
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** `Label: value` of the text format; the last one of that name. */
export function fieldOf({ out }: Ran, label: string): string | undefined {
  return [...out.matchAll(new RegExp(`^${label}: (.*)$`, 'gm'))].at(-1)?.[1];
}

/** The task of a send with --async. */
export async function begun(url: string, text: string): Promise<{ readonly task: string; readonly context: string }> {
  const sent = await run(['send', '-a', url, '--async', text]);
  return { task: fieldOf(sent, 'Task') ?? '', context: fieldOf(sent, 'Context') ?? '' };
}
