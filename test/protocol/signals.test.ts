import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { kept, linkSignals } from '../../src/protocol/signals.ts';
import { eventually } from '../support/eventually.ts';

describe('linked signals', () => {
  it('abort with the first source, with its reason', () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const { signal } = linkSignals([one.signal, undefined, other.signal]);
    expect(signal.aborted).toBe(false);
    other.abort('enough');
    one.abort('later');
    expect([signal.aborted, signal.reason]).toEqual([true, 'enough']);
  });

  it('are aborted from the start if a source is', () => {
    const linked = linkSignals([new AbortController().signal, AbortSignal.abort('gone')], 10_000);
    expect([linked.signal.reason, linked.isLate]).toEqual(['gone', false]);
  });

  it('abort after their timeout, and report that', async () => {
    const linked = linkSignals([new AbortController().signal], 5);
    await eventually(() => linked.signal.aborted);
    expect([linked.isLate, (linked.signal.reason as Error).name]).toEqual([true, 'TimeoutError']);
  });

  it('ignore their sources after release', async () => {
    const source = new AbortController();
    const linked = linkSignals([source.signal], 5);
    linked.release();
    source.abort();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(linked.signal.aborted).toBe(false);
  });

  it('survive the garbage collector', () => {
    const stopped = `new Promise((resolve) => {
      linkSignals([linkSignals([new AbortController().signal], 100).signal]).signal.addEventListener('abort', () => resolve('stopped'));
    })`;
    expect(collected(stopped)).toBe('stopped');
  });
});

describe('a request that kept() has tied to its signal', () => {
  const fetched = (made: string): string => `fetch(${made}).catch(() => 'stopped')`;

  it('is aborted by its signal after a garbage collection; the control is not', () => {
    const made = 'new Request(url, { signal: linkSignals([], 100).signal })';
    expect(collected(fetched(`kept(${made})`))).toBe('stopped');
    expect(collected(fetched(`kept(new Request(kept(${made})))`))).toBe('stopped');
    expect(isLost(fetched(made))).toBe(true);
  });

  it('is aborted by the signal it was made with, even if its fetch holds only a listener; the control is not', () => {
    const listening = (made: string): string =>
      `(() => {
        const linked = linkSignals([], 100);
        const request = ${made};
        return new Promise((resolve) => request.signal.addEventListener('abort', () => resolve('stopped')));
      })()`;
    const made = 'new Request(url, { signal: linked.signal })';
    expect(collected(listening(`kept(${made}, linked.signal)`))).toBe('stopped');
    expect(isLost(listening(`kept(${made})`))).toBe(true);
    const copied = (source: string): string => `(() => {
      const first = kept(${made}, linked.signal);
      return kept(new Request(first)${source});
    })()`;
    expect(collected(listening(copied(', first.signal')))).toBe('stopped');
    expect(isLost(listening(copied('')))).toBe(true);
    expect(
      collected(
        fetched(`(() => {
      const first = kept(new Request(url, { signal: linkSignals([], 100).signal }));
      return kept(new Request(first), first.signal);
    })()`),
      ),
    ).toBe('stopped');
  });

  it('is the same request', () => {
    const request = new Request('http://agent.example/');
    expect(kept(request)).toBe(request);
  });
});

/** For controls. On a busy machine a signal may abort before the first collection, so there are several attempts. */
function isLost(promise: string): boolean {
  return Array.from({ length: 8 }).some(() => collected(promise) === 'lost');
}

/** Runs a promise in a process that collects garbage continuously. */
function collected(promise: string): string {
  const program = `
    import { createServer } from 'node:http';
    import { kept, linkSignals } from ${JSON.stringify(fileURLToPath(new URL('../../src/protocol/signals.ts', import.meta.url)))};
    const server = createServer(() => {});
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = 'http://127.0.0.1:' + server.address().port;
    const waiting = ${promise};
    for (let i = 0; i < 20; i += 1) { await new Promise((next) => setTimeout(next, 2)); globalThis.gc(); }
    console.log(await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 1000, 'lost'))]));
    process.exit();`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', '--input-type=module', '--eval', program], { encoding: 'utf8' });
  return stdout.trim() || stderr;
}
