import { describe, expect, it } from 'vitest';
import type { Hints } from '#protocol';
import { createRegistry, DIALECTS, dialectId } from '#protocol';
import { corpus, corpusDialects } from './support/corpus.ts';
import { countingEnv } from './support/env.ts';

const registry = createRegistry(DIALECTS);
const family = (id: string): string => id.split('.')[0] ?? id;

const flat = { message: { messageId: '', role: 'user', parts: [{ text: 'hi' }] } };
const kinds = { message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hi' }] } };
const typed = { id: 't1', message: { role: 'user', parts: [{ type: 'text', text: 'hi' }] } };
const proto = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] } };
const byId = { id: 't1' };

interface Row {
  readonly pair: readonly [string, string];
  readonly request: readonly [method: string, params: unknown];
  readonly path: string;
  readonly wins: string;
  readonly why: string;
}

/** Every pair of dialects that can read the same request, and which of them is detected. */
const TABLE: readonly Row[] = [
  { pair: ['v10', 'cortex'], request: ['SendMessage', proto], path: '/a2a', wins: 'v10', why: 'ROLE_USER is 1.0’s' },
  { pair: ['v10', 'cortex'], request: ['SendMessage', flat], path: '/a2a', wins: 'cortex', why: 'so is user Cortex’s, in Pascal grammar' },
  { pair: ['v10', 'cortex'], request: ['SendMessage', proto], path: '/api/a2a', wins: 'cortex', why: 'the path is its own' },
  { pair: ['v10', 'cortex'], request: ['SendMessage', proto], path: '/api/a2a/', wins: 'cortex', why: 'with a slash too' },
  { pair: ['v10', 'cortex'], request: ['GetTask', byId], path: '/a2a', wins: 'v10', why: 'nothing tells: the official one' },
  { pair: ['v10', 'cortex'], request: ['GetTask', byId], path: '/api/a2a', wins: 'cortex', why: 'the path is its own' },
  { pair: ['v03', 'promptkit'], request: ['message/send', kinds], path: '/a2a', wins: 'v03', why: 'kind is 0.3’s' },
  {
    pair: ['v03', 'promptkit'],
    request: ['message/send', flat],
    path: '/a2a',
    wins: 'promptkit',
    why: 'flat parts without kind are its own',
  },
  { pair: ['v03', 'promptkit'], request: ['message/send', flat], path: '/a2a/jsonrpc', wins: 'v03', why: 'never PromptKit’s path' },
  { pair: ['v03', 'promptkit'], request: ['tasks/list', { contextId: 'c' }], path: '/a2a', wins: 'promptkit', why: 'no 0.3 release lists' },
  { pair: ['v03', 'promptkit'], request: ['tasks/get', byId], path: '/a2a', wins: 'promptkit', why: 'its clients call this path' },
  { pair: ['v03', 'promptkit'], request: ['tasks/get', byId], path: '/a2a/jsonrpc', wins: 'v03', why: 'never PromptKit’s path' },
  { pair: ['v03', 'promptkit'], request: ['tasks/list', {}], path: '/', wins: 'v03', why: 'Go 0.3 lists; PromptKit calls /a2a' },
  { pair: ['v10', 'cortex'], request: ['SendMessage', flat], path: '/a2a/jsonrpc', wins: 'v10', why: 'the path of 1.0 on cards' },
  { pair: ['v02', 'promptkit'], request: ['message/send', flat], path: '/a2a', wins: 'promptkit', why: 'as with 0.3' },
  { pair: ['v02', 'promptkit'], request: ['tasks/cancel', byId], path: '/', wins: 'v03', why: '0.3 stands for 0.2' },
  { pair: ['v03', 'v02'], request: ['message/send', kinds], path: '/', wins: 'v03', why: 'the same requests: the newer release' },
  { pair: ['v03', 'v02'], request: ['tasks/get', { taskId: 't1' }], path: '/', wins: 'v03.taskid', why: 'a product’s spelling of 0.3' },
  { pair: ['v03', 'v01'], request: ['tasks/get', byId], path: '/', wins: 'v03', why: 'the same requests: the newer version' },
  { pair: ['v02', 'v01'], request: ['tasks/resubscribe', byId], path: '/', wins: 'v03', why: '0.3 stands for 0.2' },
  { pair: ['v01', 'promptkit'], request: ['tasks/cancel', byId], path: '/', wins: 'v03', why: 'the official one' },
  { pair: ['v03', 'sam'], request: ['tasks/cancel', byId], path: '/a2a', wins: 'promptkit', why: 'PromptKit’s clients call this path' },
  { pair: ['v02', 'sam'], request: ['tasks/cancel', byId], path: '/a2a', wins: 'promptkit', why: 'PromptKit’s clients call this path' },
  { pair: ['v01', 'sam'], request: ['tasks/cancel', byId], path: '/a2a', wins: 'promptkit', why: 'PromptKit’s clients call this path' },
  {
    pair: ['promptkit', 'sam'],
    request: ['tasks/cancel', byId],
    path: '/a2a',
    wins: 'promptkit',
    why: 'PromptKit’s clients call this path',
  },
  { pair: ['v01', 'society'], request: ['tasks/send', typed], path: '/', wins: 'society', why: 'none of 0.1’s own members, on `/`' },
  { pair: ['v01', 'society'], request: ['tasks/send', typed], path: '/a2a', wins: 'v01', why: 'anywhere else' },
  { pair: ['v01', 'society'], request: ['tasks/send', { ...typed, sessionId: 's' }], path: '/', wins: 'v01', why: 'sessionId is 0.1’s' },
];

