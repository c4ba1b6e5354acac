import type { AuditPage, AuditRequest } from '#protocol';
import type { AuditDraft } from './chain.ts';

/** Where records go: a file (adapters/node-audit.ts), or anything else that only grows. */
export interface AuditLog {
  append(draft: AuditDraft): void;
  read(request: AuditRequest): Promise<AuditPage>;
  close(): Promise<void>;
}

export interface Audit {
  /** Something was done. */
  record(draft: AuditDraft): void;
  /** Something was refused. Whoever is refused the same again and again is written down once, and then counted. */
  refused(draft: AuditDraft): void;
  close(): Promise<void>;
}

export const NO_AUDIT: Audit = { record: () => {}, refused: () => {}, close: async () => {} };

const COUNT_MS = 10_000;
const COUNTED_MAX = 1000;

/** An attacker must not be able to fill the disk by being refused. */
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

/** Not every host's timers are objects. */
function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function') timer.unref();
}
