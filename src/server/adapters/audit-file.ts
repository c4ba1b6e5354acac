import type { FileHandle } from 'node:fs/promises';
import { open, rm } from 'node:fs/promises';
import type { AuditRecord } from '#protocol';
import { syncFolder } from '../../engine/adapters/sync-folder.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { AuditDraft, ChainEnd } from '../audit/chain.ts';
import { GENESIS } from '../audit/chain.ts';
import type { CurrentFile } from './audit/append.ts';
import { createCurrentFile } from './audit/append.ts';
import { folderOf, fullFiles, readStart, writeStart } from './audit/files.ts';
import { auditLines, PRUNED, pageOf, tailOf } from './audit/read.ts';
import type { AuditPlace } from './audit/writer.ts';
import { createAuditWriter } from './audit/writer.ts';

export { auditFiles } from './audit/files.ts';
export { type AuditProblem, auditLines, filesAfter, verifyAudit, verifyLog } from './audit/read.ts';

/** Options of `openAudit`. */
export interface AuditFileOptions {
  /** The size from which on the log continues in a new file. Default 64 MiB. */
  readonly bytesMax?: number;
  /** The age of a file's first record from which on the log continues in a new file. 0, the default: never. */
  readonly msMax?: number;
  /** Full files whose last record is older than this are deleted. 0, the default: never. */
  readonly keepMs?: number;
  readonly now?: () => Date;
  /** Called once when the log can't be written, and with undefined when it can be again. */
  readonly onError?: (cause: unknown) => void;
}

/** Opens an append-only audit log, one record per line, readable by its owner only. */
export async function openAudit(path: string, options: AuditFileOptions = {}): Promise<AuditLog> {
  const { now = () => new Date(), keepMs = 0, onError } = options;
  const { current, chain: start, cut } = await openCurrent(path);
  let pruning: Promise<void> | undefined;
  const prune = (): void => {
    if (keepMs <= 0) return;
    const before = now().getTime() - keepMs;
    pruning ??= deleteOld(path, { before, append: writer.append, written: writer.written })
      .catch((thrown: unknown) => onError?.(thrown))
      .finally(() => {
        pruning = undefined;
      });
  };
  const place = { write: fileWriter(current, { ...options, now, onRotated: prune }), sync: () => current.sync() };
  const writer = createAuditWriter(place, { start, now, onError });
  if (cut > 0) writer.append(cutRecord(cut));
  prune();
  return {
    append: writer.append,
    written: writer.written,
    read: async (request) => {
      await writer.flush();
      return await pageOf(path, request, writer.seq);
    },
    close: async () => {
      await writer.flush();
      // That flush may have filled a file. Then old files are deleted, and a record says so.
      for (; pruning !== undefined; await writer.flush()) await pruning;
      writer.stop();
      await current.sync();
      await current.close();
    },
  };
}

function cutRecord(bytes: number): AuditDraft {
  return { principal: '', action: 'audit.cut', decision: 'allowed', reason: `${bytes} bytes of an unfinished record were removed` };
}

interface WriteOptions extends Pick<AuditFileOptions, 'bytesMax' | 'msMax'> {
  readonly now: () => Date;
  readonly onRotated: () => void;
}

const BYTES_MAX = 64 * 2 ** 20;

/** Writes to the current file, or to a new one if that is full or old. */
function fileWriter(current: CurrentFile, { bytesMax = BYTES_MAX, msMax = 0, now, onRotated }: WriteOptions): AuditPlace['write'] {
  return async ({ text, first }) => {
    const isOld = msMax > 0 && current.first !== undefined && now().getTime() - current.first.at >= msMax;
    if (current.size >= bytesMax || isOld) {
      await current.rotate();
      onRotated();
    }
    await current.append(text, first);
  };
}

interface OpenedLog {
  readonly current: CurrentFile;
  readonly chain: ChainEnd;
  /** The size of an incomplete last line that was removed. */
  readonly cut: number;
}

/** Opens the current file. If it is new, the chain continues that of the last full one: a crash may have come between the two. */
async function openCurrent(path: string): Promise<OpenedLog> {
  const file = await open(path, 'a+', 0o600);
  const tail = await tailOf(file);
  const full = fullFiles(path).at(-1);
  const before = full === undefined ? (readStart(path) ?? GENESIS) : await endOf(full.path);
  if (tail !== undefined) {
    const size = tail.size - tail.cut;
    if (tail.cut > 0) await file.truncate(size);
    // A crash during the first write to a file leaves records without a hash.
    const chain = tail.chain.hash === GENESIS.hash ? { ...tail.chain, hash: before.hash } : tail.chain;
    return { current: createCurrentFile(path, { file, size, first: await firstOf(path) }), chain, cut: tail.cut };
  }
  const { size: cut } = await file.stat();
  if (cut > 0) await file.truncate(0);
  return { current: createCurrentFile(path, { file, size: 0, first: undefined }), chain: before, cut };
}

async function firstOf(path: string): Promise<{ seq: number; at: number } | undefined> {
  for await (const { line } of auditLines(path)) {
    const { seq, time } = JSON.parse(line) as AuditRecord;
    return { seq, at: Date.parse(time) };
  }
  return undefined;
}

async function endOf(path: string): Promise<ChainEnd> {
  return (await readTail(path))?.chain ?? GENESIS;
}

async function readTail(path: string): ReturnType<typeof tailOf> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    return await tailOf(file);
  } finally {
    await file?.close();
  }
}

interface Pruning {
  readonly before: number;
  readonly append: (draft: AuditDraft) => void;
  readonly written: () => Promise<void>;
}

/**
 * Deletes full files that are too old. First a record says so, then the new start of the chain is
 * stored, then the files go: after a crash at any of these steps the log can be verified.
 */
async function deleteOld(path: string, { before, append, written }: Pruning): Promise<void> {
  const start = readStart(path);
  let end: ChainEnd | undefined;
  const old: string[] = [];
  for (const file of fullFiles(path)) {
    const tail = await readTail(file.path);
    if (tail === undefined || tail.at >= before) break;
    old.push(file.path);
    end = tail.chain;
  }
  if (end === undefined) return;
  if (start === undefined || start.seq < end.seq) {
    append({ principal: '', action: PRUNED, object: String(end.seq), decision: 'allowed', reason: end.hash });
    await written();
    await writeStart(path, end);
  }
  for (const file of old) await rm(file, { force: true });
  await syncFolder(folderOf(path));
}