describe('a request that two dialects can read', () => {
  it.each(TABLE)('$pair: $request on $path is $wins ($why)', ({ request: [method, params], path, wins }) => {
    expect(registry.detect({ method, params, path })?.id).toBe(wins);
  });

  it('has a row here for every pair that shares a request of the corpus', () => {
    const said = new Set(TABLE.map(({ pair }) => pair.join(' ~ ')));
    expect([...sharedPairs()].filter((pair) => !said.has(pair))).toEqual([]);
  });
});

describe('a method that only one dialect has', () => {
  it.each([
    ['tasks/sendSubscribe', typed, 'v01'],
    ['tasks/pushNotification/set', { id: 't', pushNotificationConfig: { url: 'https://x.example' } }, 'v01'],
    ['tasks/subscribe', byId, 'promptkit'],
    ['tasks/send-streaming', { message: { role: 'user', parts: [{ text: 'hi' }] } }, 'sam.documented'],
    ['GetAgentCard', undefined, 'cortex'],
    ['SubscribeToTask', byId, 'v10'],
    ['agent/getAuthenticatedExtendedCard', undefined, 'v03'],
  ])('%s is its own on every path', (method, params, wins) => {
    for (const path of ['/', '/a2a']) expect(registry.detect({ method, params, path })?.id).toBe(wins);
  });

  it('SAM’s documented tasks/send is detected as SAM, even on `/`', () => {
    const params = { message: { role: 'user', parts: [{ text: 'hi' }], message_id: 'm', context_id: 's', kind: 'message' } };
    expect(registry.detect({ method: 'tasks/send', params, path: '/' })?.id).toBe('sam.documented');
  });
});

