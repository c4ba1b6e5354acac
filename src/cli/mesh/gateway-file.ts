import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MeshPeer, PeerChange } from '#mesh';
import type { AgentCard } from '#protocol';
import { CliError } from '../command.ts';

/** An agent of the mesh as it was when the gateway last ran. */
export interface KeptPeer {
  readonly name: string;
  readonly card: AgentCard;
  readonly isHere: boolean;
}

/** What a gateway has to know before it hears of anybody: what it is called, since answers come under that name, and whose tasks it has. */
export interface Kept {
  readonly id: string | undefined;
  readonly peers: readonly KeptPeer[];
  /** From now on the file is ours: everything that changes is in it before anybody can rely on it. */
  begin(id: string): void;
  note(change: PeerChange): void;
}

type Line = { readonly id: string } | { readonly here: { readonly name: string; readonly card: AgentCard } } | { readonly left: string };

const FILE = 'gateway.jsonl';
/** Lines that say nothing new are cleared away when there are so many more than agents. */
const STALE_MAX = 10_000;
/** Agents that are gone are remembered for their tasks; but not all that ever were. */
const GONE_MAX = 1000;

/** Kept in memory alone without a folder. */
export function keptIn(folder: string | undefined): Kept {
  const path = folder === undefined ? undefined : join(folder, FILE);
  const { id, peers } = path === undefined ? { id: undefined, peers: new Map<string, KeptPeer>() } : read(path);
  const atStart = [...peers.values()];
  let own: string | undefined;
  let lines = 0;
  const rewrite = (): void => {
    if (path === undefined || folder === undefined || own === undefined) return;
    const gone = [...peers.values()].filter(({ isHere }) => !isHere);
    for (const { name } of gone.slice(0, Math.max(0, gone.length - GONE_MAX))) peers.delete(name);
    const all = [{ id: own }, ...[...peers.values()].flatMap(linesOf)];
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.new`, all.map(written).join(''), { mode: 0o600 });
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
    note: ({ kind, peer }) => {
      if (peer.kind !== 'agent') return;
      const line = lineOf(kind, peer);
      take(peers, line);
      if (path === undefined || own === undefined) return;
      appendFileSync(path, written(line));
      lines += 1;
      if (lines > peers.size * 2 + STALE_MAX) rewrite();
    },
  };
}

function read(path: string): { readonly id: string | undefined; readonly peers: Map<string, KeptPeer> } {
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
  }
  const peers = new Map<string, KeptPeer>();
  let id: string | undefined;
  // A crash may have cut the last line off; whatever it was about had not begun.
  for (const line of text.split('\n').slice(0, -1)) {
    const said = parsed(line, path);
    if ('id' in said) ({ id } = said);
    else take(peers, said);
  }
  return { id, peers };
}

function parsed(line: string, path: string): Line {
  try {
    return JSON.parse(line) as Line;
  } catch {
    throw new CliError(`${path} can't be read`, { hint: 'move it away: the gateway then hears anew who is there' });
  }
}

function take(peers: Map<string, KeptPeer>, line: Exclude<Line, { readonly id: string }>): void {
  if ('here' in line) {
    peers.set(line.here.name, { ...line.here, isHere: true });
    return;
  }
  const known = peers.get(line.left);
  if (known === undefined) return;
  peers.delete(line.left); // to the end: who left last is remembered longest
  peers.set(line.left, { ...known, isHere: false });
}

function lineOf(kind: PeerChange['kind'], { name, card }: MeshPeer): Exclude<Line, { readonly id: string }> {
  return kind === 'left' ? { left: name } : { here: { name, card } };
}

function linesOf({ name, card, isHere }: KeptPeer): readonly Line[] {
  return isHere ? [{ here: { name, card } }] : [{ here: { name, card } }, { left: name }];
}

function written(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}
