import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AgentOutput, Message } from '#protocol';
import { createUserMessage, messageId } from '#protocol';
import type { FakeTurn } from '../../../test/support/turns.ts';
import { fakeTurn, inShort, outputs } from '../../../test/support/turns.ts';
import { CONFORMANCE_PROFILES, createConformance } from './conformance.ts';

const agent = createConformance();
const FILE = '{"raw":"dGNr","filename":"output.txt","mediaType":"text/plain"}';
const FILE_URL = '{"url":"https://example.com/output.txt","filename":"output.txt","mediaType":"text/plain"}';

afterEach(() => vi.useRealTimers());

interface Timed {
  readonly said: readonly string[];
  readonly all: readonly AgentOutput[];
  /** The time of each output, and of the end of the run. */
  readonly times: readonly number[];
}

async function timed(text: string, options: FakeTurn = {}): Promise<Timed> {
  vi.useFakeTimers();
  const begun = Date.now();
  const all: AgentOutput[] = [];
  const times: number[] = [];
  const running = (async () => {
    for await (const output of agent.run(fakeTurn(text, options))) {
      all.push(output);
      times.push(Date.now() - begun);
    }
    times.push(Date.now() - begun);
  })();
  await vi.runAllTimersAsync();
  await running;
  return { said: all.map(inShort), all, times };
}

const SHARED: readonly (readonly [string, readonly string[]])[] = [
  ['tck-complete-task', ['complete Hello from TCK']],
  ['tck-message-response', ['message Direct message response']],
  ['tck-input-required', [expect.stringMatching('^ask .')]],
  ['tck-auth-required', [expect.stringMatching('^auth .')]],
  ['tck-reject-task', [expect.stringMatching('^reject .')]],
  ['tck-artifact-text', ['artifact [{"text":"Generated text content"}]']],
  ['tck-artifact-file-url', [`artifact [${FILE_URL}]`]],
  ['tck-artifact-file', [`artifact [${FILE}]`]],
  ['tck-artifact-data', ['artifact [{"data":{"key":"value","count":42}}]']],
];

describe('the official kit, by the messageId', () => {
  it.each([
    ...SHARED,
    ['tck-stream-001', ['status', 'artifact [{"text":"Stream hello from TCK"}]']],
    ['tck-stream-002', ['complete']],
    ['tck-stream-003', ['status', 'artifact [{"text":"Stream task lifecycle"}]']],
    ['tck-stream-ordering-001', ['status', 'artifact [{"text":"Ordered output"}]']],
    ['tck-stream-artifact-text', ['status', 'artifact [{"text":"Streamed text content"}]']],
    ['tck-stream-artifact-file', ['status', `artifact [${FILE}]`]],
    ['tck-stream-artifact-chunked', ['status', 'artifact [{"text":"chunk-1 "}]', 'artifact [{"text":"chunk-2"}]']],
    ['tck-infer-ctx', ['complete Done.']],
    ['tck-dm-test-001', ['complete Done.']],
  ] as const)('%s', async (id, expected) => {
    expect((await outputs(agent, fakeTurn('Hello', { messageId: messageId(`${id}-5f2c`) }))).map(inShort)).toEqual(expected);
    expect((await outputs(agent, fakeTurn('Hello', { messageId: messageId(id) }))).map(inShort)).toEqual(expected);
  });

  it.each([
    ['test-resubscribe-message-id', 4000],
    ['tck-delayed-complete', 2000],
  ])('%s works for %i ms', async (id, ms) => {
    const { said, times } = await timed('Hello', { messageId: messageId(id) });
    expect(said).toEqual(['status']);
    expect(times).toEqual([0, ms]);
  });

  it('stays input-required on follow-ups with the same prefix', async () => {
    const history = [createUserMessage('Hello', { messageId: messageId('tck-input-required-1') })];
    const turn = fakeTurn('Hello', { messageId: messageId('tck-input-required-2'), history });
    expect((await outputs(agent, turn)).map(({ kind }) => kind)).toEqual(['ask']);
  });

  it('gives its messages new ids in every run, although the ids of the kit repeat', async () => {
    const turn = () => fakeTurn('Hello', { messageId: messageId('tck-complete-task') });
    const ids = await Promise.all([0, 1].map(async () => (await outputs(agent, turn()))[0]));
    const [one, two] = ids.map((output) => output?.kind === 'complete' && output.message?.messageId);
    expect(one).not.toBe(two);
  });
});

