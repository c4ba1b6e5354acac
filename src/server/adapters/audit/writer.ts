import { A2AError } from '#protocol';
import type { AuditDraft, ChainEnd } from '../../audit/chain.ts';
import { bodyOf, sealed } from '../../audit/chain.ts';
import { sha256 } from './read.ts';

/**
 * Records of this time are written together under one hash. A crash loses at most this much of the log.
 */
const GATHER_MS = 100;
/** How long a log that can't be written is left alone before it is tried again. */
const RETRY_MS = 1000;
/** Records that wait while the log can't be written. Further ones are counted only. */
const WAITING_MAX = 10_000;

/** The number of a record, and when it was made, in milliseconds. */
interface RecordMark {
  readonly seq: number;
  readonly at: number;
}

/** Records that are written together, as lines. */
export interface AuditSegment {
  readonly text: string;
  readonly first: RecordMark;
  readonly last: RecordMark;
  /** The hash of the last record. */
  readonly hash: string;
}

/** Where records are written. */
export interface AuditPlace {
  /** Writes a segment completely or not at all. Throws if it can't; then the same segment is given again later. */
  write(segment: AuditSegment): Promise<void>;
  /** Resolves when everything that was written is durable. Absent: it is, after `write`. */
  sync?(): Promise<void>;
  /** The number of the chain that records are to name. */
  readonly chain?: number;
}

/** Options of `createAuditWriter`. */
export interface AuditWriterOptions {
  /** Where the chain ends now. */
  readonly start: ChainEnd;
  readonly now: () => Date;
  /** Called once when the log can't be written, and with undefined when it can be again. */
  readonly onError?: ((cause: unknown) => void) | undefined;
}

/** Numbers, gathers and seals records, and keeps them while they can't be written. */
export interface AuditWriter {
  /** The number of the last record, also if it is not written yet. */
  readonly seq: number;
  append(draft: AuditDraft): void;
  /** Tries once to write everything that waits. */
  flush(): Promise<void>;
  /** Resolves when all records so far are durable. Rejects if they can't be written. */
  written(): Promise<void>;
  /** No timer runs any more. What waits stays unwritten. */
  stop(): void;
}

/** A record that is not written yet. */
interface Waiting extends RecordMark {
  readonly body: string;
}

interface WriterState {
  /** The end of what is written. */
  chain: ChainEnd;
  waiting: Waiting[];
  /** Sealed, and possibly written: the answer to a write may be lost. So it is written again as it is. */
  segment: AuditSegment | undefined;
  /** Records that were dropped because too many waited. */
  lost: number;
  /** Why the last write failed. */
  problem: unknown;
}

export function createAuditWriter(place: AuditPlace, { start, now, onError }: AuditWriterOptions): AuditWriter {
  const state: WriterState = { chain: start, waiting: [], segment: undefined, lost: 0, problem: undefined };
  let { seq } = start;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(() => writeWaiting(place, state, onError));
    await writing;
    if (unwritten(state) > 0) flushAfter(state.problem === undefined ? GATHER_MS : RETRY_MS);
    else if (state.lost > 0) noteLost();
  };
  const flushAfter = (ms: number): void => {
    timer ??= setTimeout(() => void flush(), ms);
    if (state.problem !== undefined) timer.unref();
  };
  const append = (draft: AuditDraft): void => {
    if (unwritten(state) >= WAITING_MAX) {
      state.lost += 1;
      return;
    }
    seq += 1;
    const time = now();
    state.waiting.push({ seq, at: time.getTime(), body: bodyOf(draft, { seq, time: timeText(time), chain: place.chain }) });
    flushAfter(GATHER_MS);
  };
  const noteLost = (): void => {
    append({ principal: '', action: 'audit.lost', decision: 'allowed', reason: 'the log could not be written', repeats: state.lost });
    state.lost = 0;
  };
  return {
    get seq() {
      return seq;
    },
    append,
    flush,
    written: async () => {
      const upTo = seq;
      do await flush();
      while (state.chain.seq < upTo && state.problem === undefined);
      if (state.chain.seq >= upTo && state.problem === undefined) return await place.sync?.();
      throw new A2AError('UNAVAILABLE', 'the audit log can’t be written', { retryAfterMs: RETRY_MS, cause: state.problem });
    },
    stop: () => clearTimeout(timer),
  };
}

function unwritten({ waiting, segment }: WriterState): number {
  return waiting.length + (segment === undefined ? 0 : segment.last.seq - segment.first.seq + 1);
}

/** Writes what waits. On an error everything waits on, in order, and the chain stays as it is written. */
async function writeWaiting(place: AuditPlace, state: WriterState, onError: AuditWriterOptions['onError']): Promise<void> {
  const write = async (segment: AuditSegment): Promise<void> => {
    state.segment = segment;
    await place.write(segment);
    state.segment = undefined;
    state.chain = { seq: segment.last.seq, hash: segment.hash, open: '' };
    if (state.problem !== undefined) onError?.(undefined);
    state.problem = undefined;
  };
  try {
    if (state.segment !== undefined) await write(state.segment);
    const fresh = sealedOf(state.waiting, state.chain);
    state.waiting = [];
    if (fresh !== undefined) await write(fresh);
  } catch (thrown) {
    if (state.problem === undefined) onError?.(thrown);
    state.problem = thrown;
  }
}

function sealedOf(waiting: readonly Waiting[], chain: ChainEnd): AuditSegment | undefined {
  const [first] = waiting;
  const last = waiting.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const bodies = waiting.map(({ body }) => body);
  return { ...sealed(bodies, chain, sha256), first: { seq: first.seq, at: first.at }, last: { seq: last.seq, at: last.at } };
}

let lastTime = { ms: Number.NaN, text: '' };

/** Caches the last time text: many records have the same time, and formatting one is slow. */
function timeText(time: Date): string {
  const ms = time.getTime();
  if (ms !== lastTime.ms) lastTime = { ms, text: time.toISOString() };
  return lastTime.text;
}
