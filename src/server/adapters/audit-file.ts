import { hash } from 'node:crypto';
import { write } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import type { AuditPage, AuditRecord, AuditRequest } from '#protocol';
import type { AuditLog } from '../audit/audit.ts';
import type { ChainEnd } from '../audit/chain.ts';
import { bodyOf, follow, GENESIS, sealed } from '../audit/chain.ts';

const READ_BYTES = 65_536;
const LIMIT = 100;
const LIMIT_MAX = 1000;
/**
 * Records of this time are written together under one hash. A crash loses at most this much of the log.
 */
const GATHER_MS = 100;

const sha256 = (text: string): string => hash('sha256', text, 'hex');

/** Options of `openAudit`. */
export interface AuditFileOptions {
  readonly now?: () => Date;
  readonly onError?: (cause: unknown) => void;
}

/** Opens an append-only audit log file, one record per line, readable by its owner only. */
export async function openAudit(path: string, { now = () => new Date(), onError }: AuditFileOptions = {}): Promise<AuditLog> {
  const file = await open(path, 'a+', 0o600);
  const { chain: start, cut } = await tailOf(file);
  let chain = start;
  let { seq } = start;
  let bodies: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (bodies.length === 0) return writing;
    const made = sealed(bodies, chain, sha256);
    bodies = [];
    chain = { seq, hash: made.hash, open: '' };
    writing = writing.then(() => appended(file, made.text)).catch((thrown: unknown) => onError?.(thrown));
    return writing;
  };
  const append: AuditLog['append'] = (draft) => {
    seq += 1;
    bodies.push(bodyOf(draft, seq, timeText(now())));
    timer ??= setTimeout(() => void flush(), GATHER_MS);
  };
  if (cut > 0) {
    append({ principal: '', action: 'audit.cut', decision: 'allowed', reason: `${cut} bytes of an unfinished record were removed` });
  }
  return {
    append,
    read: async (request) => {
      await flush();
      return await pageOf(path, request, seq);
    },
    close: async () => {
      await flush();
      await file.sync();
      await file.close();
    },
  };
}

/** Uses the callback API, which costs least: this runs up to ten times a second. */
function appended({ fd }: FileHandle, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    write(fd, text, (thrown) => (thrown === null ? resolve() : reject(thrown)));
  });
}

let lastTime = { ms: Number.NaN, text: '' };

/** Caches the last time text: many records have the same time, and formatting one is slow. */
function timeText(time: Date): string {
  const ms = time.getTime();
  if (ms !== lastTime.ms) lastTime = { ms, text: time.toISOString() };
  return lastTime.text;
}

interface Tail {
  readonly chain: ChainEnd;
  /** The size of an incomplete last line, which a crash left behind and which was removed. */
  readonly cut: number;
}

/** Finds the end of the chain in a file by reading backwards to the last hash. */
async function tailOf(file: FileHandle): Promise<Tail> {
  const { size } = await file.stat();
  let bytes = Buffer.alloc(0);
  for (let from = size; from > 0; ) {
    const length = Math.min(READ_BYTES, from);
    from -= length;
    const piece = Buffer.alloc(length);
    await file.read(piece, 0, length, from);
    bytes = Buffer.concat([piece, bytes]);
    const chain = chainIn(bytes, from === 0);
    if (chain === undefined) continue;
    const cut = bytes.length - (bytes.lastIndexOf('\n') + 1);
    if (cut > 0) await file.truncate(size - cut);
    return { chain, cut };
  }
  return { chain: GENESIS, cut: 0 };
}

/** Undefined if these bytes contain no hash and more of the file comes before them. */
function chainIn(bytes: Buffer, isWhole: boolean): ChainEnd | undefined {
  const lines = bytes
    .toString('utf8')
    .split('\n')
    .slice(isWhole ? 0 : 1, -1);
  const sealedAt = lines.findLastIndex((line) => /,"hash":"[0-9a-f]{64}"\}$/.test(line));
  if (sealedAt === -1 && !isWhole) return undefined;
  const last = lines.at(-1);
  if (last === undefined) return GENESIS;
  const { seq } = JSON.parse(last) as AuditRecord;
  const { hash: seal = GENESIS.hash } = sealedAt === -1 ? GENESIS : (JSON.parse(lines[sealedAt] ?? '') as AuditRecord);
  return {
    seq,
    hash: seal,
    open: lines
      .slice(sealedAt + 1)
      .map((line) => `${line}\n`)
      .join(''),
  };
}

/** Reads a page from the start of the file. Audit logs are read rarely, so there is no index. */
async function pageOf(path: string, { after = 0, limit = LIMIT }: AuditRequest, last: number): Promise<AuditPage> {
  const records: AuditRecord[] = [];
  const most = Math.min(limit, LIMIT_MAX);
  for await (const { line, isTorn } of auditLines(path)) {
    if (isTorn || records.length >= most) break;
    const record = JSON.parse(line) as AuditRecord;
    if (record.seq > after) records.push(record);
  }
  return { records, last };
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
   * incomplete.
   */
  readonly kind: 'changed' | 'torn' | 'empty';
  readonly file: string;
  readonly line: number;
  readonly words: string;
}

/** Verifies log files in order; each must continue the chain of the previous one. */
export async function verifyAudit(paths: readonly string[]): Promise<AuditVerdict> {
  let chain = GENESIS;
  const verdict = (): AuditVerdict => ({ records: chain.seq, head: chain.hash, open: chain.open.split('\n').length - 1 });
  for (const file of paths) {
    for await (const { line, number, isTorn } of auditLines(file)) {
      if (isTorn) return { ...verdict(), problem: { kind: 'torn', file, line: number, words: 'it has no end' } };
      const found = follow(line, chain, sha256);
      if (typeof found === 'string') return { ...verdict(), problem: { kind: 'changed', file, line: number, words: found } };
      chain = found;
    }
  }
  const [file = ''] = paths;
  return chain.seq > 0 ? verdict() : { ...verdict(), problem: { kind: 'empty', file, line: 0, words: 'there is no record in it' } };
}
