import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectFigure } from '../support/figures.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { metric } from '../support/server.ts';

/** docs/faults.md H14: no request may block the event loop for long, whatever it contains. */
const MIB = 1_048_000;
const fill = (make: (at: number) => string, size = MIB): string => {
  const parts: string[] = [];
  for (let at = 0, length = 0; length < size; at += 1) {
    const part = make(at);
    parts.push(part);
    length += part.length + 1;
  }
  return parts.slice(0, -1).join(',');
};
const send = (parts: string, more = ''): string =>
  `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"","role":"ROLE_USER","parts":[${parts}]${more}}}}`;

const BODIES: Readonly<Record<string, string>> = {
  keys: `{${fill((at) => `"k${at}":1`)}}`,
  'short keys': `{${fill((at) => `"${at.toString(36)}":0`)}}`,
  'empty objects': `[${fill(() => '{}')}]`,
  numbers: `[${fill(() => '1')}]`,
  digits: `[${'9'.repeat(MIB)}]`,
  depth: `${'['.repeat(MIB / 2)}${']'.repeat(MIB / 2)}`,
  'one text': send(`{"text":"${'x'.repeat(MIB - 300)}"}`),
  escapes: send(`{"text":"${'\\u00e9'.repeat((MIB - 300) / 6)}"}`),
  'metadata of many keys': send('{"text":"x"}', `,"metadata":{${fill((at) => `"k${at}":{}`, MIB - 300)}}`),
  'many parts': send(fill((at) => `{"text":"${at}"}`, MIB - 300)),
  'spaces before a bad end': `${' '.repeat(MIB)}x`,
};

describe('H14: one request', () => {
  let server: Parley;
  beforeAll(async () => {
    server = await parleyServe({ args: ['echo', '--memory'] });
  });
  afterAll(() => server.stop());

  it('of the worst kind does not delay other callers', async () => {
    const post = async (body: string): Promise<number> => {
      const response = await fetch(`${server.url}/a2a`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
      await response.text();
      return response.status;
    };
    for (const body of Object.values(BODIES)) await post(body); // once to warm up
    const longest: Record<string, number> = {};
    for (const [name, body] of Object.entries(BODIES)) {
      // Another caller sends requests all the time; each waits as long as the event loop is blocked.
      let isOver = false;
      const waits: number[] = [];
      const asking = (async () => {
        while (!isOver) {
          const began = performance.now();
          await (await fetch(`${server.url}/healthz`)).text();
          waits.push(performance.now() - began);
        }
      })();
      const statuses = [];
      for (let at = 0; at < 5; at += 1) statuses.push(await post(body));
      isOver = true;
      await asking;
      expect([name, statuses.every((status) => status < 500)]).toEqual([name, true]);
      longest[name] = waits.sort((a, b) => a - b)[Math.floor(waits.length / 2)] ?? 0;
    }
    // Client and server share the machine, so the median shows the delay that the server causes.
    for (const ms of Object.values(longest)) expectFigure(ms, { below: 50 });
    expectFigure(await metric(server.url, 'parley_event_loop_delay_seconds'), { below: 0.05 });
  });
});
