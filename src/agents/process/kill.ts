import { snapshot, treeOf } from './snapshot.ts';

export interface KillTarget {
  /** Undefined: known by its mark alone. */
  readonly pid: number | undefined;
  readonly mark: string;
}

export interface KillOptions {
  /** Between SIGTERM and SIGKILL. 0: SIGKILL at once. */
  readonly graceMs?: number;
}

const GRACE_MS = 2000;
const GIVE_UP_MS = 5000;
const LOOK_MS = 20;

/**
 * Ends a run's whole tree: SIGTERM, some time to put things in order, SIGKILL. Not by the process group alone: whoever calls setsid
 * leaves that, but keeps the mark in its environment. Resolves when none is left, with how many were.
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
      // The sandbox's own process takes all within down at once, unasked; it ends when they have.
      else if (!asked.has(pid) && name !== 'bwrap') {
        asked.add(pid);
        signal(pid, 'SIGTERM');
      }
    }
    if (performance.now() - began > graceMs + GIVE_UP_MS)
      throw new Error(`processes ${members.map(({ pid }) => pid).join(', ')} do not end`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}
