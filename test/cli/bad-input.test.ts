import { describe, expect, it } from 'vitest';
import type { Answering } from '../support/broken-servers.ts';
import { always, badCalls, expiredTls, html, json } from '../support/broken-servers.ts';
import type { Listening } from '../support/listen.ts';
import { fakeAgent, taskOf } from './fake-agent.ts';
import { jsonOf, linesOf, run } from './run.ts';

interface Envelope {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null };
}

/** Failures between `parley send` and an agent: each has its own exit code, error code, message and hint. */
const CASES: readonly {
  readonly name: string;
  readonly open: () => Promise<Listening>;
  readonly exit: number;
  readonly code: string;
  readonly message: RegExp;
  readonly hint: RegExp;
  readonly args?: readonly string[];
}[] = [
  {
    name: 'a wrong address',
    open: at('http://127.0.0.1:65000'),
    exit: 3,
    code: 'A2ACLI_ERR_UNREACHABLE',
    message: /nothing listens at/,
    hint: /port/,
  },
  {
    name: 'an unknown host',
    open: at('https://no-such-host.invalid'),
    exit: 3,
    code: 'A2ACLI_ERR_UNREACHABLE',
    message: /can’t resolve the host/,
    hint: /spelling/,
  },
  {
    name: 'an expired certificate',
    open: expiredTls,
    exit: 3,
    code: 'A2ACLI_ERR_UNREACHABLE',
    message: /no secure connection/,
    hint: /--ca FILE/,
  },
  {
    name: 'not an agent',
    open: every((_, out) => json(out, 200, { hello: 'world' })),
    exit: 1,
    code: 'A2ACLI_ERR_CARD_INVALID',
    message: /not an agent card/,
    hint: /supportedInterfaces/,
  },
  {
    name: 'HTML instead of a card',
    open: every((_, out) => html(out)),
    exit: 1,
    code: 'A2ACLI_ERR_CARD_INVALID',
    message: /is a web page/,
    hint: /for people/,
  },
  {
    name: 'no card',
    open: every((_, out) => json(out, 404, {})),
    exit: 3,
    code: 'A2ACLI_ERR_CARD_NOT_FOUND',
    message: /HTTP 404/,
    hint: /parley doctor/,
  },
  {
    name: 'no card, at an address with the digits of the status',
    open: async () => {
      const server = await always((_, out) => json(out, 404, {}));
      return { ...server, url: `${server.url}/room-404` };
    },
    exit: 3,
    code: 'A2ACLI_ERR_CARD_NOT_FOUND',
    message: /HTTP 404/,
    hint: /parley doctor/,
  },
  {
    name: 'a card that fails',
    open: every((_, out) => json(out, 500, {})),
    exit: 3,
    code: 'A2ACLI_ERR_CARD_NOT_FOUND',
    message: /HTTP 500/,
    hint: /operator/,
  },
  {
    name: 'a card for friends',
    open: every((_, out) => json(out, 401, {})),
    exit: 4,
    code: 'A2ACLI_ERR_CREDENTIALS_MISSING',
    message: /HTTP 401/,
    hint: /file/,
  },
  {
    name: 'a card in circles',
    open: every((_, out) => void out.writeHead(302, { Location: '/x.json' }).end()),
    exit: 3,
    code: 'A2ACLI_ERR_CARD_NOT_FOUND',
    message: /in circles/,
    hint: /final address/,
  },
  {
    name: 'a card that lies about its length',
    open: every(short),
    exit: 1,
    code: 'PARLEY_ERR_CUT_OFF',
    message: /too early|cut off/,
    hint: /prox/,
  },
  {
    name: 'calls without credentials',
    open: calls((_, out) => json(out, 401, {})),
    exit: 4,
    code: 'A2ACLI_ERR_CREDENTIALS_MISSING',
    message: /needs credentials/,
    hint: /A2ACLI_BEARER/,
  },
  {
    name: 'calls that are forbidden',
    open: calls((_, out) => json(out, 403, {})),
    exit: 4,
    code: 'A2ACLI_ERR_AUTH_FAILED',
    message: /rejects/,
    hint: /scope or role/,
  },
  {
    name: 'calls to nowhere',
    open: calls((_, out) => json(out, 404, {})),
    exit: 1,
    code: 'PARLEY_ERR_HTTP_ERROR',
    message: /no agent at/,
    hint: /parley doctor/,
  },
  {
    name: 'calls that fail',
    open: calls((_, out) => json(out, 500, {})),
    exit: 1,
    code: 'PARLEY_ERR_SERVER_ERROR',
    message: /HTTP 500/,
    hint: /operator/,
  },
  {
    name: 'calls that are too many',
    open: calls((_, out) => json(out, 429, {})),
    exit: 1,
    code: 'PARLEY_ERR_RATE_LIMITED',
    message: /no more requests/,
    hint: /wait/,
  },
  {
    name: 'calls that are sent elsewhere',
    open: calls((_, out) => void out.writeHead(307, { Location: '/x' }).end()),
    exit: 1,
    code: 'PARLEY_ERR_REDIRECT',
    message: /307/,
    hint: /final address/,
  },
  {
    name: 'answers that are not A2A',
    open: calls((_, out) => json(out, 200, { hello: 'world' })),
    exit: 1,
    code: 'PARLEY_ERR_INVALID_RESPONSE',
    message: /not A2A/,
    hint: /--debug/,
  },
  {
    name: 'answers that end too early',
    open: calls(short),
    exit: 1,
    code: 'PARLEY_ERR_CUT_OFF',
    message: /too early|cut off/,
    hint: /prox/,
  },
  {
    name: 'silence',
    open: calls(() => undefined),
    exit: 5,
    code: 'A2ACLI_ERR_TIMEOUT',
    message: /time/,
    hint: /--timeout 1s/,
    args: ['--timeout', '1s'],
  },
];

