import { hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import type { AuditPage, AuditRecord, AuditRequest } from '#protocol';
import type { AuditLog } from '../audit/audit.ts';
import type { AuditDraft, ChainEnd } from '../audit/chain.ts';
import { checkLine, GENESIS, sealed } from '../audit/chain.ts';

const READ_BYTES = 65_536;
const LIMIT = 100;
const LIMIT_MAX = 1000;
const NEWLINE = 0x0a;

const sha256 = (text: string): string => hash('sha256', text, 'hex');

export interface AuditFileOptions {
  readonly now?: () => Date;
  readonly onError?: (cause: unknown) => void;
}

/** An audit log in a file that only grows, a line a record, readable by its owner alone. */
export async function openAudit(path: string, { now = () => new Date(), onError }: AuditFileOptions = {}): Promise<AuditLog> {
  const file = await open(path, 'a+', 0o600);
  const { end: start, cut } = await tailOf(file);
  let end = start;
  let waiting = '';
  let writing: Promise<void> | undefined;
  const write = async (): Promise<void> => {
    while (waiting !== '') {
      const text = waiting;
      waiting = '';
      await file.appendFile(text);
    }
    writing = undefined;
  };
  const append = (draft: AuditDraft): void => {
    const made = sealed(draft, end, { time: now().toISOString(), hash: sha256 });
    end = made.end;
    waiting += `${made.line}\n`;
    // All that comes while a write is under way goes out with the next one.
    writing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(write).catch((thrown: unknown) => {
      writing = undefined;
      onError?.(thrown);
    });
  };
  const written = async (): Promise<void> => {
    while (writing !== undefined) await writing;
  };
  if (cut > 0)
    append({ principal: '', action: 'audit.cut', decision: 'allowed', reason: `${cut} bytes of an unfinished record were removed` });
  return {
    append,
    read: async (request) => {
      await written();
      return await pageOf(path, request, end.seq);
    },
    close: async () => {
      await written();
      await file.sync();
      await file.close();
    },
  };
}

/** Where the chain in a file stands. A line without an end is what a crash left of a write, and goes. */
async function tailOf(file: FileHandle): Promise<{ readonly end: ChainEnd; readonly cut: number }> {
  const { size } = await file.stat();
  let text = Buffer.alloc(0);
  for (let from = size; from > 0; ) {
    const length = Math.min(READ_BYTES, from);
    from -= length;
    const piece = Buffer.alloc(length);
    await file.read(piece, 0, length, from);
    text = Buffer.concat([piece, text]);
    const last = text.lastIndexOf(NEWLINE);
    if (from > 0 && (last <= 0 || text.lastIndexOf(NEWLINE, last - 1) === -1)) continue;
    const cut = text.length - (last + 1);
    if (cut > 0) await file.truncate(size - cut);
    if (last === -1) return { end: GENESIS, cut };
    const line = text.subarray(text.lastIndexOf(NEWLINE, last - 1) + 1, last).toString('utf8');
    const { seq, hash: seal } = JSON.parse(line) as AuditRecord;
    return { end: { seq, hash: seal }, cut };
  }
  return { end: GENESIS, cut: 0 };
}

async function pageOf(path: string, { after = 0, limit = LIMIT }: AuditRequest, last: number): Promise<AuditPage> {
  const records: AuditRecord[] = [];
  const most = Math.min(limit, LIMIT_MAX);
  for await (const { line } of auditLines(path)) {
    if (records.length >= most) break;
    const record = JSON.parse(line) as AuditRecord;
    if (record.seq > after) records.push(record);
  }
  return { records, last };
}

/** The lines of a log with their numbers, from 1, also those that nobody has finished. */
export async function* auditLines(path: string): AsyncGenerator<{ readonly line: string; readonly number: number }, void> {
  const file = await open(path, 'r');
  try {
    let number = 0;
    for await (const line of file.readLines({ autoClose: false })) {
      number += 1;
      yield { line, number };
    }
  } finally {
    await file.close();
  }
}

export interface Verdict {
  readonly records: number;
  /** Of the last record that is as it was written: kept elsewhere, it shows later that nothing was cut off. */
  readonly head: string;
  readonly problem?: { readonly file: string; readonly line: number; readonly words: string };
}

/** Goes through logs in their order; the second goes on where the first ends. */
export async function verifyAudit(paths: readonly string[]): Promise<Verdict> {
  let end = GENESIS;
  for (const file of paths) {
    for await (const { line, number } of auditLines(file)) {
      const found = checked(line, end);
      if (typeof found === 'string') return { records: end.seq, head: end.hash, problem: { file, line: number, words: found } };
      end = found;
    }
  }
  return { records: end.seq, head: end.hash };
}

function checked(line: string, before: ChainEnd): ChainEnd | string {
  try {
    return checkLine(line, before, sha256);
  } catch {
    return 'it is no record';
  }
}
