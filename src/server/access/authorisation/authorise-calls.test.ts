import { expect, it } from 'vitest';
import type { A2AService, CallContext } from '#protocol';
import { A2AError, taskId } from '#protocol';
import type { AuditDraft } from '../../audit/chain.ts';
import { authoriseCalls } from './authorise-calls.ts';

it('records a send once whose caller leaves before another node has named its task', async () => {
  const records: AuditDraft[] = [];
  const told: string[] = [];
  let admit = (): void => {};
  const service = {
    send: async (_request: unknown, ctx: CallContext) => {
      admit = () => ctx.onAdmitted?.(taskId('task-1'));
      throw new A2AError('UNAVAILABLE', 'the caller has left');
    },
  } as unknown as A2AService;
  const audit = { record: (draft: AuditDraft) => void records.push(draft), refused: () => {} };
  const authorised = authoriseCalls(service, { agent: 'script' } as never, audit as never);
  const ctx = {
    ...{ principal: { id: 'alice', scopes: ['*'] }, dialect: 'v10', extensions: [], signal: new AbortController().signal },
    onAdmitted: (task: string) => void told.push(task),
  } as unknown as CallContext;
  await expect(authorised.send({} as never, ctx)).rejects.toThrow('the caller has left');
  admit();
  expect([records.length, told]).toEqual([1, ['task-1']]);
});
