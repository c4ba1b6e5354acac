import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { signCard } from '#protocol';
import { generateSigningKey, joseSigner, publicKeys } from '../../../src/protocol/adapters/jose.ts';
import { CARD } from '../../support/card.ts';
import type { Parley } from '../../support/parley.ts';
import { parleyServe } from '../../support/parley.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { fakeAgent, taskOf } from '../fake-agent.ts';
import { fieldOf, jsonOf, parley, run } from '../run.ts';
import { excludes, verifies } from './requirements.ts';

let script: Parley;
const folder = scratchFolder();
beforeAll(async () => {
  script = await parleyServe({ args: ['script', '--memory'] });
});
afterAll(() => script.stop());

const ERROR = /^Error: .+\nCode: (?:A2ACLI|PARLEY)_ERR_[A-Z_]+\n(?:Hint: .+\n)?$/;

describe('the tool', () => {
  verifies('A2ACLI_CLI_001', 'help shows the default that counts here, and where it comes from', async () => {
    const env = { A2ACLI_OUTPUT: 'json', A2ACLI_BEARER: 'tok-secret-1' };
    const { out } = await run(['help', 'send'], { env });
    expect(out).toMatch(/--output text\|json .*default: json, by A2ACLI_OUTPUT/);
    expect(out).toMatch(/--bearer TOKEN .*default: \*\*\*, by A2ACLI_BEARER/);
    expect((await run(['help', 'send'], { env: { A2ACLI_OUTPUT: 'xml' } })).out).toMatch(/--output .*default: text/);
  });

  excludes('A2ACLI_CLI_001', 'an unknown command or flag has the one error format of every command', async () => {
    const wrong = [
      ['nonsense'],
      ['--nonsense'],
      ['task', 'gte'],
      ['keys', 'creat'],
      ['ask'],
      ['chat'],
      ['server', '--nonsense'],
      ['doctor', '--x'],
      ['completion', 'x'],
    ];
    for (const args of wrong) {
      const { code, out, err } = parley(args);
      expect([code, out], args.join(' ')).toEqual([2, '']);
      expect(err, args.join(' ')).toMatch(ERROR);
    }
    const nowhere = parley(['push', 'ls', '--url', 'http://127.0.0.1:65003']);
    expect([nowhere.code, nowhere.err]).toEqual([3, expect.stringContaining('Code: A2ACLI_ERR_UNREACHABLE')]);
    const port = new URL(script.url).port;
    const taken = await run(['server', '--port', port]);
    expect([taken.code, taken.err.slice(taken.err.indexOf('Error: '))]).toEqual([1, expect.stringMatching(ERROR)]);
  });

  verifies('A2ACLI_DEFAULT_001', 'global flags with a value may stand before a command of two words', async () => {
    const done = fieldOf(await run(['send', '-a', script.url, 'hello']), 'Task') ?? '';
    for (const args of [
      ['-o', 'json', 'task', 'get', done, '-a', script.url],
      ['-a', script.url, '--timeout', '30s', 'task', '-o', 'json', 'get', done],
      ['--json', '-a', script.url, 'task', 'get', done],
    ]) {
      expect(jsonOf(await run(args)), args.join(' ')).toMatchObject({ id: done });
    }
    expect(parley(['-o', 'json', 'task', 'get', '--help']).out).toMatch(/^parley task get:/);
  });

  excludes('A2ACLI_DEFAULT_001', 'a default is not replaced by a value that makes no sense', async () => {
    for (const flag of ['--output=xml', '--a2a-version=latest', '--transport=soap', '--verbose=maybe', '--insecure=maybe'])
      expect(await run(['send', '-a', script.url, flag, 'hi']), flag).toMatchObject({ code: 2, out: '' });
  });

  excludes('A2ACLI_CLI_002', 'an unknown shell prints no script', () => {
    expect(parley(['completion', 'powershell'])).toMatchObject({ code: 2, out: '' });
    expect(parley(['completion'])).toMatchObject({ code: 2, out: '' });
    const { status } = spawnSync('bash', ['-n'], { input: parley(['completion', 'bash']).out });
    expect(status).toBe(0);
  });

  excludes('A2ACLI_DEMO_SERVER_001', 'keeps nothing of its practice', async () => {
    const home = mkdtempSync(join(folder, 'practice-'));
    expect((await run(['demo-server', '--port', 'x'], { env: { HOME: home } })).code).toBe(2);
    expect(readdirSync(home)).toEqual([]);
  });

  verifies('A2ACLI_EXIT_001', 'a failing conformance run is exit 1, with an error that agrees, and counts once', async () => {
    const bad = await fakeAgent({
      on: { SendMessage: () => ({ result: { task: taskOf('WORKING') } }), GetTask: () => ({ result: taskOf('WORKING') }) },
    });
    const text = await run(['conformance', '-a', bad.url]);
    const counts = fieldOf(text, 'Result') ?? 'missing';
    expect([text.code, text.err]).toEqual([
      1,
      expect.stringContaining(`Error: the agent does not conform: ${counts}\nCode: PARLEY_ERR_NOT_CONFORMANT\n`),
    ]);
    const json = jsonOf<{ error: { code: string }; totals: Record<string, number>; results: unknown[] }>(
      await run(['conformance', '-a', bad.url, '-o', 'json']),
    );
    expect(json.error.code).toBe('PARLEY_ERR_NOT_CONFORMANT');
    expect(Object.values(json.totals).reduce((sum, count) => sum + count, 0)).toBe(json.results.length);
    await bad.close();
  });

  excludes('A2ACLI_CONFORM_001', 'an agent that is not there is not found wanting', async () => {
    const ran = await run(['conformance', '-a', 'http://127.0.0.1:65002', '-o', 'json']);
    expect([ran.code, jsonOf(ran)]).toMatchObject([3, { error: { code: 'A2ACLI_ERR_UNREACHABLE' } }]);
  });
});

