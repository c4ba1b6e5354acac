import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import { objectIn } from './json-line.ts';
import { killTree } from './kill.ts';

/** What was started by a server that may be gone: one file a run, on disk before the run's program is begun. */
export interface Ledger {
  /** Returns the mark of the run, once it is on disk: from here on its program is found, whenever the server dies. */
  intend(run: string): string;
  started(run: string, pid: number): void;
  ended(run: string): void;
  /** Ends what servers left behind that are no more. Resolves with how many processes that were. */
  reap(): Promise<number>;
}

/**
 * `folder` may be shared by servers that come after each other or stand side by side: each has a folder of its own in it, named after
 * its process, and only those of dead ones are looked into.
 */
export function openLedger(folder: string): Ledger {
  const self = serverName(process.pid);
  const mine = join(folder, self);
  const marks = new Map<string, string>();
  const write = (run: string, entry: object): void => {
    mkdirSync(mine, { recursive: true, mode: 0o700 });
    const file = openSync(join(mine, `${run}.json`), 'w', 0o600);
    try {
      writeSync(file, JSON.stringify(entry));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  };
  return {
    intend: (run) => {
      const mark = `${self}.${run}`;
      write(run, { mark });
      marks.set(run, mark);
      return mark;
    },
    started: (run, pid) => write(run, { mark: marks.get(run) ?? '', pid, started: startOf(pid) ?? '' }),
    ended: (run) => {
      marks.delete(run);
      rmSync(join(mine, `${run}.json`), { force: true });
    },
    reap: async () => {
      let count = 0;
      for (const name of listed(folder)) {
        if (name === self || isAlive(name)) continue;
        count += await reapServer(join(folder, name));
      }
      return count;
    },
  };
}

async function reapServer(folder: string): Promise<number> {
  let count = 0;
  for (const name of listed(folder)) {
    const entry = objectIn(readFileSync(join(folder, name), 'utf8'));
    // A server that died while it wrote had not started anything yet, or had written it before.
    const mark = typeof entry?.['mark'] === 'string' ? entry['mark'] : `${basename(folder)}.${basename(name, '.json')}`;
    const pid = typeof entry?.['pid'] === 'number' && startOf(entry['pid']) === entry['started'] ? entry['pid'] : undefined;
    count += await killTree({ pid, mark }, { graceMs: 0 });
  }
  rmSync(folder, { recursive: true, force: true });
  return count;
}

/** A pid is given to another process in time; with its start it names one for good. */
function serverName(pid: number): string {
  return `${pid}-${startOf(pid) ?? 0}`;
}

function isAlive(name: string): boolean {
  const pid = Number.parseInt(name, 10);
  return Number.isSafeInteger(pid) && pid > 0 && serverName(pid) === name && isThere(pid);
}

/** proc(5): field 22, in clock ticks since the machine was started. Undefined: no such process, or no /proc. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
