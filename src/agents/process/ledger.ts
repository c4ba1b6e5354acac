import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import { objectIn } from './json-line.ts';
import { killTree } from './kill.ts';

/**
 * Records of started programs, for the case that the server dies: one file per run, on disk before the
 * program starts.
 */
export interface Ledger {
  /**
   * Returns the mark of the run when it is on disk. From then on the program can be found, even if the
   * server dies.
   */
  intend(run: string): string;
  /** Adds the process id to the record of a run. */
  started(run: string, pid: number): void;
  /** Deletes the record of a run. */
  ended(run: string): void;
  /** Kills programs that dead servers left behind. Resolves with the number of processes. */
  reap(): Promise<number>;
}

/**
 * `folder` may be shared by several servers, one after another or at the same time. Each has its own
 * folder in it, named after its process, and only those of dead servers are read.
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

/** Kills what a dead server left behind, by process id and by mark, and removes its records. */
async function reapServer(folder: string): Promise<number> {
  let count = 0;
  for (const name of listed(folder)) {
    const entry = objectIn(readFileSync(join(folder, name), 'utf8'));
    // A server that died while writing had not started the program yet.
    const mark = typeof entry?.['mark'] === 'string' ? entry['mark'] : `${basename(folder)}.${basename(name, '.json')}`;
    const pid = typeof entry?.['pid'] === 'number' && startOf(entry['pid']) === entry['started'] ? entry['pid'] : undefined;
    count += await killTree({ pid, mark }, { graceMs: 0 });
  }
  rmSync(folder, { recursive: true, force: true });
  return count;
}

/** Pids are reused. Together with the start time, a pid identifies one process. */
function serverName(pid: number): string {
  return `${pid}-${startOf(pid) ?? 0}`;
}

function isAlive(name: string): boolean {
  const pid = Number.parseInt(name, 10);
  return Number.isSafeInteger(pid) && pid > 0 && serverName(pid) === name && isThere(pid);
}

/**
 * proc(5): field 22, in clock ticks since the machine was started. Undefined: no such process, or no
 * /proc.
 */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

/** Whether a process exists. EPERM means that it does, but belongs to another user. */
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
