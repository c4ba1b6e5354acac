import { describe, expect, it, vi } from 'vitest';
import type { AuditLog } from './audit.ts';
import { createAudit } from './audit.ts';
import type { AuditDraft } from './chain.ts';

function log() {
  const drafts: AuditDraft[] = [];
  const kept: AuditLog = {
    append: (draft) => void drafts.push(draft),
    read: async () => ({ records: [], last: 0 }),
    close: async () => {},
  };
  return { drafts, audit: createAudit(kept, { countMs: 1000 }) };
}
const denied = (client: string, more: Partial<AuditDraft> = {}): AuditDraft => ({
  principal: '',
  action: 'http.POST',
  decision: 'denied',
  reason: 'no credential',
  client,
  ...more,
});

describe('refusals', () => {
  it('records a repeated refusal once and then counts the repeats', () => {
    vi.useFakeTimers();
    const { drafts, audit } = log();
    for (let count = 0; count < 500; count += 1) audit.refused(denied('10.0.0.1', { requestId: `r-${count}`, object: `/x${count}` }));
    audit.refused(denied('10.0.0.2'));
    expect(drafts).toHaveLength(2);
    vi.advanceTimersByTime(1000);
    expect(drafts).toHaveLength(3);
    expect(drafts[2]).toMatchObject({ client: '10.0.0.1', repeats: 499 });
    audit.refused(denied('10.0.0.1'));
    expect(drafts).toHaveLength(4);
    vi.useRealTimers();
  });

  it('records at most 1,000 different refusals per interval and counts the rest together', async () => {
    const { drafts, audit } = log();
    for (let count = 0; count < 50_000; count += 1) audit.refused(denied(`10.${count}`));
    expect(drafts.length).toBeLessThanOrEqual(1001);
    await audit.close();
    expect(drafts.at(-1)).toMatchObject({ reason: 'others', repeats: 48_999 });
  });

  it('writes the pending counts when the log closes', async () => {
    const { drafts, audit } = log();
    audit.refused(denied('a'));
    audit.refused(denied('a'));
    await audit.close();
    expect(drafts.map(({ repeats }) => repeats)).toEqual([undefined, 1]);
  });
});

describe('allowed actions', () => {
  it('records each one', () => {
    const { drafts, audit } = log();
    for (let count = 0; count < 3; count += 1) audit.record({ principal: 'ann', action: 'send', decision: 'allowed' });
    expect(drafts).toHaveLength(3);
  });
});
