import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scratchFolder } from '../scratch.ts';

/** A folder on the PATH that holds fake coding CLIs. */
export interface FakePrograms {
  readonly bin: string;
  /** The environment of this process, with that folder first on the PATH. */
  readonly env: NodeJS.ProcessEnv;
}

/** Puts a shell script in the place of each program. */
export function fakePrograms(names: Iterable<string>, script: (name: string) => string): FakePrograms {
  const bin = join(realpathSync(scratchFolder()), 'bin');
  mkdirSync(bin);
  for (const name of names) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script(name)}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return { bin, env: { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}` } };
}

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** A CLI that speaks the Agent Client Protocol and obeys the words of its prompt. */
export const FAKE_ACP: readonly string[] = [
  process.execPath,
  '--conditions=our-src',
  '--disable-warning=ExperimentalWarning',
  file('acp-agent.ts'),
];

/** A shell command that replays a recording in place of a native CLI. */
export function replaying(program: string): string {
  return `exec ${process.execPath} --disable-warning=ExperimentalWarning ${file('replay.ts')} ${program} "$@"`;
}
