import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createUnsentBudget } from '../../src/server/access/limits/unsent-budget.ts';
import { writeAnswer } from '../../src/server/adapters/node/write-response.ts';
import { eventually } from '../support/eventually.ts';

/** A connection whose client takes nothing. */
class StuckSocket extends Socket {
  override _write(): void {}
  override _writev(): void {}
}

it('a short response that the client does not take counts, until the client is disconnected', async () => {
  const socket = new StuckSocket();
  const outgoing = new ServerResponse(new IncomingMessage(socket));
  outgoing.assignSocket(socket);
  const budget = createUnsentBudget({ unsentConnectionBytesMax: 0, unsentCallerBytesMax: 0, unsentBytesMax: 0 });
  let cuts = 0;
  const options = { idleMsMax: 200, isLast: false, onDelivered: undefined, onCut: () => (cuts += 1), budget, caller: 'ann' };
  writeAnswer(outgoing, { status: 200, headers: {}, body: 'x'.repeat(30_000) }, options);
  expect(budget.bytes).toBeGreaterThan(30_000);
  await eventually(() => socket.destroyed);
  expect([budget.bytes, cuts]).toEqual([0, 1]);
});
