import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Exchange } from '../support/corpus.ts';
import { corpus, corpusDialects } from '../support/corpus.ts';
import { problemsIn } from '../support/log-lines.ts';
import { mutate, seeded } from '../support/mutate.ts';
import type { Parley } from '../support/parley.ts';
import { sendTask } from './client.ts';
import { startParley } from './parley.ts';
import { times } from './size.ts';

/** docs/faults.md I1 over a socket. `mutations.test.ts` sends ten times as many to the bindings alone, and checks what they change. */
const MUTATIONS = times(10_000, 100_000);
const AT_ONCE = 8;
const HANGS_MS = 10_000;

const exchanges = corpusDialects().flatMap((dialect) =>
  corpus(dialect).filter(({ request, rest }) => request !== undefined || rest?.body !== undefined),
);

describe('I1: mutated requests to the server', () => {
  let server: Parley;
  beforeAll(async () => {
    server = await startParley({ agent: 'echo' });
  });
  afterAll(() => server.kill());

  it(`(${MUTATIONS}) cause no crash, no 5xx, no hang and no internal error`, { timeout: 600_000 }, async () => {
    const random = seeded(1);
    const outcomes = new Map<string, number>();
    let left = MUTATIONS;
    const caller = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const exchange = exchanges[Math.floor(random() * exchanges.length)] as Exchange;
        const body = mutate(new TextEncoder().encode(JSON.stringify(exchange.request ?? exchange.rest?.body)), random);
        const outcome = await post(exchange, body);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, caller));
    process.stdout.write(`I1: ${JSON.stringify(Object.fromEntries([...outcomes].sort((a, b) => b[1] - a[1])))}\n`);
    expect([...outcomes.keys()].filter((outcome) => /^5|hang/.test(outcome))).toEqual([]);
    expect((outcomes.get('200') ?? 0) / MUTATIONS).toBeGreaterThan(0.1);
    expect(problemsIn(server.errors())).toEqual([]);
    expect((await sendTask(server.url, 'still here')).status.state).toBe('TASK_STATE_COMPLETED');
  });

  async function post(exchange: Exchange, body: Uint8Array): Promise<string> {
    const path = exchange.rest?.path ?? exchange.path ?? '/a2a';
    const signal = AbortSignal.timeout(HANGS_MS);
    const headers = { 'Content-Type': 'application/json' };
    const shown = `${exchange.file}: ${new TextDecoder().decode(body).slice(0, 500)}`;
    try {
      const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: new Uint8Array(body), signal });
      if (response.status >= 500) return `${response.status} ${shown}`;
      // A stream may last as long as its task, so the first chunk is enough.
      if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) await response.body?.cancel();
      else await response.arrayBuffer();
      return String(response.status);
    } catch (thrown) {
      return `hang ${String(thrown)} ${shown}`;
    }
  }
});
