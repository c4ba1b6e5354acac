import { describe, expect, it } from 'vitest';
import { serveJsonRpc } from '#bindings';
import type { A2AService, Dialect, DialectId } from '#protocol';
import { A2AError, createRegistry, dialectId, LOCAL_PRINCIPAL, tenantId } from '#protocol';
import { dialectOf, registry } from '../support/calls.ts';
import { CARD } from '../support/card.ts';
import { memoryService } from '../support/memory-service.ts';
import { post, postRaw, rpc, v10Message } from '../support/posts.ts';

const v10 = dialectOf('v10');
const get = rpc('GetTask', { id: 'nobody' });

describe('envelope ids', () => {
  for (const id of [0, 1, -1, 1.5, '0', '', 'a', 'ü😀', null, 9007199254740991]) {
    it(`${JSON.stringify(id)} is returned unchanged`, async () => {
      const answered = await post({ ...get, id });
      expect([answered.body.id, answered.body.error?.code]).toEqual([id, -32001]);
      expect((await post(rpc('SendMessage', v10Message('x'), id))).body.id).toBe(id);
      const streamed = await (await postRaw(JSON.stringify(rpc('SendStreamingMessage', v10Message('x'), id)))).text();
      for (const line of streamed.split('\n').filter((each) => each.startsWith('data: '))) expect(JSON.parse(line.slice(6)).id).toBe(id);
    });
  }

  for (const id of ['{}', '[]', 'true', '9007199254740993', '1e999', '123456789012345678901234567890']) {
    it(`${id} is refused under null`, async () => {
      const { body } = await post(`{"jsonrpc":"2.0","id":${id},"method":"GetTask","params":{"id":"x"}}`);
      expect([body.id, body.error?.code]).toEqual([null, -32600]);
    });
  }

  it('are required: a notification is refused and not executed', async () => {
    const service = memoryService();
    const { body } = await post({ jsonrpc: '2.0', method: 'SendMessage', params: v10Message('x') }, { service });
    expect([body.id, body.error?.code, service.seen]).toEqual([null, -32600, []]);
  });

  it('are optional if the dialect’s schema says so', async () => {
    const lenient: Dialect = { ...v10, envelope: { idOptional: true, versionOptional: true } };
    const { body } = await post({ method: 'SendMessage', params: v10Message('x') }, { dialect: lenient });
    expect(body.id).toBe(null);
    expect(body.result).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    const strict: Dialect = { ...v10, envelope: { idNotNull: true } };
    expect((await post({ ...get, id: null }, { dialect: strict })).body.error?.code).toBe(-32600);
    expect((await post({ ...get, id: 0 }, { dialect: strict })).body.error?.code).toBe(-32001);
  });
});

describe('the serving half of JSON-RPC', () => {
  it('accepts POST only', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD']) {
      const response = await serveJsonRpc(new Request('http://agent.example/a2a', { method }), memoryService());
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    }
  });

  const types: Record<string, boolean> = {
    'application/json': true,
    'Application/JSON; charset=UTF-8': true,
    'application/json;charset="utf-8"; x=y': true,
    'application/json; charset=utf-16': false,
    'application/json; charset=latin1': false,
    'text/plain': false,
    'text/plain; x=application/json': false,
    'application/x-www-form-urlencoded': false,
    'multipart/form-data; boundary=application/json': false,
    'application/json, text/plain': false,
    'application/jsonx': false,
    'application/a2a+json': false,
    '': false,
  };
  for (const [type, taken] of Object.entries(types)) {
    it(`${taken ? 'accepts' : 'refuses'} Content-Type ${type === '' ? 'that is empty' : type}`, async () => {
      // The body is not JSON, which shows that nothing reads it.
      const { body } = await post(taken ? get : 'not json', { headers: { 'Content-Type': type } });
      expect(body.error?.code).toBe(taken ? -32001 : -32005);
    });
  }

  it('refuses a body without Content-Type', async () => {
    const request = new Request('http://agent.example/a2a', { method: 'POST', body: new Blob([JSON.stringify(get)]) });
    expect(request.headers.has('content-type')).toBe(false);
    const response = await serveJsonRpc(request, memoryService());
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32005 } });
  });

  it('passes the authenticated caller to the service', async () => {
    const service = memoryService();
    const caller = { principal: { id: 'ann', scopes: [] }, tenant: tenantId('t') };
    await post(get, { service, caller: async () => caller });
    expect(service.seen[0]?.ctx).toMatchObject(caller);
    const refused = await post(get, {
      service,
      caller: () => {
        throw new A2AError('UNAUTHENTICATED');
      },
    });
    expect([refused.status, refused.body.id, refused.body.error?.code, service.seen.length]).toEqual([401, 1, -31401, 1]);
  });

  it('reports no internal error if a caller disconnects during its body', async () => {
    const causes: unknown[] = [];
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('socket closed')) });
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body, duplex: 'half' };
    const request = new Request('http://agent.example/a2a', init as RequestInit);
    const response = await serveJsonRpc(request, memoryService(), { onError: (cause) => causes.push(cause) });
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32600, message: 'the body was cut off' } });
    expect(causes).toEqual([]);
  });

  it('sends Retry-After', async () => {
    const { status, headers } = await post(rpc('SendMessage', v10Message('quota')));
    expect([status, headers.get('retry-after')]).toEqual([429, '2']);
  });
});

