import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Child } from '../process/child.ts';
import { startChild } from '../process/child.ts';
import type { Environment } from '../process/environment.ts';
import { allowedEnvironment } from '../process/environment.ts';
import type { Ledger } from '../process/ledger.ts';
import type { Run } from '../workspace/git.ts';
import type { Sandbox } from '../workspace/sandbox.ts';
import type { Driver } from './driver.ts';

/** What all programs of one agent are started with. */
export interface Launching {
  readonly driver: Driver;
  readonly sandbox: Sandbox;
  readonly ledger: Ledger;
  readonly env: Environment;
  readonly isTrusted: boolean;
  readonly network: boolean;
}

/** Folders of one run. */
export interface Workplace {
  readonly folder: string;
  readonly writable: readonly string[];
}

/** A command and the variables that are set for it. */
export interface LaunchCommand {
  readonly argv: readonly string[];
  readonly env?: Environment;
}

/**
 * Starts the agent's own program in the sandbox, with the parts of the environment and of the home
 * folder that it needs.
 */
export function launch(launching: Launching, { folder, writable }: Workplace, { argv, env: more = {} }: LaunchCommand): Child {
  const { driver, sandbox, ledger, env, isTrusted, network } = launching;
  const masked = isTrusted ? [] : driver.projectConfig;
  const wrapped = sandbox.wrap(argv, { folder, writable, homePaths: driver.homePaths, masked, network });
  return startChild({ argv: wrapped, cwd: folder, env: { ...allowedEnvironment(env, driver.environment), ...more } }, ledger);
}

/**
 * A project's own configuration can name programs that the agent runs without asking. If neither the
 * agent nor the sandbox prevents that, the run must not start. The message names the file.
 */
export function untrusted({ driver, sandbox, isTrusted }: Launching, folder: string): string | undefined {
  if (isTrusted || driver.ignoresProject === true || sandbox.level === 'bubblewrap') return undefined;
  const found = driver.projectConfig.find((path) => existsSync(join(folder, path)));
  if (found === undefined) return undefined;
  return `${found} in the working folder could make ${driver.name} run programs unasked. Serve with --trust if you trust the folder, or install bubblewrap.`;
}

/**
 * For our own commands, such as git: sandboxed like the agent, without its credentials. All of them may
 * write to `always`.
 */
export function confinedRun({ sandbox, ledger, env }: Pick<Launching, 'sandbox' | 'ledger' | 'env'>, always: readonly string[] = []): Run {
  return async (argv, { folder, env: own = {}, writable = [] }) => {
    const wrapped = sandbox.wrap(argv, { folder, writable: [...always, ...writable], network: false });
    const child = startChild({ argv: wrapped, cwd: folder, env: { ...allowedEnvironment(env), ...own } }, ledger);
    child.endInput();
    const chunks: Buffer[] = [];
    for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
    const exit = await child.exit;
    await child.swept;
    if (exit.kind === 'exited' && exit.code === 0) return Buffer.concat(chunks).toString('utf8');
    throw new Error(`${argv[0]}: ${JSON.stringify(exit)} ${child.lastErrors()}`);
  };
}
