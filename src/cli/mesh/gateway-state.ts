import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MeshPeer, PeerChange } from '#mesh';
import type { AgentCard } from '#protocol';
import { makeFolder } from '../../server/adapters/folders.ts';
import { CliError } from '../command.ts';

/** An agent of the mesh as it was when the gateway last ran. */
export interface SavedPeer {
  readonly name: string;
  readonly card: AgentCard;
  readonly isHere: boolean;
}

/**
 * What a gateway saves, so that a restarted one can continue before any agent announces itself: its id, under which replies arrive, and the
 * agents whose tasks it has.
 */
export interface GatewayState {
  readonly id: string | undefined;
  readonly peers: readonly SavedPeer[];
  /** Writes the file anew under this id. From then on every change is written before `record` returns. */
  begin(id: string): void;
  record(change: PeerChange): void;
}

type Line = { readonly id: string } | { readonly here: { readonly name: string; readonly card: AgentCard } } | { readonly left: string };

const FILE = 'gateway.jsonl';
/** The file is rewritten when it has this many more lines than twice the number of agents: most lines are outdated then. */
const STALE_MAX = 10_000;
/** Agents that left stay in the file, because the gateway may have tasks of theirs. This is how many are kept. */
const LEFT_MAX = 1000;

/** Reads the state in a folder. Without a folder the state is in memory only. */
export function openGatewayState(folder: string | undefined): GatewayState {
  const path = folder === undefined ? undefined : join(folder, FILE);
  const { id, peers } = path === undefined ? { id: undefined, peers: new Map<string, SavedPeer>() } : read(path);
  const atStart = [...peers.values()];
  let own: string | undefined;
  let lines = 0;
  const rewrite = (): void => {
    if (path === undefined || folder === undefined || own === undefined) return;
    const departed = [...peers.values()].filter(({ isHere }) => !isHere);
    for (const { name } of departed.slice(0, Math.max(0, departed.length - LEFT_MAX))) peers.delete(name);
    const all = [{ id: own }, ...[...peers.values()].flatMap(linesOf)];
    makeFolder(folder);
    writeFileSync(`${path}.new`, all.map(lineText).join(''), { mode: 0o600 });
    renameSync(`${path}.new`, path);
    lines = all.length;
  };
  return {
    id,
    peers: atStart,
    begin: (name) => {
      own = name;
      rewrite();
    },
    record: ({ kind, peer }) => {
      if (peer.kind !== 'agent') return;
      const line = lineOf(kind, peer);
      apply(peers, line);
      if (path === undefined || own === undefined) return;
      appendFileSync(path, lineText(line));
      lines += 1;
      if (lines > peers.size * 2 + STALE_MAX) rewrite();
    },
  };
}

/** Replays the file. A file that does not exist is empty. */
function read(path: string): { readonly id: string | undefined; readonly peers: Map<string, SavedPeer> } {
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
  }
  const peers = new Map<string, SavedPeer>();
  let id: string | undefined;
  // A crash may have cut off the last line. Nobody relied on that change, because `record` had not returned.
  for (const line of text.split('\n').slice(0, -1)) {
    const said = parsed(line, path);
    if ('id' in said) ({ id } = said);
    else apply(peers, said);
  }
  return { id, peers };
}

function parsed(line: string, path: string): Line {
  try {
    return JSON.parse(line) as Line;
  } catch {
    throw new CliError(`${path} can't be read`, { hint: 'move it away: the gateway then learns again which agents are on the mesh' });
  }
}

/** Adds a peer, or notes that it has left. */
function apply(peers: Map<string, SavedPeer>, line: Exclude<Line, { readonly id: string }>): void {
  if ('here' in line) {
    peers.set(line.here.name, { ...line.here, isHere: true });
    return;
  }
  const known = peers.get(line.left);
  if (known === undefined) return;
  peers.delete(line.left); // to the end of the map: those that left first are dropped first
  peers.set(line.left, { ...known, isHere: false });
}

function lineOf(kind: PeerChange['kind'], { name, card }: MeshPeer): Exclude<Line, { readonly id: string }> {
  return kind === 'left' ? { left: name } : { here: { name, card } };
}

function linesOf({ name, card, isHere }: SavedPeer): readonly Line[] {
  return isHere ? [{ here: { name, card } }] : [{ here: { name, card } }, { left: name }];
}

function lineText(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}
