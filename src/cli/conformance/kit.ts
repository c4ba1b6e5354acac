import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CliError, usage } from '../command.ts';

/** Runs the official kit from its checkout. Its output goes to standard error. Returns its exit code. */
export async function runKit(folder: string, agent: string): Promise<number> {
  const script = join(resolve(folder), 'run_tck.py');
  if (!existsSync(script))
    throw usage(
      `--tck: there is no run_tck.py in ${resolve(folder)}`,
      'git clone https://github.com/a2aproject/a2a-tck, and name that folder',
    );
  const python =
    [join(resolve(folder), '.venv/bin/python'), join(resolve(folder), '.venv/Scripts/python.exe')].find(existsSync) ?? 'python3';
  const child = spawn(python, [script, '--sut-host', agent], { cwd: resolve(folder), stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.pipe(process.stderr);
  child.stderr.pipe(process.stderr);
  return await new Promise((done, reject) => {
    child.on('error', (cause) =>
      reject(
        new CliError(`the kit can't be started: ${cause.message}`, {
          hint: 'it needs Python 3.11 and its own environment; its README says how',
          cause,
        }),
      ),
    );
    child.on('close', (code) => done(code === 0 ? 0 : 1));
  });
}
