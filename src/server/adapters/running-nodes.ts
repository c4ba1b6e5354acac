import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeFolder } from './folders.ts';
import { writeSecretFile } from './secret-files.ts';

/** A node that runs on this machine, as it registered itself for other programs of the same user. */
export interface RunningNode {
  readonly pid: number;
  /** The start time of the process, if the system tells: the operating system reuses process ids. */
  readonly started: string;
  readonly url: string;
  readonly agents: readonly string[];
  /** The data folder, an absolute path. Absent with `memory`. */
  readonly folder?: string;
}

/**
 * Registers this node in a file beside the token and returns a function that removes it. Only the owner
 * can write there, so no other user can register a node.
 */
export function noteNode(authFolder: string, node: Pick<RunningNode, 'url' | 'agents' | 'folder'>): () => void {
  const path = join(authFolder, 'nodes', `${process.pid}-${new URL(node.url).port || '0'}.json`);
  const started = startOf(process.pid) ?? '';
  try {
    makeFolder(join(authFolder, 'nodes'));
    for (const stale of notes(authFolder)) if (!isAlive(stale.node)) rmSync(stale.path, { force: true });
    rmSync(path, { force: true });
    writeSecretFile(path, `${JSON.stringify({ pid: process.pid, started, ...node, ...absolute(node) })}\n`);
  } catch {
    // Without the file, other programs do not find the node by themselves. That is no reason to fail.
  }
  return () => {
    try {
      rmSync(path, { force: true });
    } catch {
      // As above. A reader of the file notices that the process is gone.
    }
  };
}

/** A reader of the note may work in another folder. */
function absolute({ url, folder }: Pick<RunningNode, 'url' | 'folder'>): Pick<RunningNode, 'url' | 'folder'> {
  return {
    url: url.startsWith('unix:') ? `unix:${resolve(url.slice('unix:'.length))}` : url,
    ...(folder === undefined ? {} : { folder: resolve(folder) }),
  };
}

/** The nodes of this user that are running now. */
export function runningNodes(authFolder: string): readonly RunningNode[] {
  return notes(authFolder).flatMap(({ node }) => (isAlive(node) ? [node] : []));
}

interface Note {
  readonly path: string;
  readonly node: RunningNode;
}

function notes(authFolder: string): readonly Note[] {
  const folder = join(authFolder, 'nodes');
  try {
    return readdirSync(folder).flatMap((name) => {
      const path = join(folder, name);
      const node = name.endsWith('.json') ? noteIn(path) : undefined;
      return node === undefined ? [] : [{ path, node }];
    });
  } catch {
    return [];
  }
}

function noteIn(path: string): RunningNode | undefined {
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isNode(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isNode(value: unknown): value is RunningNode {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, started, url, agents } = value as Partial<RunningNode>;
  return Number.isInteger(pid) && typeof started === 'string' && URL.canParse(url ?? '') && Array.isArray(agents);
}

/** Whether the process still runs. The start time detects a reused process id. */
function isAlive({ pid, started }: RunningNode): boolean {
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return (startOf(pid) ?? started) === started;
}

/**
 * proc(5): the process name is in parentheses and may contain any character. The start time is the 20th
 * field after it, in ticks since boot.
 */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''} ${boot}`;
  } catch {
    return undefined;
  }
}