describe('the ACTS draft, by the first word', () => {
  it.each([
    ...SHARED,
    ['tck-task-failure', [expect.stringMatching('^fail .')]],
    ['tck-multi-turn', ['ask']],
    ['tck-stream-chunked', ['status', ...['chunk-1 ', 'chunk-2 ', 'chunk-3'].map((text) => `artifact [{"text":"${text}"}]`)]],
    ['tck-artifact-filer', ['complete Done.']],
    ['Hello', ['complete Done.']],
  ] as const)('%s', async (word, expected) => {
    for (const text of [word, `${word} and some noise`, `${word}\ttck-reject-task`]) {
      expect((await outputs(agent, fakeTurn(text))).map(inShort)).toEqual(expected);
    }
  });

  it('reads only the first part', async () => {
    const turn = fakeTurn([{ data: 1 }, { text: 'tck-reject-task' }]);
    expect((await outputs(agent, turn)).map(inShort)).toEqual(['complete Done.']);
  });

  it('appends chunks to one artifact, and marks the last one', async () => {
    const { all } = await timed('tck-stream-chunked');
    const chunks = all.filter((output) => output.kind === 'artifact');
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks.map(({ append }) => append)).toEqual([false, true, true]);
    expect(chunks.map(({ last }) => last)).toEqual([false, false, true]);
  });

  it('tck-long-running works for 5 s, then has an artifact', async () => {
    const { said, times } = await timed('tck-long-running');
    expect(said).toEqual(['status', expect.stringMatching('^artifact')]);
    expect(times).toEqual([0, 5000, 5000]);
  });

  it('tck-stream-basic leaves 100 to 300 ms between its events', async () => {
    const { said, times } = await timed('tck-stream-basic');
    expect(said).toEqual(['status', expect.stringMatching('^artifact')]);
    expect(times).toEqual([0, 200, 400]);
  });

  it('tck-cancel runs until it is canceled, for at most a minute', async () => {
    const { said, times } = await timed('tck-cancel');
    expect(said).toEqual(['status', expect.stringMatching('^fail')]);
    expect(times).toEqual([0, 60_000, 60_000]);
    const stop = new AbortController();
    const running = outputs(agent, fakeTurn('tck-cancel', { signal: stop.signal }));
    stop.abort(new Error('canceled'));
    await expect(running).rejects.toThrow('canceled');
  });

  describe('tck-multi-turn', () => {
    const first: Message = createUserMessage('tck-multi-turn please');
    const answered = async (text: string) => (await outputs(agent, fakeTurn(text, { history: [first] }))).map(inShort);

    it('continues after any message, without a message of the agent', async () => {
      expect(await answered('more')).toEqual(['ask']);
      expect(await answered('tck-multi-turn')).toEqual(['ask']);
      expect(await answered('done.')).toEqual(['ask']);
    });

    it('ends with exactly done', async () => {
      expect(await answered('done')).toEqual(['complete']);
      expect((await outputs(agent, fakeTurn('done'))).map(inShort)).toEqual(['complete Done.']);
    });
  });
});

describe('the profiles', () => {
  const capabilities = (profile: (typeof CONFORMANCE_PROFILES)[number]) => createConformance({ profile }).card.capabilities;

  it('declare the right capabilities', () => {
    expect(capabilities('full')).toEqual({ streaming: true, pushNotifications: true, extendedAgentCard: false });
    expect(capabilities('basic')).toEqual({ streaming: false, pushNotifications: false, extendedAgentCard: false });
    expect(capabilities('extended-card')).toEqual({ streaming: true, pushNotifications: true, extendedAgentCard: true });
    expect(capabilities('required-extension')).toMatchObject({ extensions: [{ uri: 'urn:a2a:tck:required-extension', required: true }] });
  });

  it.each(CONFORMANCE_PROFILES)('%s has an extended card if its card declares one', (profile) => {
    expect(createConformance({ profile }).extendedCard !== undefined).toBe(capabilities(profile).extendedAgentCard);
  });

  it('accept only plain text, and the types that a kit adds', () => {
    expect(agent.card.defaultInputModes).toEqual(['text/plain']);
    expect(createConformance({ inputModes: ['application/x-kit'] }).card.defaultInputModes).toEqual(['text/plain', 'application/x-kit']);
  });
});

describe('profiles for kits', () => {
  it('take what each kit sends', () => {
    expect(createConformance().card.defaultInputModes).toEqual(['text/plain']);
    expect(createConformance({ profile: 'tck' }).card.defaultInputModes).toEqual(['text/plain', 'application/x-unsupported-tck-type']);
    expect(createConformance({ profile: 'tck-0.3' }).card.defaultInputModes).toEqual(['text/plain', 'application/json', '*/*']);
  });

  it('leave tasks open that the kit for 0.3 continues and cancels', async () => {
    const made = await outputs(createConformance({ profile: 'tck-0.3' }), fakeTurn('hello'));
    expect(made.map(inShort)).toEqual(['ask What next?']);
  });

  it('share the extended card with everybody only where a kit asks for it', () => {
    expect(CONFORMANCE_PROFILES.filter((profile) => createConformance({ profile }).extendedCardForAll)).toEqual(['extended-card']);
  });
});
