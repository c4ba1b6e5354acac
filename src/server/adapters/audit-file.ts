import type { FileHandle } from 'node:fs/promises';
import { open, rm } from 'node:fs/promises';
import type { AuditRecord } from '#protocol';
import { A2AError } from '#protocol';
import { syncFolder } from '../../engine/adapters/sync-folder.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { AuditDraft, ChainEnd } from '../audit/chain.ts';
import { bodyOf, GENESIS, sealed } from '../audit/chain.ts';
import type { CurrentFile } from './audit/append.ts';
import { createCurrentFile } from './audit/append.ts';
import { folderOf, fullFiles, readStart, writeStart } from './audit/files.ts';
import { auditLines, PRUNED, pageOf, sha256, tailOf } from './audit/read.ts';

export { auditFiles } from './audit/files.ts';
export { type AuditProblem, auditLines, filesAfter, verifyAudit, verifyLog } from './audit/read.ts';

/**
 * Records of this time are written together under one hash. A crash loses at most this much of the log.
 */
const GATHER_MS = 100;
/** How long a log that can't be written is left alone before it is tried again. */
const RETRY_MS = 1000;
/** Records that wait for a full disk. Further ones are counted only. */
const WAITING_MAX = 10_000;

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

/** A record that is not written yet. */
interface Waiting {
  readonly seq: number;
  readonly at: number;
  readonly body: string;
}

/** Opens an append-only audit log, one record per line, readable by its owner only. */
export async function openAudit(path: string, options: AuditFileOptions = {}): Promise<AuditLog> {
  const { now = () => new Date(), keepMs = 0 } = options;
  const { current, chain: start, cut } = await openCurrent(path);
  const state: WriterState = { chain: start, waiting: [], lost: 0, problem: undefined, pruning: undefined };
  let { seq } = start;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(() => writeWaiting(current, state, { ...options, now, onRotated: prune }));
    return writing.then(() => {
      if (state.waiting.length > 0) flushAfter(state.problem === undefined ? GATHER_MS : RETRY_MS);
      else if (state.lost > 0) noteLost();
    });
  };
  const flushAfter = (ms: number): void => {
    timer ??= setTimeout(() => void flush(), ms);
    if (state.problem !== undefined) timer.unref();
  };
  const append = (draft: AuditDraft): void => {
    if (state.waiting.length >= WAITING_MAX) {
      state.lost += 1;
      return;
    }
    seq += 1;
    const time = now();
    state.waiting.push({ seq, at: time.getTime(), body: bodyOf(draft, seq, timeText(time)) });
    flushAfter(GATHER_MS);
  };
  const noteLost = (): void => {
    append({ principal: '', action: 'audit.lost', decision: 'allowed', reason: 'the log could not be written', repeats: state.lost });
    state.lost = 0;
  };
  const prune = (): void => {
    if (keepMs <= 0) return;
    const before = now().getTime() - keepMs;
    state.pruning ??= deleteOld(path, { before, append, written })
      .catch((thrown: unknown) => options.onError?.(thrown))
      .finally(() => {
        state.pruning = undefined;
      });
  };
  const written = async (): Promise<void> => {
    const upTo = seq;
    do await flush();
    while (state.chain.seq < upTo && state.problem === undefined);
    if (state.chain.seq >= upTo && state.problem === undefined) return await current.sync();
    throw new A2AError('UNAVAILABLE', 'the audit log can’t be written', { retryAfterMs: RETRY_MS, cause: state.problem });
  };
  if (cut > 0) append(cutRecord(cut));
  prune();
  return {
    append,
    written,
    read: async (request) => {
      await flush();
      return await pageOf(path, request, seq);
    },
    close: async () => {
      await flush();
      // That flush may have filled a file. Then old files are deleted, and a record says so.
      for (; state.pruning !== undefined; await flush()) await state.pruning;
      clearTimeout(timer);
      await current.sync();
      await current.close();
    },
  };
}

function cutRecord(bytes: number): AuditDraft {
  return { principal: '', action: 'audit.cut', decision: 'allowed', reason: `${bytes} bytes of an unfinished record were removed` };
}

interface WriterState {
  chain: ChainEnd;
  waiting: Waiting[];
  /** Records that were dropped because too many waited. */
  lost: number;
  /** Why the last write failed. */
  problem: unknown;
  pruning: Promise<void> | undefined;
}

interface WriteOptions extends Pick<AuditFileOptions, 'bytesMax' | 'msMax' | 'onError'> {
  readonly now: () => Date;
  readonly onRotated: () => void;
}

const BYTES_MAX = 64 * 2 ** 20;

/** Writes what waits. On an error everything waits on, in order, and the chain stays as it is on disk. */
async function writeWaiting(current: CurrentFile, state: WriterState, options: WriteOptions): Promise<void> {
  const { bytesMax = BYTES_MAX, msMax = 0, now, onError, onRotated } = options;
  const { waiting } = state;
  const [oldest] = waiting;
  const last = waiting.at(-1);
  if (oldest === undefined || last === undefined) return;
  state.waiting = [];
  try {
    const isOld = msMax > 0 && current.first !== undefined && now().getTime() - current.first.at >= msMax;
    if (current.size >= bytesMax || isOld) {
      await current.rotate();
      onRotated();
    }
    const bodies = waiting.map(({ body }) => body);
    const made = sealed(bodies, state.chain, sha256);
    await current.append(made.text, oldest);
    state.chain = { seq: last.seq, hash: made.hash, open: '' };
    if (state.problem !== undefined) onError?.(undefined);
    state.problem = undefined;
  } catch (thrown) {
    state.waiting = [...waiting, ...state.waiting];
    if (state.problem === undefined) onError?.(thrown);
    state.problem = thrown;
  }
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

let lastTime = { ms: Number.NaN, text: '' };

/** Caches the last time text: many records have the same time, and formatting one is slow. */
function timeText(time: Date): string {
  const ms = time.getTime();
  if (ms !== lastTime.ms) lastTime = { ms, text: time.toISOString() };
  return lastTime.text;
}