describe('A2A-Version', () => {
  const cases: readonly (readonly [version: string, taken: boolean])[] = [
    ['1.0', true],
    ['1.0.1', true],
    [' 1.0 ', true],
    ['', true],
    ['99.0', false],
    ['1.1', false],
    ['2', false],
    ['0.3', false],
    ['one', false],
    ['1.0; drop', false],
  ];
  for (const [version, taken] of cases) {
    it(`“${version}” is ${taken ? 'accepted' : 'refused'} for a 1.0 method`, async () => {
      for (const where of [{ headers: { 'A2A-Version': version } }, { path: `/a2a?A2A-Version=${encodeURIComponent(version)}` }]) {
        const { body, status } = await post(get, where);
        expect([status, body.error?.code]).toEqual([200, taken ? -32001 : -32009]);
        if (!taken) expect(JSON.stringify(body.error?.data)).toContain('"supportedVersions":"');
      }
    });
  }

  it('without the method gets an error that names the version with it', async () => {
    const told = async (request: object, version: string): Promise<unknown> => {
      const { body } = await post(request, { headers: { 'A2A-Version': version } });
      return [body.error?.code, body.error?.message];
    };
    expect(await told({ ...get, method: 'tasks/get' }, '1.0')).toEqual([
      -32009,
      'A2A version 1.0 has no such request: it is one of A2A 0.3',
    ]);
    expect(await told(get, '0.3.0')).toEqual([-32009, 'A2A version 0.3.0 has no such request: it is one of A2A 1.0']);
    expect(await told(get, '99.0')).toEqual([-32009, 'A2A version 99.0 is not supported']);
  });

  it('may be absent, unless it is required', async () => {
    expect((await post(get)).body.error?.code).toBe(-32001);
    expect((await post(get, { versionRequired: true })).body.error?.code).toBe(-32009);
  });

  it('is in the response', async () => {
    expect((await post(get)).headers.get('a2a-version')).toBe('1.0');
    expect((await postRaw(JSON.stringify(rpc('SendStreamingMessage', v10Message('x'))))).headers.get('a2a-version')).toBe('1.0');
  });
});

