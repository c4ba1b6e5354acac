import { snapshot, treeOf } from './snapshot.ts';

/** A program and everything that it started. */
export interface KillTarget {
  /** Undefined: found only by its mark. */
  readonly pid: number | undefined;
  readonly mark: string;
}

/** Options of `killTree`. */
export interface KillOptions {
  /** Time between SIGTERM and SIGKILL in milliseconds. Default 2,000. 0: SIGKILL at once. */
  readonly graceMs?: number;
}

const GRACE_MS = 2000;
const GIVE_UP_MS = 5000;
const LOOK_MS = 20;

/**
 * Kills the whole process tree of a run: SIGTERM, a grace period, SIGKILL. The process group is not
 * enough: a process that calls setsid leaves it, but keeps the mark in its environment. Resolves with
 * the number of processes when none is left.
 */
export async function killTree(target: KillTarget, { graceMs = GRACE_MS }: KillOptions = {}): Promise<number> {
  const began = performance.now();
  const met = new Set<number>();
  const asked = new Set<number>();
  for (;;) {
    const members = treeOf(await snapshot(), target);
    for (const { pid } of members) met.add(pid);
    if (members.length === 0) return met.size;
    const isPatient = performance.now() - began < graceMs;
    for (const { pid, name } of members) {
      if (!isPatient) signal(pid, 'SIGKILL');
      // The sandbox's own process kills everything inside at once, and ends after them.
      else if (!asked.has(pid) && name !== 'bwrap') {
        asked.add(pid);
        signal(pid, 'SIGTERM');
      }
    }
    if (performance.now() - began > graceMs + GIVE_UP_MS)
      throw new Error(`processes ${members.map(({ pid }) => pid).join(', ')} could not be killed`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has already ended.
  }
}
