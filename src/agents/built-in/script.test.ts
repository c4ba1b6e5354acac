import { afterEach, describe, expect, it, vi } from 'vitest';
import { createUserMessage } from '#protocol';
import type { FakeTurn } from '../../../test/support/turns.ts';
import { chunksArtifact, fakeTurn, inShort, outputs } from '../../../test/support/turns.ts';
import { readDirectives } from './directives.ts';
import { createScript } from './script.ts';

const script = createScript();
const obeyed = async (text: string, options: FakeTurn = {}) => (await outputs(script, fakeTurn(text, options))).map(inShort);

afterEach(() => vi.useRealTimers());

describe('script', () => {
  it.each([
    ['', ['text chunk 1']],
    ['what is this?', ['text chunk 1']],
    ['chunks=3', ['text chunk 1', 'text chunk 2', 'text chunk 3']],
    ['chunks=0', []],
    ['chunks=2 size=10', ['text chunk 1...', 'text chunk 2...']],
    ['size=4', ['text chun']],
    ['size=0', ['text ']],
    ['ask', ['ask What should I answer?']],
    ['auth', ['auth I need a credential to continue.']],
    ['reject', ['reject The message asked me to reject this.']],
    ['fail', ['fail The message asked me to fail.']],
    ['message', ['message The message asked for an answer without a task.']],
    ['FAIL, after Chunks=1;', ['text chunk 1', 'fail The message asked me to fail.']],
    ['ask chunks=1 fail', ['text chunk 1', 'fail The message asked me to fail.']],
    ['failure messages askew asking=1', ['text chunk 1']],
  ])('obeys %j', async (text, expected) => {
    expect(await obeyed(text)).toEqual(expected);
  });

  it('crashes, after its chunks', async () => {
    const said: string[] = [];
    const crash = async () => {
      for await (const output of script.run(fakeTurn('chunks=1 crash'))) said.push(inShort(output));
    };
    await expect(crash()).rejects.toThrow('asked script to crash');
    expect(said).toEqual(['text chunk 1']);
  });

  it.each(['chunks=many', 'chunks=-1', 'chunks=1.5', 'size=', 'delay=1e9', 'sleep=99999999999999', 'size=1048577'])(
    'rejects %s, and names the allowed range',
    async (text) => {
      const [name] = text.split('=');
      expect(await obeyed(text)).toEqual([expect.stringMatching(`^reject ${name}=.*: it takes a whole number from 0 to \\d+[.]$`)]);
    },
  );

  it('treats the next message as the answer', async () => {
    const history = [createUserMessage('ask')];
    expect(await obeyed('chunks=3', { history })).toEqual(['artifact [{"text":"answer: chunks=3"}]']);
  });

  it('makes one artifact of all chunks', async () => {
    const made = await outputs(script, fakeTurn('chunks=3'));
    expect(new Set(made.map((output) => output.kind === 'text' && output.artifact))).toEqual(new Set(['chunks']));
  });

  it('continues an interrupted run with the first missing chunk', async () => {
    expect(script.recovery).toBe('resume');
    const artifacts = [chunksArtifact('chunks', ['chunk 1', 'chunk 2'])];
    expect(await obeyed('chunks=4', { attempt: 2, artifacts })).toEqual(['text chunk 3', 'text chunk 4']);
    expect(await obeyed('chunks=2', { attempt: 2, artifacts })).toEqual([]);
    expect(await obeyed('chunks=1', { attempt: 2 })).toEqual(['text chunk 1']);
  });

  it('waits before it works, and between chunks, not after them', async () => {
    vi.useFakeTimers();
    const begun = Date.now();
    const times: number[] = [];
    const running = (async () => {
      for await (const _ of script.run(fakeTurn('sleep=1000 chunks=3 delay=50'))) times.push(Date.now() - begun);
      times.push(Date.now() - begun);
    })();
    await vi.runAllTimersAsync();
    await running;
    expect(times).toEqual([1000, 1050, 1100, 1100]);
  });

  it.each(['sleep=60000', 'chunks=2 delay=60000'])('stops at once when it is canceled: %s', async (text) => {
    vi.useFakeTimers();
    const stop = new AbortController();
    const running = obeyed(text, { signal: stop.signal });
    await vi.advanceTimersByTimeAsync(10);
    stop.abort(new Error('canceled'));
    await expect(running).rejects.toThrow('canceled');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('sets no timer without a delay', async () => {
    const timer = vi.spyOn(globalThis, 'setTimeout');
    expect(await obeyed('chunks=1000')).toHaveLength(1000);
    expect(timer).not.toHaveBeenCalled();
    timer.mockRestore();
  });
});

describe('directives', () => {
  it('are distinguished from words that only start like them', () => {
    expect(readDirectives('please FAIL\nafter sleep=5')).toEqual({ chunks: 0, size: undefined, delayMs: 0, sleepMs: 5, ending: 'fail' });
    expect(readDirectives('__proto__=1 constructor=2 tostring=3')).toMatchObject({ chunks: 1, ending: undefined });
  });

  it('that contradict each other: the last one wins', () => {
    expect(readDirectives('chunks=1 chunks=2 ask fail')).toMatchObject({ chunks: 2, ending: 'fail' });
  });
});
