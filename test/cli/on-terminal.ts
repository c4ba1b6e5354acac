import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Ran } from './run.ts';
import { BIN, HOME } from './run.ts';

const PTY = fileURLToPath(new URL('terminal.py', import.meta.url));

export const HAS_PYTHON: boolean = spawnSync('python3', ['--version']).status === 0;

type OnTerminal = (args: readonly string[], ...steps: readonly string[]) => Promise<Ran>;

/** Runs on a terminal of its own. Each step is a text to wait for and a text to type then. */
export function terminalIn(cwd: string, noColor = ''): OnTerminal {
  return (args, ...steps) => {
    const child = spawn('python3', [PTY, process.execPath, BIN, ...args, '--', ...steps], {
      env: { ...process.env, HOME, TERM: 'xterm', NO_COLOR: noColor },
      cwd,
    });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err: '' })));
  };
}

export const onTerminal: OnTerminal = terminalIn(HOME);
