import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { onRealBrokers, onStop, start, stopAll } from '../mesh/nodes.ts';

afterEach(stopAll);

onRealBrokers('B10: two nodes on one store', (startBroker) => {
  it('conflict: the second does not start and reports why, and the first continues', async () => {
    const broker = await startBroker();
    const data = mkdtempSync(join(tmpdir(), 'parley-b10-'));
    onStop(async () => rmSync(data, { recursive: true, force: true }));
    const first = await start(broker.url, ['echo'], { args: ['--data', data] });
    await expect(start(broker.url, ['echo'], { args: ['--data', data] })).rejects.toThrow(/echo is served already, at \S+ \(process \d+\)/);
    const answer = await fetch(`${first.url}/message:send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] } }),
    });
    expect(await answer.text()).toContain('hello');
  });
});