describe('configuration', () => {
  excludes('A2ACLI_CONFIG_001', 'tokens that others can read stop only what needs them', async () => {
    const home = mkdtempSync(join(folder, 'modes-'));
    const bearer = { httpAuthSecurityScheme: { scheme: 'Bearer' } };
    const agent = await fakeAgent({
      card: { capabilities: {}, securitySchemes: { bearer } },
      on: { SendMessage: () => ({ result: { task: taskOf('COMPLETED') } }) },
    });
    mkdirSync(join(home, '.config/a2a-cli'), { recursive: true });
    const path = join(home, '.config/a2a-cli/credentials.json');
    const login = {
      origin: agent.url,
      scheme: 'bearer',
      flow: 'device',
      source: { issuer: 'http://127.0.0.1:9' },
      clientId: 'c',
      scopes: [],
      tokens: { accessToken: 'tok-secret-1' },
    };
    writeFileSync(path, JSON.stringify({ logins: { [agent.url]: login } }));
    chmodSync(path, 0o644);
    const env = { HOME: home };
    expect((await run(['send', '-a', script.url, 'hello'], { env })).code).toBe(0);
    const needs = await run(['send', '-a', agent.url, 'hello'], { env });
    expect([needs.code, needs.err]).toEqual([4, expect.stringContaining('chmod 600')]);
    const shown = await run(['config', 'show'], { env });
    expect([shown.code, shown.err]).toEqual([0, expect.stringContaining('can be read by others')]);
    expect(JSON.stringify(agent.requests) + needs.err + shown.out).not.toContain('tok-secret-1');
    await agent.close();
  });

  excludes('A2ACLI_CONFIG_002', 'config show names what is bad, with its source, and shows the rest', async () => {
    const cwd = mkdtempSync(join(folder, 'bad-'));
    writeFileSync(join(cwd, '.env'), 'A2ACLI_OUTPUT=xml\nA2ACLI_TIMEOUT=soon\nA2ACLI_AGENT_CARD=agents.example.org\n');
    const { code, out, err } = await run(['config', 'show'], { cwd });
    expect([code, out]).toEqual([0, expect.stringContaining(`agent-card: agents.example.org (${join(cwd, '.env')})`)]);
    expect(out).toMatch(/^output: text \(default\); .*\.env: A2ACLI_OUTPUT can't be xml$/m);
    expect(err).toMatch(/warning: .*\.env: A2ACLI_TIMEOUT: soon is not a duration/);
    const used = await run(['task', 'list', '-a', script.url, '-o', 'text'], { cwd });
    expect([used.code, used.err]).toEqual([2, expect.stringContaining('A2ACLI_TIMEOUT: soon is not a duration')]);
    expect(readdirSync(cwd)).toEqual(['.env']);
  });
});

describe('cards', () => {
  excludes('A2ACLI_CARD_GET_002', 'an invalid card is read without --validate, and refused with it', async () => {
    const file = join(folder, 'odd.json');
    writeFileSync(file, JSON.stringify({ ...CARD, skills: [{ id: 'x', name: 'x', description: 'x' }] }));
    expect((await run(['card', 'get', file])).code).toBe(0);
    expect((await run(['card', 'get', file, '--validate'])).code).toBe(1);
  });

  excludes('A2ACLI_CARD_GET_004', 'a card that was changed after it was signed is not verified', async () => {
    const key = await generateSigningKey();
    const [jwks, forged] = [join(folder, 'keys.json'), join(folder, 'forged.json')];
    writeFileSync(jwks, JSON.stringify(publicKeys([key])));
    writeFileSync(forged, JSON.stringify({ ...(await signCard(CARD, joseSigner({ key }))), description: 'Signature: verified' }));
    const { out } = await run(['card', 'get', forged, '--jwks', jwks]);
    expect(out.match(/^Signature: .*$/gm)).toEqual(['Signature: unverifiable (mismatch)']);
  });

  excludes('A2ACLI_CARD_GET_005', 'a catalog without such an entry resolves to no card', async () => {
    const ran = await run(['send', '-a', `${script.url}/.well-known/ai-catalog.json#nobody`, '-o', 'json', 'hi']);
    expect([ran.code, jsonOf(ran)]).toMatchObject([3, { error: { code: 'A2ACLI_ERR_CARD_NOT_FOUND' } }]);
  });
});
