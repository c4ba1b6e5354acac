import { fileURLToPath } from 'node:url';
import type { Parley, RunOptions } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import type { Child } from '../support/processes.ts';
import { startNode } from '../support/processes.ts';

export interface ParleyOptions extends RunOptions {
  /** The served agents. Default: `script`. */
  readonly agent?: string;
  /** Absent: tasks are stored in memory. */
  readonly data?: string;
  readonly limits?: Readonly<Record<string, number>>;
}

/** Starts `parley serve`. Resolves when it accepts requests. */
export async function startParley(options: ParleyOptions = {}): Promise<Parley> {
  return await parleyServe(spelled(options));
}

function spelled({ agent = 'script', data, limits = {}, args = [], ...rest }: ParleyOptions): RunOptions {
  const kept = data === undefined ? ['--memory'] : ['--data', data];
  const limited = Object.entries(limits).flatMap(([name, value]) => ['--limit', `${name}=${value}`]);
  return { ...rest, args: [...(rest.entry === undefined ? [agent] : []), ...kept, ...limited, ...args] };
}

/** Starts a program of `children/` with this Node. `before` is a command in front of it, such as a tracer or setpriv. */
export function startChild(name: string, args: readonly string[], before: readonly string[] = []): Child {
  return startNode([childFile(`${name}.ts`), ...args], { before });
}

/** The path of a file in `children/`. */
export function childFile(name: string): string {
  return fileURLToPath(new URL(`children/${name}`, import.meta.url));
}