describe('choosing the dialect', () => {
  it('uses the mount, then ?dialect=', async () => {
    const service = memoryService();
    await post(get, { service, path: '/a2a?dialect=v10.generation' });
    await post(get, { service, path: '/a2a?dialect=nonsense', dialect: v10 });
    await post(get, { service, path: '/a2a' });
    expect(service.seen.map(({ ctx }) => ctx.dialect)).toEqual(['v10.generation', 'v10', 'v10']);
    const { body } = await post(get, { service, path: '/a2a?dialect=nonsense' });
    expect(body.error).toMatchObject({ code: -32600 });
    expect(body.error?.message).toContain('v10.generation');
  });

  it('uses the dialect in which the task was made, if the request’s shape is ambiguous', async () => {
    const asked: string[] = [];
    const other: Dialect = { ...v10, id: dialectId('other'), detect: () => 'grammar' };
    const service: A2AService = {
      ...memoryService(),
      originOf: (task, ctx): DialectId => {
        asked.push(task, ctx.principal.id);
        return dialectId('other');
      },
    };
    const seen: string[] = [];
    const noting: A2AService = {
      ...service,
      get: async (request, ctx) => {
        seen.push(ctx.dialect);
        return await service.get(request, ctx);
      },
    };
    await post(get, { service: noting, registry: createRegistry([v10, other]) });
    expect([asked, seen]).toEqual([['nobody', LOCAL_PRINCIPAL.id], ['other']]);
  });

  it('strips the base path', async () => {
    const paths: unknown[] = [];
    const watching: Dialect = {
      ...v10,
      detect: (hints) => {
        paths.push(hints.path);
        return 'path';
      },
    };
    for (const path of ['/agents/echo/a2a', '/agents/echo/', '/agents/echo', '/agents/echoes']) {
      await post(get, { path, basePath: '/agents/echo', registry: createRegistry([watching]) });
    }
    expect(paths).toEqual(['/a2a', '/', '/', '/agents/echoes']);
  });

  const unknown: readonly (readonly [path: string, method: string | undefined, version: string | undefined, dialect: string])[] = [
    ['/a2a', 'NoSuchMethod', undefined, 'v10'],
    ['/', 'NoSuchMethod', undefined, 'v10'],
    ['/', 'no/such', undefined, 'society'],
    ['/', undefined, undefined, 'society'],
    ['/', undefined, '1.0', 'v10'],
    ['/a2a', 'no/such', undefined, 'v03'],
    ['/a2a/jsonrpc', 'no/such', undefined, 'v03'],
    ['/api/a2a', 'NoSuchMethod', undefined, 'cortex'],
    ['/api/a2a', undefined, undefined, 'cortex'],
    ['/a2a', undefined, undefined, 'v10'],
  ];
  for (const [path, method, version, id] of unknown) {
    it.runIf(registry.byId(id) !== undefined)(
      `${path} with ${method ?? 'nothing readable'} ${version ?? ''} is answered as ${id}`,
      async () => {
        const { wire, error } = dialectOf(id);
        const headers: Record<string, string> = version === undefined ? {} : { 'A2A-Version': version };
        const answered = await post(method === undefined ? '{' : rpc(method, {}), { path, headers });
        const told =
          method === undefined
            ? new A2AError('PARSE_ERROR')
            : new A2AError('METHOD_NOT_FOUND', `Method not found: ${method}`, { info: { method } });
        expect(answered.body.error).toEqual(JSON.parse(JSON.stringify(error.write(told))));
        expect(answered.status).toBe(wire.httpStatusOnError(told.kind));
      },
    );
  }
});

describe('the card by a method', () => {
  it('is the public one', async () => {
    const withCard: Dialect = {
      ...v10,
      operationOf: (method) => (method === 'GetAgentCard' ? 'card' : v10.operationOf(method)),
      decode: (shape, raw, env) => (shape === 'card.request' ? { ok: true, value: {} as never } : v10.decode(shape, raw, env)),
      encode: (shape, value) => v10.encode(shape === 'card.result' ? ('extendedCard.result' as never) : shape, value as never),
    };
    const asked = { dialect: withCard, card: () => CARD };
    expect((await post(rpc('GetAgentCard'), asked)).body.result).toMatchObject({ name: 'Echo' });
    expect((await post(rpc('GetAgentCard'), { dialect: withCard })).body.error?.code).toBe(-32004);
  });
});

describe('behaviour of a dialect', () => {
  const answering = async (changes: Partial<Dialect>, method: string, service = memoryService()): Promise<unknown> => {
    await service.send({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } } as never, { ...CTX });
    const dialect = { ...v10, ...changes };
    const { body } = await post(rpc(method, { id: method === 'GetTask' ? 'nobody' : 'task-1' }), { dialect, service });
    return body.error?.code ?? body.result;
  };
  const CTX = { principal: LOCAL_PRINCIPAL, dialect: v10.id, extensions: [], signal: new AbortController().signal };

  it('nullForUnknownTask', async () => {
    expect(await answering({}, 'GetTask')).toBe(-32001);
    expect(await answering({ wire: { ...v10.wire, nullForUnknownTask: true } }, 'GetTask')).toBe(null);
  });

  it('cancelFinished: returns-task', async () => {
    expect(await answering({}, 'CancelTask')).toBe(-32002);
    const traits = { ...v10.traits, cancelFinished: 'returns-task' as const };
    expect(await answering({ traits }, 'CancelTask')).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  });
});
