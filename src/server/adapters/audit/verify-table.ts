import type { AuditRecord } from '#protocol';
import type { AuditChain, SharedAudit } from '../../../engine/adapters/postgres.ts';
import type { ChainEnd } from '../../audit/chain.ts';
import { follow, GENESIS } from '../../audit/chain.ts';
import { BEGUN, PRUNED, sha256 } from './read.ts';

/** What was found about one chain. */
export interface ChainVerdict {
  readonly chain: number;
  readonly node: string;
  readonly records: number;
  /** The last valid hash. */
  readonly head: string;
  /** What is wrong first, if something is. */
  readonly problem?: string;
}

/** A record of a chain that a record of another chain names. */
interface Reference {
  readonly by: number;
  readonly chain: number;
  readonly seq: number;
  readonly hash: string;
}

/** What the records of all chains say about each other. */
interface Statements {
  readonly begun: Reference[];
  /** Of each deletion: `CHAIN:HASH` to the number of the last deleted record. */
  readonly pruned: Map<string, number>;
}

/** Verifies every chain, and that no chain lacks what another one has seen of it. */
export async function verifyTable(shared: SharedAudit): Promise<readonly ChainVerdict[]> {
  const chains = await shared.chains();
  const said: Statements = { begun: [], pruned: new Map() };
  const verdicts = new Map<number, ChainVerdict>();
  for (const chain of chains) verdicts.set(chain.chain, await verifyChain(shared, chain, said));
  for (const { chain, node, start, startHash } of chains) {
    if (start === 0 || said.pruned.get(`${chain}:${startHash}`) === start) continue;
    const words = `it starts after record ${start}, and no record says that older ones were deleted`;
    blame(verdicts, { chain, node, words });
  }
  for (const { by, chain, seq, hash } of said.begun) {
    const start = chains.find((each) => each.chain === chain)?.start ?? 0;
    const isDeleted = seq <= start || [...said.pruned].some(([key, last]) => key.startsWith(`${chain}:`) && last >= seq);
    if (isDeleted || (await shared.hashOf(chain, seq)) === hash) continue;
    blame(verdicts, { chain, node: '', words: `its record ${seq}, which chain ${by} names, was changed or removed` });
  }
  return [...verdicts.values()].toSorted((one, other) => one.chain - other.chain);
}

interface Blame {
  readonly chain: number;
  readonly node: string;
  readonly words: string;
}

/** The first problem of a chain counts. */
function blame(verdicts: Map<number, ChainVerdict>, { chain, node, words }: Blame): void {
  const known = verdicts.get(chain) ?? { chain, node, records: 0, head: GENESIS.hash };
  if (known.problem === undefined) verdicts.set(chain, { ...known, problem: words });
}

async function verifyChain(shared: SharedAudit, { chain, node, start, startHash }: AuditChain, said: Statements): Promise<ChainVerdict> {
  let end: ChainEnd = start === 0 ? GENESIS : { seq: start, hash: startHash, open: '' };
  const verdict = (problem?: string): ChainVerdict => {
    const about = { chain, node, records: end.seq - start, head: end.hash };
    return problem === undefined ? about : { ...about, problem };
  };
  for (let rows = await shared.of(chain, start); rows.length > 0; rows = await shared.of(chain, rows.at(-1)?.first ?? 0)) {
    for (const { first, last, lines, hash } of rows) {
      for (const line of lines.trimEnd().split('\n')) {
        const found = follow(line, end, sha256);
        if (typeof found === 'string') return verdict(`record ${end.seq + 1}: ${found}`);
        end = found;
        note(line, said);
      }
      if (end.seq !== last || end.hash !== hash || end.open !== '') return verdict(`records ${first} to ${last} were changed`);
    }
  }
  return verdict(end.seq === 0 ? 'it has no record, although each process begins with one' : undefined);
}

function note(line: string, { begun, pruned }: Statements): void {
  const { action, object = '', reason = '', chain: by = 0 } = JSON.parse(line) as AuditRecord;
  const [, chain, seq] = /^(\d+):(\d+)$/.exec(object) ?? [];
  if (chain === undefined) return;
  if (action === BEGUN) begun.push({ by, chain: Number(chain), seq: Number(seq), hash: reason });
  if (action === PRUNED) pruned.set(`${chain}:${reason}`, Number(seq));
}
