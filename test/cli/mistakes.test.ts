import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { HOME, run } from './run.ts';

const folder = scratchFolder();

let script: Parley;
beforeAll(async () => {
  script = await parleyServe({ args: ['script', '--memory'] });
});
afterAll(() => script.stop());

/** Mistakes on the command line, the error that names them, and the start of the hint. */
const MISTAKES: readonly (readonly [name: string, args: readonly string[], message: string, hint: string])[] = [
  ['a chat with nobody', ['chat'], 'the URL of the agent is missing', 'example: parley chat '],
  ['a question to nobody', ['ask'], 'the URL of the agent is missing', 'example: parley ask '],
  ['a message to nobody', ['send', 'hi'], '--agent-card is missing', 'example: -a '],
  ['an empty text', ['send', '-a', 'URL', ''], 'the text is empty', 'example: parley send '],
  ['nothing to send', ['send', '-a', 'URL'], 'there is nothing to send', 'example: parley send '],
  ['a blank context', ['send', '-a', 'URL', '--context-id', ' ', 'hi'], '--context-id is empty', 'usage: --context-id ID'],
  ['a blank task', ['task', 'get', '-a', 'URL', ' '], 'TASK is empty', 'usage: parley task get TASK'],
  ['a missing task', ['task', 'get', '-a', 'URL'], 'TASK is missing', 'usage: parley task get TASK'],
  ['a word too many', ['task', 'get', '-a', 'URL', 'a', 'b'], 'there is no place for b', 'usage: parley task get TASK'],
  ['help for no command', ['help', 'task', 'gte'], 'there is no command task gte', 'did you mean get?'],
  ['completion for no shell', ['completion'], 'the shell is missing', 'one of: bash'],
  ['a folder as configuration', ['config', 'show', '--config', HOME], `--config: ${HOME} is a folder`, 'name a dotenv file'],
  [
    'a number of messages below 0',
    ['task', 'get', '-a', 'URL', 'a', '--history=-1'],
    '--history: -1 is no number',
    'example: --history 10',
  ],
];

/** Nobody listens there. */
const DEAD = 'postgres://parley@127.0.0.1:1/parley';

describe('a mistake in the settings of nodes on one database', () => {
  it.each([
    ['serve script --advertise 127.0.0.1', 2, 'advertise works with a Postgres database only'],
    [`serve script --store ${DEAD} --advertise http://10.0.0.5:7000`, 2, 'advertise must be HOST or HOST:PORT, as 10.0.0.5'],
    [`serve script --store ${DEAD} --advertise 10.0.0.5:70000`, 2, 'advertise must be HOST or HOST:PORT, as 10.0.0.5'],
    ['serve script --blobs s3://bucket', 2, 'blobs works with a Postgres database only'],
    ['serve script --workers 2', 2, '--workers needs a Postgres database'],
    ['serve script --store mysql://localhost/x', 2, 'store must be a URL that starts with postgres://'],
    ['replicas --store mysql://localhost/x', 2, 'store must be a URL that starts with postgres://'],
    [
      'serve script --store postgres://parley:se#cret@127.0.0.1:1/parley',
      2,
      'store is not a valid URL. Write postgres://USER:PASSWORD@HOST',
    ],
    ['replicas --store postgres://parley:se#cret@127.0.0.1:1/parley', 2, 'store is not a valid URL'],
    ['audit tail --store sqlite:./data', 1, 'store must be a URL that starts with postgres://'],
    ['store copy sqlite:./data postgres://parley:se#cret@127.0.0.1:1/parley', 2, 'store is not a valid URL'],
    ['replicas here', 2, 'here: replicas takes no argument'],
    [`serve script --store ${DEAD}`, 1, 'connect ECONNREFUSED 127.0.0.1:1. Start the server, or correct the host and port'],
    [`replicas --store ${DEAD}`, 1, 'connect ECONNREFUSED 127.0.0.1:1. Start the server, or correct the host and port'],
  ])('parley %s', async (line, code, message) => {
    const ran = await run([...line.split(' '), ...(line.startsWith('serve') ? ['--data', join(folder, 'data'), '--port', '0'] : [])]);
    expect([ran.code, ran.err]).toEqual([code, expect.stringContaining(message)]);
    expect(ran.err).not.toContain('cret');
  });
});

describe('a mistake on the command line', () => {
  it.each(MISTAKES)('%s is wrong usage, with a hint', async (_, args, message, hint) => {
    const { code, out, err } = await run(args.map((arg) => (arg === 'URL' ? script.url : arg)));
    expect([code, out, err.split('\n')]).toEqual([
      2,
      '',
      [expect.stringContaining(`Error: ${message}`), 'Code: A2ACLI_ERR_USAGE', expect.stringContaining(`Hint: ${hint}`), ''],
    ]);
  });

  it('does not show a --svc-param that it refuses, which may be a secret', async () => {
    const { code, out, err } = await run(['send', '-a', script.url, '--debug', '--svc-param', 'X-Api-Key sk-secret-1', 'hi']);
    expect([code, `${out}${err}`]).toEqual([2, expect.stringContaining('--svc-param: a value is not NAME:VALUE')]);
    expect(err).not.toContain('sk-secret-1');
  });

  it('accepts a time limit below a millisecond, which has passed', async () => {
    const { code, err } = await run(['send', '-a', script.url, '--timeout', '0.0001s', 'sleep=500']);
    expect([code, err]).toEqual([5, expect.stringContaining('Code: A2ACLI_ERR_TIMEOUT')]);
  });

  it.each([
    ['a file that is not there', '/file no-such-file\nhi\n', 'there is no file no-such-file'],
    ['an unknown command', '/etc/hosts\nhi\n', 'there is no command /etc in a chat'],
  ])('ends a chat off a terminal before the next message is sent: %s', async (_, input, message) => {
    const { code, out, err } = await run(['chat', script.url], { input });
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(`Error: ${message}\nCode: A2ACLI_ERR_USAGE\n`)]);
  });
});
