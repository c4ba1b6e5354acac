import { afterEach, describe, expect, it, vi } from 'vitest';
import type { AgentOutput, Part } from '#protocol';
import { base64ToBytes, contextId, createUserMessage, DIALECTS } from '#protocol';
import type { FakeTurn } from '../../../test/support/turns.ts';
import { fakeTurn, inShort, outputs } from '../../../test/support/turns.ts';
import { builtInAgents } from './built-in.ts';
import { createDemo } from './demo.ts';

const demo = createDemo({ wordMs: 0, stepMs: 0 });

async function said(content: string | readonly Part[], options: FakeTurn = {}): Promise<readonly AgentOutput[]> {
  const opened = options.opened ?? (await demo.open?.(contextId('c')));
  return outputs(demo, fakeTurn(content, { ...options, opened }));
}

const textOf = (all: readonly AgentOutput[]): string => all.map((output) => (output.kind === 'text' ? output.text : '')).join('');
const kinds = (all: readonly AgentOutput[]) => [...new Set(all.map(({ kind }) => kind))];

afterEach(() => vi.useRealTimers());

describe('demo', () => {
  it.each(['help', 'Hi there', 'hello!', '/menu'])('greets and lists its commands: %s', async (text) => {
    const words = textOf(await said(text));
    expect(words).toContain('Hello!');
    for (const command of ['stream', 'approve', 'file', 'data', 'dialects', 'slow', 'about', 'help'])
      expect(words).toMatch(`  ${command} `);
  });

  it('greets once in a conversation, and counts messages', async () => {
    const opened = await demo.open?.(contextId('c'));
    await said('help', { opened });
    expect(textOf(await said('help', { opened }))).not.toContain('Hello!');
    expect(textOf(await said('Nice weather', { opened }))).toContain('This is message 3 in this conversation');
  });

  it('answers anything else with its commands', async () => {
    const words = textOf(await said([{ text: 'Nice weather' }, { url: 'https://a.example/f' }]));
    expect(words).toContain('your first message in this conversation, with 1 file and 12 characters');
    expect(words).toContain('"help"');
  });

  it('streams word by word, the same each time', async () => {
    const [once, twice] = [await said('please stream something'), await said('stream')];
    expect(once.length).toBeGreaterThan(50);
    expect(textOf(once)).toBe(textOf(twice));
    expect(kinds(once)).toEqual(['text']);
  });

  it('waits between words, and stops when it is canceled', async () => {
    vi.useFakeTimers();
    const stop = new AbortController();
    const heard: string[] = [];
    const running = (async () => {
      const turn = fakeTurn('stream', { opened: { messages: 0 }, signal: stop.signal });
      for await (const output of createDemo().run(turn)) heard.push(inShort(output));
    })();
    await vi.advanceTimersByTimeAsync(100);
    expect(heard).toHaveLength(4);
    stop.abort(new Error('canceled'));
    await expect(running).rejects.toThrow('canceled');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('returns a file with its bytes', async () => {
    const [file, note] = await said('a file please');
    if (file?.kind !== 'artifact') throw new Error('no artifact');
    expect(file).toMatchObject({ name: 'hello.md', parts: [{ filename: 'hello.md', mediaType: 'text/markdown' }] });
    const text = new TextDecoder().decode(base64ToBytes(file.parts[0]?.raw ?? ''));
    expect(text).toContain('task-1');
    expect(text).toContain('> a file please');
    expect(note).toMatchObject({ kind: 'text' });
  });

  it('answers with data', async () => {
    expect(await said('data')).toEqual([
      { kind: 'data', name: 'facts', data: { taskId: 'task-1', contextId: 'context-1', principal: 'local', parts: 1, messages: 1 } },
    ]);
  });

  it.each(['dialects', 'which languages do you speak?'])('lists every dialect: %s', async (text) => {
    const words = textOf(await said(text));
    for (const { title } of DIALECTS) expect(words).toContain(title);
  });

  it('explains Parley', async () => {
    expect(textOf(await said('What is Parley?'))).toContain('A2A');
  });

  it('works slowly, and reports its progress', async () => {
    const all = await said('slow');
    expect(all.map(inShort)).toContain('status Step 10 of 10');
    expect(kinds(all)).toEqual(['status', 'text']);
  });

  it('has a command for every word of its card and of its list', async () => {
    for (const word of demo.card.skills[0]?.examples ?? []) {
      expect((await said(word)).length, word).toBeGreaterThan(0);
      expect(textOf(await said(word)), word).not.toContain('no language model');
    }
  });
});

describe('an approval', () => {
  const question = async () => {
    const [asked] = await said('approve');
    if (asked?.kind !== 'ask' || asked.question === undefined) throw new Error('no question');
    return asked.question;
  };
  const answered = async (content: string | readonly Part[]) =>
    said(content, { history: [createUserMessage('approve'), await question()] });

  it('is requested with text and options', async () => {
    expect((await question()).parts).toEqual([
      { text: expect.stringContaining('May I make a file named approved.md?') },
      {
        data: {
          options: [
            { optionId: 'allow', name: 'Yes, make it', kind: 'allow_once' },
            { optionId: 'reject', name: 'No, leave it', kind: 'reject_once' },
          ],
        },
      },
    ]);
  });

  it('creates the file if it is given', async () => {
    for (const yes of ['yes', 'y', 'Allow', [{ data: { optionId: 'allow' } }]]) {
      expect(await answered(yes)).toMatchObject([{ kind: 'artifact', name: 'approved.md' }, { kind: 'complete' }]);
    }
  });

  it('creates nothing if it is refused', async () => {
    for (const no of ['no', 'N', 'No, leave it', [{ data: { optionId: 'reject' } }]]) {
      expect((await answered(no)).map(({ kind }) => kind)).toEqual(['complete']);
    }
  });

  it('is requested again if the answer is neither yes nor no, for example a command', async () => {
    for (const unclear of ['maybe', 'help', 'yes to everything', [{ data: { optionId: 'other' } }]]) {
      expect((await answered(unclear)).map(inShort)).toEqual([expect.stringMatching('^ask May I make a file named approved.md')]);
    }
  });

  it('can be answered in another process, which reads the question from the history', async () => {
    const other = createDemo({ wordMs: 0, stepMs: 0 });
    const turn = fakeTurn('yes', { history: [createUserMessage('approve'), await question()], opened: { messages: 0 } });
    expect((await outputs(other, turn)).map(({ kind }) => kind)).toEqual(['artifact', 'complete']);
  });
});

describe('the built-in agents', () => {
  it('are these, each with a description', () => {
    expect([...builtInAgents.keys()]).toEqual(['demo', 'echo', 'script', 'conformance']);
    for (const { description } of builtInAgents.values()) expect(description).toMatch(/^[a-z][^\n]{20,100}$/);
  });

  it.each([...builtInAgents.keys()])('%s is made by its name', (name) => {
    const agent = builtInAgents.get(name)?.create();
    expect(agent?.card.name).toBe(name);
    expect(agent?.card.skills.length).toBeGreaterThan(0);
  });

  it('echo gives every part back unchanged, in one artifact', async () => {
    const parts: readonly Part[] = [
      { text: 'hi', metadata: { a: [1, null] } },
      { data: { deep: { er: [true] } }, mediaType: 'application/vnd.x+json' },
      { raw: 'AQID', filename: 'a.bin' },
      { url: 'https://a.example/f', mediaType: 'image/png' },
    ];
    const echo = builtInAgents.get('echo')?.create();
    if (echo === undefined) throw new Error('no echo');
    expect(await outputs(echo, fakeTurn(parts))).toEqual([{ kind: 'artifact', parts }]);
    expect(echo.card.defaultInputModes).toContain('*/*');
  });
});
