import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';

/** One process of this machine, as it was a moment ago. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  /** Start time, in the system's own unit. Together with the pid it identifies one process. */
  readonly started: string;
  readonly name: string;
  readonly isZombie: boolean;
  /** The run that it belongs to, if it has our mark in its environment and we may read that. */
  readonly mark: string | undefined;
}

export type Snapshot = ReadonlyMap<number, ProcessInfo>;

/** A variable in the environment of every program that we start, which its children inherit. */
export const MARK = 'PARLEY_RUN';

let running: Promise<Snapshot> | undefined;
let next: Promise<Snapshot> | undefined;

/**
 * Reads all processes. Concurrent callers share one scan, but never one that started before they
 * called.
 */
export function snapshot(): Promise<Snapshot> {
  if (running === undefined) {
    running = look().finally(() => {
      running = undefined;
    });
    return running;
  }
  next ??= running
    .catch(() => undefined)
    .then(() => {
      next = undefined;
      return snapshot();
    });
  return next;
}

async function look(): Promise<Snapshot> {
  if (process.platform !== 'linux') return await lookByPs();
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const seen = await Promise.all(names.map((name) => readProcess(Number(name))));
  return new Map(seen.filter((each) => each !== undefined).map((each) => [each.pid, each]));
}

/** One process, or undefined if it is gone. */
async function readProcess(pid: number): Promise<ProcessInfo | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // proc(5): the name is in parentheses and may hold anything, even `) `; what follows the last one is numbers.
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    const name = stat.slice(stat.indexOf('(') + 1, end);
    const mark = markIn(await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''));
    return { pid, parent: Number(fields[1]), started: fields[19] ?? '', name, isZombie: fields[0] === 'Z', mark };
  } catch {
    return undefined;
  }
}

function markIn(environment: string): string | undefined {
  const start = environment.startsWith(`${MARK}=`) ? 0 : environment.indexOf(`\0${MARK}=`) + 1;
  if (start === 0 && !environment.startsWith(`${MARK}=`)) return undefined;
  const end = environment.indexOf('\0', start);
  return environment.slice(start + MARK.length + 1, end === -1 ? undefined : end);
}

/** Other systems show the tree, but not the environment. */
function lookByPs(): Promise<Snapshot> {
  return new Promise((resolve) => {
    execFile('ps', ['-A', '-o', 'pid=,ppid=,state=,lstart=,comm='], { maxBuffer: 1 << 24 }, (_error, out) => {
      const seen = out.split('\n').flatMap((line) => {
        const [, pid, parent, state, started, name] = /^ *(\d+) +(\d+) +(\S+) +(.{24}) (.*)$/s.exec(line) ?? [];
        if (pid === undefined) return [];
        return [
          {
            pid: Number(pid),
            parent: Number(parent),
            started: started ?? '',
            name: name ?? '',
            isZombie: state?.[0] === 'Z',
            mark: undefined,
          },
        ];
      });
      resolve(new Map(seen.map((each) => [each.pid, each])));
    });
  });
}

/** The process, its descendants, and all processes with its mark, wherever they have moved. */
export function treeOf(all: Snapshot, { pid, mark }: { readonly pid: number | undefined; readonly mark: string }): readonly ProcessInfo[] {
  const members = new Map<number, ProcessInfo>();
  const children = new Map<number, ProcessInfo[]>();
  for (const each of all.values()) {
    const siblings = children.get(each.parent);
    if (siblings === undefined) children.set(each.parent, [each]);
    else siblings.push(each);
    if (each.mark === mark) members.set(each.pid, each);
  }
  const root = pid === undefined ? undefined : all.get(pid);
  if (root !== undefined) members.set(root.pid, root);
  for (const member of members.values()) for (const child of children.get(member.pid) ?? []) members.set(child.pid, child);
  return [...members.values()].filter(({ isZombie }) => !isZombie);
}