describe('the dialect in which a task was made', () => {
  const hints: Hints = { method: 'tasks/get', params: byId, path: '/a2a' };
  it('decides when the request does not', () => {
    for (const id of ['v01', 'v02', 'promptkit']) expect(registry.detect(hints, () => dialectId(id))?.id).toBe(id);
    expect(registry.detect({ method: 'GetTask', params: byId, path: '/a2a' }, () => dialectId('cortex'))?.id).toBe('cortex');
    const cancel: Hints = { method: 'tasks/cancel', params: byId, path: '/a2a' };
    expect(registry.detect(cancel, () => dialectId('sam.documented'))?.id).toBe('sam.documented');
  });

  it('does not outweigh the shape, nor a method that it lacks', () => {
    expect(registry.detect({ ...hints, params: { taskId: 't1' } }, () => dialectId('v01'))?.id).toBe('v03.taskid');
    expect(registry.detect(hints, () => dialectId('v10'))?.id).toBe('promptkit');
    expect(registry.detect({ ...hints, path: '/' }, () => dialectId('v10'))?.id).toBe('v03');
    expect(registry.detect({ method: 'GetTask', params: byId, path: '/api/a2a' }, () => dialectId('v10'))?.id).toBe('cortex');
  });

  it('gives way to A2A-Version: 0.3, and not to 1.0, which CortexPrism states too', () => {
    for (const id of ['promptkit', 'v01', 'v10'])
      expect(registry.detect({ ...hints, version: '0.3' }, () => dialectId(id))?.id).toBe('v03');
    expect(registry.detect({ method: 'tasks/list', params: {}, path: '/a2a', version: '0.3.0' })?.id).toBe('v03');
    const get: Hints = { method: 'GetTask', params: byId, path: '/a2a', version: '1.0' };
    expect(registry.detect(get, () => dialectId('cortex'))?.id).toBe('cortex');
    expect(registry.detect({ ...get, path: '/a2a/jsonrpc' }, () => dialectId('cortex'))?.id).toBe('v10');
  });

  it('is ignored for a send', () => {
    const asked = {
      method: 'message/send',
      params: { message: { messageId: 'm', role: 'user', parts: [{ text: 'hi' }] } },
      path: '/a2a/jsonrpc',
    };
    expect(registry.detect(asked, () => dialectId('v02'))?.id).toBe('v03');
  });
});

function sharedPairs(): ReadonlySet<string> {
  const pairs = new Set<string>();
  for (const { request, path } of corpusDialects().flatMap(corpus)) {
    if (request === undefined) continue;
    const hints = { path: path ?? '/', method: request.method, params: request.params };
    const readers = DIALECTS.filter((dialect) => {
      const operation = dialect.operationOf(request.method);
      if (operation === undefined || dialect.detect(hints) === 'no') return false;
      return dialect.decode(`${operation}.request`, request.params, { ...countingEnv(), rpcId: 'r' }).ok;
    });
    const families = [...new Set(readers.map((dialect) => family(dialect.id)))];
    for (const [at, one] of families.entries()) for (const other of families.slice(at + 1)) pairs.add(`${one} ~ ${other}`);
  }
  return pairs;
}

describe('a dialect that claims no paths', () => {
  const methods = [undefined, 'nonsense', 'Nonsense', ...new Set(DIALECTS.flatMap((dialect) => Object.values(dialect.methods)))];
  const paths = [
    undefined,
    '/',
    '/a2a',
    '/a2a/',
    '/a2a/jsonrpc',
    '/api/a2a',
    '/api/a2a/',
    '/v1/message:send',
    '/v1/tasks/t1',
    '/message:send',
  ];
  const hints = methods.flatMap((method) =>
    paths.flatMap((path) =>
      [undefined, flat, kinds, typed, proto, byId, { taskId: 't1' }].map(
        (params): Hints => ({ ...(method === undefined ? {} : { method }), ...(path === undefined ? {} : { path }), params }),
      ),
    ),
  );

  it('never recognises a request by its path, so the registry does not have to ask it after another has recognised the body', () => {
    for (const dialect of DIALECTS.filter(({ claimsPaths }) => claimsPaths !== true))
      for (const each of hints) expect(dialect.detect(each), `${dialect.id} ${JSON.stringify(each)}`).not.toBe('path');
  });

  it('does not change which dialect is detected', () => {
    const all = createRegistry(DIALECTS.map((dialect) => ({ ...dialect, claimsPaths: true as const })));
    for (const each of hints) expect(registry.detect(each)?.id, JSON.stringify(each)).toBe(all.detect(each)?.id);
  });
});