function at(url: string): () => Promise<Listening> {
  return async () => ({ url, close: async () => undefined });
}

function every(answer: Answering): () => Promise<Listening> {
  return () => always(answer);
}

function calls(answer: Answering): () => Promise<Listening> {
  return () => badCalls(answer, { capabilities: {} });
}

/** Announces more bytes than it sends. */
function short(_: Parameters<Answering>[0], outgoing: Parameters<Answering>[1]): void {
  outgoing.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '5000' }).write('{"name":');
  setTimeout(() => outgoing.destroy(), 50);
}

describe('failures between parley and an agent', () => {
  for (const { name, open, exit, code, message, hint, args = [] } of CASES) {
    it(name, async () => {
      const server = await open();
      const ran = await run(['send', '-a', server.url, '-o', 'json', ...args, 'hi']);
      const { error } = jsonOf<Envelope>(ran);
      expect([ran.code, error.code], JSON.stringify(error)).toEqual([exit, code]);
      expect(error.message).toMatch(message);
      expect(error.hint).toMatch(hint);
      const asked = await run(['ask', server.url, 'hi', ...args]);
      expect([asked.code !== 0, asked.out], asked.err).toEqual([true, '']);
      expect(asked.err).toMatch(/^Error: .+\nCode: \S+\nHint: \S/m);
      await server.close();
    });
  }

  it('a stream with garbage in it', async () => {
    const agent = await fakeAgent({
      on: {
        SendStreamingMessage: () => ({ frames: [{ task: taskOf('WORKING') }, '{"no":'] }),
        SubscribeToTask: () => ({ frames: ['{"no":'] }),
        GetTask: () => ({ result: taskOf('COMPLETED') }),
      },
    });
    const ran = await run(['send', '-a', agent.url, '-o', 'json', '--stream', 'hi']);
    expect([ran.code, linesOf(ran).at(-1)]).toMatchObject([0, { task: { status: { state: 'TASK_STATE_COMPLETED' } } }]);
    await agent.close();
  });

  it('follows a redirect of the card without sending service parameters there', async () => {
    const there = await fakeAgent({ card: { capabilities: {} }, on: { SendMessage: () => ({ result: { task: taskOf('COMPLETED') } }) } });
    const here = await always((_, out) => void out.writeHead(302, { Location: `${there.url}/.well-known/agent-card.json` }).end());
    const ran = await run(['send', '-a', here.url, '--svc-param', 'X-Tenant: mine', 'hi']);
    expect(ran.code, ran.err).toBe(0);
    expect(there.requests[0]?.headers['x-tenant']).toBeUndefined();
    await here.close();
    await there.close();
  });
});

describe('wrong usage', () => {
  it.each([
    [['send', '-a', 'localhost:1', '--strem', 'x'], /did you mean --stream\?/],
    [['send', '-a'], /--agent-card needs a value/],
    [['send', '--agent-card', '--stream'], /--agent-card needs a value/],
    [['send', 'hello'], /--agent-card is missing/],
    [['send', '-a', 'localhost:1', '--output', 'jsn', 'x'], /did you mean json\?/],
    [['send', '-a', 'localhost:1', '--metadata', '[1]', 'x'], /not a JSON object/],
    [['send', '-a', 'localhost:1', '--svc-param', 'nonsense', 'x'], /NAME:VALUE/],
    [['send', '-e', 'http://localhost:1', 'x'], /exactly one --transport/],
    [['send', '-a', 'localhost:1', '--a2a-version', 'one', 'x'], /is not a version/],
    [['task', 'get', '-a', 'localhost:1'], /TASK is missing/],
    [['task', 'get', '-a', 'localhost:1', 't', 'u'], /there is no place for u/],
    [['task', 'lst'], /did you mean list\?/],
    [['crd', 'get'], /did you mean card\?/],
    [['send', '-a', 'localhost:1', '--file-part', './no-such-file'], /there is no file/],
    [['remote', 'lss'], /did you mean ls\?/],
  ])('%s', async (args, said) => {
    const { code, out, err } = await run(args);
    expect([code, out], err).toEqual([2, '']);
    expect(err).toMatch(said);
  });

  it('accepts global options before the command, and text after --', async () => {
    const agent = await fakeAgent({ card: { capabilities: {} }, on: { SendMessage: () => ({ result: { task: taskOf('COMPLETED') } }) } });
    const ran = await run(['-o', 'json', '-a', agent.url, 'send', '--', '--help']);
    expect(jsonOf(ran)).toMatchObject({ task: { id: 't-1' } });
    expect(agent.calls('SendMessage')[0]?.params).toMatchObject({ message: { parts: [{ text: '--help' }] } });
    await agent.close();
  });
});
