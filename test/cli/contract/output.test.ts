import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Parley } from '../../support/parley.ts';
import { parleyServe } from '../../support/parley.ts';
import { fakeAgent, statusOf, taskOf } from '../fake-agent.ts';
import { fieldOf, jsonOf, linesOf, run, start } from '../run.ts';
import { verifies } from './requirements.ts';

let script: Parley;
beforeAll(async () => {
  script = await parleyServe({ args: ['script', '--memory'] });
});
afterAll(() => script.stop());

const LOCAL = /^A2ACLI_ERR_(USAGE|CARD_NOT_FOUND|CARD_INVALID|UNREACHABLE|CREDENTIALS_MISSING|AUTH_FAILED|TIMEOUT|INTERNAL)$/;

interface Envelope {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null; readonly a2aCode: unknown };
}

describe('output', () => {
  verifies('A2ACLI_OUT_001', 'names task, context and state in every mode, on standard output only', async () => {
    for (const args of [
      ['send', 'hello'],
      ['send', '--stream', 'hello'],
      ['send', '--async', 'hello'],
      ['send', 'ask'],
    ]) {
      const ran = await run([...args, '-a', script.url]);
      for (const label of ['Task', 'Context', 'State']) expect(fieldOf(ran, label), args.join(' ')).toMatch(/\S/);
      expect(ran.out).not.toMatch(/warning|waiting for/);
      expect(ran.err).not.toMatch(/^(Task|State|Artifact):/m);
    }
    const json = jsonOf(await run(['send', '-a', script.url, '-o', 'json', 'ask']));
    expect(json).toMatchObject({
      task: { id: expect.any(String), contextId: expect.any(String), status: { state: 'TASK_STATE_INPUT_REQUIRED' } },
    });
  });

  verifies('A2ACLI_OUT_002', 'is one document, however many events there were', async () => {
    const ran = await run(['send', '-a', script.url, '-o', 'json', 'chunks=20']);
    expect(ran.out.trimEnd().split('\n')).toHaveLength(1);
    expect(jsonOf<{ task: { artifacts: [{ parts: unknown[] }] } }>(ran).task.artifacts[0].parts).toEqual([
      { text: Array.from({ length: 20 }, (_, at) => `chunk ${at + 1}`).join('') },
    ]);
  });

  verifies('A2ACLI_OUT_003', 'has one line per event as it happens; a broken stream ends with an error', async () => {
    const running = start(['send', '-a', script.url, '-o', 'json', '--stream', 'chunks=2 delay=2000']);
    await running.until(/artifactUpdate.*\n/);
    expect(running.out()).not.toContain('COMPLETED');
    const lines = linesOf(await running.ended);
    expect(lines.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
    const broken = await fakeAgent({
      on: {
        SendStreamingMessage: () => ({ frames: [{ task: taskOf('WORKING') }], cut: true }),
        SubscribeToTask: () => ({ frames: [], cut: true }),
      },
    });
    const cut = await run(['send', '-a', broken.url, '-o', 'json', '--stream', 'hi']);
    expect(cut.code).toBe(1);
    expect(linesOf(cut).map((line) => Object.keys(line)[0])).toEqual(['task', 'error']);
    expect(linesOf<Envelope>(cut).at(-1)?.error.hint).toContain('parley task get');
    await broken.close();
  });

  verifies('A2ACLI_OUT_004', 'has the same code for an error over both bindings, and one of eight codes for local errors', async () => {
    const get = (...more: string[]) => run(['task', 'get', '-a', script.url, 'nobody', '-o', 'json', ...more]);
    const [rpc, rest] = [jsonOf<Envelope>(await get('--transport', 'jsonrpc')), jsonOf<Envelope>(await get('--transport', 'rest'))];
    expect(rpc.error.code).toBe('TaskNotFoundError');
    expect(rest.error.code).toBe(rpc.error.code);
    expect(rpc.error.hint).toBe(`list known tasks: parley task list -a ${script.url} --transport jsonrpc; --debug shows what was sent`);
    const wrong = [
      ['task', 'get', '-o', 'json', '-a', script.url],
      ['send', '-o', 'json', '-a', 'http://127.0.0.1:65000', 'hi'],
      ['send', '-o', 'json', '-a', `${script.url}/nothing.json`, 'hi'],
      ['nonsense', '-o', 'json'],
      ['task', 'gte', '-o', 'json'],
    ];
    for (const args of wrong) {
      const { error } = jsonOf<Envelope>(await run(args));
      expect(error.code, args.join(' ')).toMatch(LOCAL);
      expect(error.a2aCode).toBeNull();
      expect(error.hint, args.join(' ')).toMatch(/\S/);
    }
  });

  verifies('A2ACLI_OUT_005', 'has label lines and closed blocks, and no control characters or prompts', async () => {
    const artifacts = [
      { artifactId: 'a', name: 'evil\u001b]0;title\u0007', parts: [{ text: '\u001b[2Jwiped\r\u001b[1A' }, { data: { n: 1 } }] },
    ];
    const agent = await fakeAgent({
      card: { capabilities: {} },
      on: { SendMessage: () => ({ result: { task: taskOf('COMPLETED', { artifacts }) } }) },
    });
    const { out } = await run(['send', '-a', agent.url, 'hi']);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none must be there
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(out).toContain('wiped');
    expect(out).toMatch(/^Text:\n[^\n]+\n\nData:\n\{\n {2}"n": 1\n\}\n\n$/m);
    const chat = await run(['chat', script.url], { input: 'hello\n' });
    expect(chat.out).toMatch(/^Task: \S+\nContext: \S+\nState: COMPLETED\nArtifact: chunks\nText:\nchunk 1\n\n\n$/);
    await agent.close();
  });

  verifies('A2ACLI_OUT_006', 'has both ids with --async', async () => {
    const text = await run(['send', '-a', script.url, '--async', 'sleep=60000']);
    expect([fieldOf(text, 'Task'), fieldOf(text, 'Context')]).toEqual([expect.stringMatching(/\S/), expect.stringMatching(/\S/)]);
    const json = jsonOf(await run(['send', '-a', script.url, '--no-wait', '-o', 'json', 'sleep=60000']));
    expect(json).toMatchObject({ task: { id: expect.any(String), contextId: expect.any(String) } });
  });

  verifies('A2ACLI_OUT_007', 'has the raw messages on standard error with --debug, without secrets', async () => {
    const { out, err } = await run(['send', '-a', script.url, '--debug', '--svc-param', 'X-Secret: s3cr3t-value', 'hello']);
    expect(out).toContain('State: COMPLETED');
    expect(err).toMatch(/debug: #\d+ -> POST .*\/a2a/);
    expect(err).toMatch(/-> \{"jsonrpc":"2.0".*"text":"hello"/);
    expect(err).toMatch(/<- data: \{"jsonrpc":"2.0"/);
    expect(err).not.toContain('s3cr3t-value');
  });
});

describe('exit codes', () => {
  verifies('A2ACLI_EXIT_001', 'are different for each class of failure, and agree with the error document', async () => {
    const secured = await fakeAgent({
      card: {
        securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
        securityRequirements: [{ schemes: { key: {} } }],
      },
      on: { '*': () => ({ status: 401 }) },
    });
    const slow = await fakeAgent({
      card: { capabilities: {} },
      on: { SendMessage: () => ({ result: { task: taskOf('WORKING') } }), GetTask: () => ({ result: taskOf('WORKING') }) },
    });
    const cases: readonly (readonly [number, string, readonly string[]])[] = [
      [1, 'A2ACLI_ERR_CARD_INVALID', ['card', 'get', '-a', new URL('../../../tsconfig.json', import.meta.url).href]],
      [2, 'A2ACLI_ERR_USAGE', ['send', '-a', script.url]],
      [2, 'A2ACLI_ERR_USAGE', ['send', '-a', script.url, '--timeout', 'soon', 'hi']],
      [3, 'A2ACLI_ERR_UNREACHABLE', ['send', '-a', 'http://127.0.0.1:65000', 'hi']],
      [3, 'A2ACLI_ERR_UNREACHABLE', ['send', '-a', 'http://no-such-host.invalid', 'hi']],
      [3, 'A2ACLI_ERR_CARD_NOT_FOUND', ['send', '-a', `${script.url}/nothing.json`, 'hi']],
      [3, 'A2ACLI_ERR_CARD_NOT_FOUND', ['send', '-a', './no-such-card.json', 'hi']],
      [4, 'A2ACLI_ERR_CREDENTIALS_MISSING', ['send', '-a', secured.url, 'hi']],
      [4, 'A2ACLI_ERR_AUTH_FAILED', ['send', '-a', secured.url, '--api-key', 'wrong-key', 'hi']],
      [5, 'A2ACLI_ERR_TIMEOUT', ['send', '-a', slow.url, '--timeout', '1s', 'hi']],
    ];
    for (const [exit, code, args] of cases) {
      const ran = await run([...args, '-o', 'json']);
      expect([ran.code, jsonOf<Envelope>(ran).error.code], args.join(' ')).toEqual([exit, code]);
    }
    const text = await run(['send', '-a', script.url]);
    expect([text.code, text.out]).toEqual([2, '']);
    expect(text.err).toMatch(/^Error: .+\nCode: A2ACLI_ERR_USAGE\nHint: .+\n$/);
    await secured.close();
    await slow.close();
  });

  verifies('A2ACLI_EXIT_002', 'are 0 for every state of the task', async () => {
    const states = { fail: 'FAILED', reject: 'REJECTED', ask: 'INPUT_REQUIRED', auth: 'AUTH_REQUIRED' };
    for (const [text, state] of Object.entries(states)) {
      const ran = await run(['send', '-a', script.url, text]);
      expect([ran.code, fieldOf(ran, 'State')], text).toEqual([0, state]);
      expect(ran.err).toContain(`(${state})`);
    }
    const streamed = await fakeAgent({
      on: { SendStreamingMessage: () => ({ frames: [{ task: taskOf('WORKING') }, statusOf('FAILED')] }) },
    });
    const ran = await run(['send', '-a', streamed.url, '--stream', 'hi']);
    expect([ran.code, fieldOf(ran, 'State')]).toEqual([0, 'FAILED']);
    await streamed.close();
  });
});
