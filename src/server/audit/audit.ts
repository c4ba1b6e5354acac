import type { AuditPage, AuditRequest } from '#protocol';
import { A2AError } from '#protocol';
import type { AuditDraft } from './chain.ts';

/**
 * Stores audit records: a file (`openAudit` in adapters/audit-file.ts), or any other append-only store.
 */
export interface AuditLog {
  /** Adds a record. Returns at once; the record is written soon after. */
  append(draft: AuditDraft): void;
  /** Resolves when all records so far are durable. Rejects if they can't be written. Absent: they are, after `append`. */
  written?(): Promise<void>;
  /** Reads a page of records. */
  read(request: AuditRequest): Promise<AuditPage>;
  /** Writes pending records and closes the log. */
  close(): Promise<void>;
}

/** What the server calls to record who did what and who was refused. */
export interface Audit {
  /** Records an allowed action. */
  record(draft: AuditDraft): void;
  /**
   * Records a refusal. Equal refusals within ten seconds become two records: the first, and one with
   * the number of repeats.
   */
  refused(draft: AuditDraft): void;
  /** Resolves when all records so far are durable. Throws `UNAVAILABLE` if they can't be written. */
  written(): Promise<void>;
  /** Writes pending counts of repeated refusals and closes the log. */
  close(): Promise<void>;
}

/** Records nothing. */
export const NO_AUDIT: Audit = { record: () => {}, refused: () => {}, written: async () => {}, close: async () => {} };

const COUNT_MS = 10_000;
const COUNTED_MAX = 1000;

/** Counts repeated refusals instead of recording each, so that an attacker can't fill the disk. */
export function createAudit(log: AuditLog, { countMs = COUNT_MS }: { readonly countMs?: number } = {}): Audit {
  const counted = new Map<string, { readonly draft: AuditDraft; repeats: number }>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const settle = (): void => {
    timer = undefined;
    for (const { draft, repeats } of counted.values()) if (repeats > 0) log.append({ ...draft, repeats });
    counted.clear();
  };
  return {
    record: (draft) => log.append(draft),
    refused: (draft) => {
      const key = counted.size < COUNTED_MAX ? keyOf(draft) : 'others';
      const known = counted.get(key);
      if (known !== undefined) {
        known.repeats += 1;
        return;
      }
      log.append(draft);
      const { requestId: _, ...same } = draft;
      counted.set(key, {
        draft: key === 'others' ? { principal: '', action: 'http', decision: 'denied', reason: 'others' } : same,
        repeats: 0,
      });
      if (timer === undefined) {
        timer = setTimeout(settle, countMs);
        unref(timer);
      }
    },
    written: async () => {
      try {
        await log.written?.();
      } catch (cause) {
        throw new A2AError('UNAVAILABLE', 'the audit log can’t be written, so the node refuses administration until it can', {
          retryAfterMs: 1000,
          info: { reason: 'AUDIT_UNAVAILABLE' },
          cause,
        });
      }
    },
    close: async () => {
      clearTimeout(timer);
      settle();
      await log.close();
    },
  };
}

function keyOf({ principal, tenant, action, agent, reason, client }: AuditDraft): string {
  return JSON.stringify([principal, tenant, action, agent, reason, client]);
}

/** Timers are objects with `unref` on Node only; elsewhere they are numbers. */
function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function') timer.unref();
}
