import { hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import type { AuditPage, AuditRecord, AuditRequest } from '#protocol';
import type { ChainEnd } from '../../audit/chain.ts';
import { follow, GENESIS } from '../../audit/chain.ts';
import { auditFiles, fullFiles, readStart } from './files.ts';

const READ_BYTES = 65_536;
const LIMIT = 100;
const LIMIT_MAX = 1000;

export const sha256 = (text: string): string => hash('sha256', text, 'hex');

/** The end of a file. */
export interface FileTail {
  readonly chain: ChainEnd;
  /** The size of an incomplete last line, which a crash left behind. */
  readonly cut: number;
  readonly size: number;
  /** When its last record was made, in milliseconds. 0 for an empty file. */
  readonly at: number;
}

/** Finds the end of the chain in a file by reading backwards to the last hash. Undefined: the file has no complete record. */
export async function tailOf(file: FileHandle): Promise<FileTail | undefined> {
  const { size } = await file.stat();
  let bytes = Buffer.alloc(0);
  for (let from = size; from > 0; ) {
    const length = Math.min(READ_BYTES, from);
    from -= length;
    const piece = Buffer.alloc(length);
    await file.read(piece, 0, length, from);
    bytes = Buffer.concat([piece, bytes]);
    const found = chainIn(bytes, from === 0);
    if (found === undefined) continue;
    return found.chain.seq === 0 ? undefined : { ...found, cut: bytes.length - (bytes.lastIndexOf('\n') + 1), size };
  }
  return undefined;
}

/** Undefined if these bytes contain no hash and more of the file comes before them. */
function chainIn(bytes: Buffer, isWhole: boolean): Pick<FileTail, 'chain' | 'at'> | undefined {
  const lines = bytes
    .toString('utf8')
    .split('\n')
    .slice(isWhole ? 0 : 1, -1);
  const sealedAt = lines.findLastIndex((line) => /,"hash":"[0-9a-f]{64}"\}$/.test(line));
  if (sealedAt === -1 && !isWhole) return undefined;
  const last = lines.at(-1);
  if (last === undefined) return { chain: GENESIS, at: 0 };
  const { seq, time } = JSON.parse(last) as AuditRecord;
  const { hash: seal = GENESIS.hash } = sealedAt === -1 ? GENESIS : (JSON.parse(lines[sealedAt] ?? '') as AuditRecord);
  const rest = lines.slice(sealedAt + 1).map((line) => `${line}\n`);
  return { chain: { seq, hash: seal, open: rest.join('') }, at: Date.parse(time) };
}

/** How many records a page has at most. */
export function pageSize(limit: number = LIMIT): number {
  return Math.min(limit, LIMIT_MAX);
}

/** Reads a page. Audit logs are read rarely, so there is no index; only whole files are skipped. */
export async function pageOf(path: string, { after = 0, limit }: AuditRequest, last: number): Promise<AuditPage> {
  const records: AuditRecord[] = [];
  const most = pageSize(limit);
  for (const file of filesAfter(path, after)) {
    for await (const { line, isTorn } of auditLines(file)) {
      if (isTorn || records.length >= most) break;
      const record = JSON.parse(line) as AuditRecord;
      if (record.seq > after) records.push(record);
    }
  }
  return { records, last };
}

/** The files that may have records after a number. */
export function filesAfter(path: string, after: number): readonly string[] {
  const full = fullFiles(path);
  const past = new Set(full.flatMap((file, at) => ((full[at + 1]?.first ?? 0) - 1 <= after && at + 1 < full.length ? [file.path] : [])));
  return auditFiles(path).filter((file) => !past.has(file));
}

/** One line of an audit log file. */
export interface AuditLine {
  readonly line: string;
  /** The line number, from 1. */
  readonly number: number;
  /** True for an incomplete last line of an unfinished write. The node removes it at its next start. */
  readonly isTorn: boolean;
}

/** The lines of a log file, one after the other, in bounded memory. */
export async function* auditLines(path: string): AsyncGenerator<AuditLine, void> {
  const file = await open(path, 'r');
  try {
    let held: AuditLine | undefined;
    for await (const line of file.readLines({ autoClose: false })) {
      if (held !== undefined) yield held;
      held = { line, number: (held?.number ?? 0) + 1, isTorn: false };
    }
    if (held !== undefined) yield { ...held, isTorn: !(await endsALine(file)) };
  } finally {
    await file.close();
  }
}

async function endsALine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString() === '\n';
}

/** Result of `verifyAudit`. */
export interface AuditVerdict {
  readonly records: number;
  /** The last valid hash. Store it elsewhere to detect later that the end of the log was removed. */
  readonly head: string;
  /** Records at the end that no hash covers: a write is in progress, or a crash interrupted one. */
  readonly open: number;
  readonly problem?: AuditProblem;
}

/** The first place where the chain is broken. */
export interface AuditProblem {
  /**
   * `empty`: the log has no record, although each start of a node writes one. `torn`: the last line is
   * incomplete. `start`: older records are missing, and no record says that they were deleted.
   */
  readonly kind: 'changed' | 'torn' | 'empty' | 'start';
  readonly file: string;
  readonly line: number;
  readonly words: string;
}

/** Verifies a log with all of its files. Its start is the one that retention left. */
export async function verifyLog(path: string): Promise<AuditVerdict> {
  const [first] = fullFiles(path);
  const start = first?.first === 1 ? undefined : readStart(path);
  return await verifyAudit(auditFiles(path), start);
}

/** The record of a deletion of old files, in the log itself. */
export const PRUNED = 'audit.pruned';
/** The first record of a chain among several names the last record of all others, so that a chain can't vanish or be cut before it. */
export const BEGUN = 'audit.begin';

/**
 * Verifies log files in order; each must continue the chain of the previous one. With `start`, older
 * files were deleted, and a record of the log must confirm that.
 */
export async function verifyAudit(paths: readonly string[], start: ChainEnd = GENESIS): Promise<AuditVerdict> {
  let chain = start;
  let isConfirmed = start.seq === 0;
  const confirmation = `"action":"${PRUNED}","object":"${start.seq}","decision":"allowed","reason":"${start.hash}"`;
  const verdict = (): AuditVerdict => ({ records: chain.seq - start.seq, head: chain.hash, open: chain.open.split('\n').length - 1 });
  for (const file of paths) {
    for await (const { line, number, isTorn } of auditLines(file)) {
      if (isTorn) return { ...verdict(), problem: { kind: 'torn', file, line: number, words: 'it has no end' } };
      const found = follow(line, chain, sha256);
      if (typeof found === 'string') return { ...verdict(), problem: { kind: 'changed', file, line: number, words: found } };
      chain = found;
      isConfirmed ||= line.includes(confirmation);
    }
  }
  const [file = ''] = paths;
  if (chain.seq === start.seq) return { ...verdict(), problem: { kind: 'empty', file, line: 0, words: 'there is no record in it' } };
  if (isConfirmed) return verdict();
  const words = `it starts after record ${start.seq}, and no record says that older ones were deleted`;
  return { ...verdict(), problem: { kind: 'start', file, line: 0, words } };
}
