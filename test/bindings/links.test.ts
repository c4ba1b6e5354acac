import { describe, expect, it } from 'vitest';
import type { LinkOptions } from '#bindings';
import { jsonRpcLink, restLink } from '#bindings';
import type { A2AService, Dialect, Fetch, Logged } from '#protocol';
import { pushConfigId, taskId, tenantId } from '#protocol';
import { callContext, collectEvents, dialectOf, errorOf, userMessage } from '../support/calls.ts';
import { streamOf } from '../support/streams.ts';

const v10 = dialectOf('v10');
const ctx = callContext();
const ID = taskId('t1');
const TASK = { id: 't1', status: { state: 'TASK_STATE_WORKING' } };
const MESSAGE = { message: userMessage('x') };

const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'Content-Type': 'application/json', ...headers } });
const html = (status: number, headers: Record<string, string> = {}): Response =>
  new Response('<h1>secret page</h1>', { status, headers: { 'Content-Type': 'text/html', ...headers } });
const sse = (text: string): Response => new Response(text, { headers: { 'Content-Type': 'text/event-stream; charset=utf-8' } });

function rpcLink(answer: (request: Request) => Response | Promise<Response>, more: Partial<LinkOptions> = {}): A2AService {
  return jsonRpcLink({ url: 'http://agent.example/a2a', dialect: v10, fetch: async (request) => await answer(request), ...more });
}

function httpLink(answer: (request: Request) => Response | Promise<Response>, more: Partial<LinkOptions> = {}): A2AService {
  return restLink({ url: 'http://agent.example/rest/', dialect: v10, fetch: async (request) => await answer(request), ...more });
}

/** Answers a JSON-RPC request under its own id. */
const result =
  (value: unknown): ((request: Request) => Promise<Response>) =>
  async (request) => {
    const { id } = (await request.json()) as { id: unknown };
    return json({ jsonrpc: '2.0', id, result: value });
  };

describe('a JSON-RPC link', () => {
  it('counts its envelope ids', async () => {
    const ids: unknown[] = [];
    const link = rpcLink(async (request) => {
      ids.push(((await request.clone().json()) as { id: unknown }).id);
      return await result(TASK)(request);
    });
    await Promise.all([link.get({ id: ID }, ctx), link.get({ id: ID }, ctx), link.get({ id: ID }, ctx)]);
    expect(ids).toEqual([1, 2, 3]);
  });

  it('takes the envelope id from the dialect that gives it a meaning', async () => {
    const dialect: Dialect = { ...v10, rpcId: (_, value) => (value as { id: string }).id };
    const link = rpcLink(
      async (request) => {
        expect(((await request.clone().json()) as { id: unknown }).id).toBe('t1');
        return await result(TASK)(request);
      },
      { dialect },
    );
    await link.get({ id: ID }, ctx);
  });

  it('names the task where the caller has to', async () => {
    const named: unknown[] = [];
    const dialect: Dialect = {
      ...v10,
      traits: { ...v10.traits, callerNamesTask: true },
      encode: (shape, value) => {
        if (shape === 'send.request') named.push((value as { alias?: string }).alias);
        return v10.encode(shape, value);
      },
    };
    const link = rpcLink(result({ task: TASK }), { dialect, ids: { next: () => 'minted' } });
    await link.send(MESSAGE, ctx);
    await link.send({ message: userMessage('x', { taskId: ID }) }, ctx);
    await link.send({ ...MESSAGE, alias: 'mine' as never }, ctx);
    expect(named).toEqual(['minted', 't1', 'mine']);
  });

  const answers: readonly (readonly [name: string, response: () => Response, kind: string])[] = [
    ['an error in a 500', () => json({ jsonrpc: '2.0', id: null, error: { code: -32001, message: 'no' } }, 500), 'TASK_NOT_FOUND'],
    ['an error in a 404', () => json({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no' } }, 404), 'METHOD_NOT_FOUND'],
    ['an error without jsonrpc', () => json({ error: { code: -32002, message: 'no' } }), 'TASK_NOT_CANCELABLE'],
    [
      'an error beside a null result',
      () => json({ jsonrpc: '2.0', id: 1, result: null, error: { code: -32001, message: 'no' } }),
      'TASK_NOT_FOUND',
    ],
    ['a result beside a null error', () => json({ jsonrpc: '2.0', id: 1, result: TASK, error: null }), 'none'],
    ['a result without an id', () => json({ result: TASK }), 'none'],
    ['a result under null', () => json({ jsonrpc: '2.0', id: null, result: TASK }), 'none'],
    ['a result under another id', () => json({ jsonrpc: '2.0', id: 77, result: TASK }), 'INVALID_AGENT_RESPONSE'],
    ['a result in a 500', () => json({ jsonrpc: '2.0', id: 1, result: TASK }, 500), 'INVALID_AGENT_RESPONSE'],
    ['no result', () => json({ jsonrpc: '2.0', id: 1 }), 'INVALID_AGENT_RESPONSE'],
    ['null', () => json(null), 'INVALID_AGENT_RESPONSE'],
    ['a list', () => json([]), 'INVALID_AGENT_RESPONSE'],
    ['something else', () => json({ hello: 'world' }), 'INVALID_AGENT_RESPONSE'],
    ['nothing', () => new Response(null), 'INVALID_AGENT_RESPONSE'],
    ['a task without a state', () => json({ jsonrpc: '2.0', id: 1, result: { id: 't1' } }), 'INVALID_AGENT_RESPONSE'],
    ['a page', () => html(200), 'INVALID_AGENT_RESPONSE'],
    ['a page in a 404', () => html(404), 'INVALID_AGENT_RESPONSE'],
    ['a page in a 500', () => html(500), 'INVALID_AGENT_RESPONSE'],
    ['a page in a 401', () => html(401), 'UNAUTHENTICATED'],
    ['a page in a 403', () => html(403), 'PERMISSION_DENIED'],
    ['a page in a 413', () => html(413), 'PAYLOAD_TOO_LARGE'],
    ['a page in a 502', () => html(502), 'UNAVAILABLE'],
    ['a page in a 503', () => html(503), 'UNAVAILABLE'],
    ['a redirect', () => new Response(null, { status: 302, headers: { Location: 'http://other.example/' } }), 'INVALID_AGENT_RESPONSE'],
    [
      'JSON that is too deep',
      () => new Response('['.repeat(100), { headers: { 'Content-Type': 'application/json' } }),
      'INVALID_AGENT_RESPONSE',
    ],
  ];
  for (const [name, response, kind] of answers) {
    it(`reads ${name} as ${kind}`, async () => {
      const getting = rpcLink(response).get({ id: ID }, ctx);
      if (kind === 'none') return expect((await getting).id).toBe('t1');
      const error = await errorOf(getting);
      expect([error.kind, error.message.includes('secret')]).toEqual([kind, false]);
    });
  }

  it('takes every form of nothing as the result of a delete', async () => {
    for (const answer of [{ result: null }, { result: {} }, {}]) {
      const link = rpcLink(() => json({ jsonrpc: '2.0', id: 1, ...answer }));
      await link.push.delete({ taskId: ID, id: pushConfigId('p') }, ctx);
    }
  });

  it('takes null as “no such task” where the dialect does', async () => {
    const dialect = { ...v10, traits: { ...v10.traits, unknownTask: 'null' as const } };
    for (const answer of [{ result: null }, {}]) {
      const link = rpcLink(() => json({ jsonrpc: '2.0', id: null, ...answer }), { dialect });
      expect((await errorOf(link.get({ id: ID }, ctx))).kind).toBe('TASK_NOT_FOUND');
      expect((await errorOf(link.cancel({ id: ID }, ctx))).kind).toBe('TASK_NOT_FOUND');
    }
  });

  it('knows when to come back', async () => {
    const error = await errorOf(rpcLink(() => html(429, { 'Retry-After': '7' })).get({ id: ID }, ctx));
    expect([error.kind, error.details.retryAfterMs]).toEqual(['RATE_LIMITED', 7000]);
  });

  it('asks for its headers each time', async () => {
    let count = 0;
    const seen: unknown[] = [];
    const link = rpcLink(
      async (request) => {
        seen.push(request.headers.get('authorization'));
        return await result(TASK)(request);
      },
      { headers: async () => ({ Authorization: `Bearer ${++count}` }) },
    );
    await link.get({ id: ID }, ctx);
    await link.get({ id: ID }, ctx);
    expect(seen).toEqual(['Bearer 1', 'Bearer 2']);
  });
});

describe('an HTTP+JSON link', () => {
  it('splits a request into path, query and body', async () => {
    const asked: unknown[] = [];
    const link = httpLink(async (request) => {
      const { pathname, search } = new URL(request.url);
      asked.push([request.method, pathname + search, await request.text()]);
      return json({ ...TASK, tasks: [], configs: [], url: 'https://hook.example', name: 'x', supportedInterfaces: [] });
    });
    const tenant = tenantId('a/b');
    await link.get({ id: taskId('a/b:cancel'), historyLength: 0 }, ctx);
    await link.get({ id: ID, tenant }, ctx);
    await link.list({ pageSize: 2, includeArtifacts: false, status: 'TASK_STATE_WORKING' }, ctx);
    await link.cancel({ id: ID, metadata: { why: 'x' } }, ctx);
    await link.cancel({ id: ID }, ctx);
    await link.push.create({ taskId: ID, url: 'https://hook.example' }, ctx);
    await link.push.list({ taskId: ID }, ctx);
    await link.push.get({ taskId: ID, id: pushConfigId('p/1') }, ctx);
    await link.extendedCard({ tenant }, ctx);
    expect(asked).toEqual([
      ['GET', '/rest/tasks/a%2Fb%3Acancel?historyLength=0', ''],
      ['GET', '/rest/a%2Fb/tasks/t1', ''],
      ['GET', '/rest/tasks?pageSize=2&includeArtifacts=false&status=TASK_STATE_WORKING', ''],
      ['POST', '/rest/tasks/t1:cancel', '{"metadata":{"why":"x"}}'],
      ['POST', '/rest/tasks/t1:cancel', '{}'],
      ['POST', '/rest/tasks/t1/pushNotificationConfigs', '{"url":"https://hook.example"}'],
      ['GET', '/rest/tasks/t1/pushNotificationConfigs', ''],
      ['GET', '/rest/tasks/t1/pushNotificationConfigs/p%2F1', ''],
      ['GET', '/rest/a%2Fb/extendedAgentCard', ''],
    ]);
  });

  it('takes every form of nothing as the result of a delete', async () => {
    for (const response of [new Response(null, { status: 204 }), new Response(''), json({}), json(null)]) {
      await httpLink(() => response).push.delete({ taskId: ID, id: pushConfigId('p') }, ctx);
    }
  });

  it('says what it can’t fill in', async () => {
    const error = await errorOf(httpLink(() => json(TASK)).push.get({ taskId: ID }, ctx));
    expect([error.kind, error.details.field]).toEqual(['INVALID_PARAMS', 'id']);
  });

  it('is for dialects that have the form', () => {
    const { rest: _, ...without } = v10;
    expect(() => restLink({ url: 'http://agent.example', dialect: without, fetch: async () => json({}) })).toThrow('no HTTP+JSON form');
  });

  const answers: readonly (readonly [name: string, response: () => Response, kind: string])[] = [
    [
      'an error with a reason',
      () =>
        json(
          {
            error: {
              code: 400,
              message: 'no',
              details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_CANCELABLE' }],
            },
          },
          400,
        ),
      'TASK_NOT_CANCELABLE',
    ],
    ['problem+json', () => json({ type: 'x', title: 'no', status: 404, detail: 'no' }, 404), 'TASK_NOT_FOUND'],
    ['JSON that is no error', () => json([], 503), 'UNAVAILABLE'],
    ['a page in a 404', () => html(404), 'INVALID_AGENT_RESPONSE'],
    ['a page in a 502', () => html(502), 'UNAVAILABLE'],
    ['a page', () => html(200), 'INVALID_AGENT_RESPONSE'],
    ['nothing', () => new Response(''), 'INVALID_AGENT_RESPONSE'],
  ];
  for (const [name, response, kind] of answers) {
    it(`reads ${name} as ${kind}`, async () => {
      const error = await errorOf(httpLink(response).get({ id: ID }, ctx));
      expect([error.kind, error.message.includes('secret')]).toEqual([kind, false]);
    });
  }

  describe('subscribes', () => {
    const peer = (verbs: Record<string, () => Response>): { link: A2AService; used: string[] } => {
      const used: string[] = [];
      const link = httpLink((request) => {
        used.push(request.method);
        return (verbs[request.method] ?? (() => new Response(null, { status: 405 })))();
      });
      return { link, used };
    };
    const events = (): Response => sse(`data: ${JSON.stringify({ task: TASK })}\n\n`);

    it('by POST', async () => {
      const { link, used } = peer({ POST: events, GET: events });
      await collectEvents(link.subscribe({ id: ID }, ctx));
      expect(used).toEqual(['POST']);
    });

    it('by GET where POST is not there, and remembers', async () => {
      for (const missing of [404, 405]) {
        const { link, used } = peer({ POST: () => new Response(null, { status: missing }), GET: events });
        expect(await collectEvents(link.subscribe({ id: ID }, ctx))).toHaveLength(1);
        await collectEvents(link.subscribe({ id: ID }, ctx));
        expect(used).toEqual(['POST', 'GET', 'GET']);
      }
    });

    it('reports what the verb that is there says', async () => {
      const notFound = (): Response => json({ error: { code: 404, message: 'gone' } }, 404);
      for (const verbs of [{ POST: notFound }, { GET: notFound }, { POST: notFound, GET: notFound }]) {
        const { link, used } = peer(verbs);
        expect((await errorOf(collectEvents(link.subscribe({ id: ID }, ctx)))).kind).toBe('TASK_NOT_FOUND');
        expect(used).toEqual(['POST', 'GET']);
      }
    });
  });
});

const LINKS = { 'JSON-RPC': rpcLink, 'HTTP+JSON': httpLink };
for (const [name, open] of Object.entries(LINKS)) {
  describe(`a stream over a ${name} link`, () => {
    const read = (response: () => Response, more: Partial<LinkOptions> = {}): Promise<readonly Logged[]> =>
      collectEvents(open(response, more).stream(MESSAGE, ctx));
    const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
    const bare = { task: TASK };
    const enveloped = { jsonrpc: '2.0', id: 1, result: bare };

    it('reads frames, and places where they are numbers', async () => {
      const body = name === 'JSON-RPC' ? frame(enveloped) + frame(bare) : frame(bare) + frame(bare);
      const events = await read(() => sse(`id: 4\n${body}id: not-a-number\n${frame(bare)}: keep-alive\n\nid: 9\n${frame(bare)}`));
      expect(events.map(({ seq }) => seq)).toEqual([4, undefined, undefined, 9]);
      expect(events[0]?.event).toEqual({ task: TASK });
    });

    it('ends at [DONE], however it is printed, and closes the connection', async () => {
      for (const done of ['data: [DONE]\n\n', '[DONE]\n\n']) {
        let closed = false;
        const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
          start: (controller) => controller.enqueue(new TextEncoder().encode(frame(bare) + done + frame('after the end'))),
          cancel: () => {
            closed = true;
          },
        });
        expect(await read(() => new Response(body, { headers: { 'Content-Type': 'text/event-stream' } }))).toHaveLength(1);
        expect(closed).toBe(true);
      }
    });

    const rpcError = { code: -32001, message: 'gone' };
    const restError = {
      code: 404,
      message: 'gone',
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_FOUND' }],
    };
    const failure = name === 'JSON-RPC' ? { jsonrpc: '2.0', id: 1, error: rpcError } : { error: restError };
    for (const [how, text] of Object.entries({
      'event: error': `event: error\n${frame(failure)}`,
      'a payload with an error': frame(failure),
      'event: error with the bare error': `event: error\n${frame(name === 'JSON-RPC' ? rpcError : restError)}`,
    })) {
      it(`fails on ${how}, after what came before it`, async () => {
        const seen: Logged[] = [];
        const reading = (async () => {
          for await (const batch of open(() => sse(frame(bare) + text + frame(bare))).stream(MESSAGE, ctx)) seen.push(...batch);
        })();
        const error = await errorOf(reading);
        expect([error.kind, error.message, seen.length]).toEqual(['TASK_NOT_FOUND', 'gone', 1]);
      });
    }

    for (const [how, text] of Object.entries({
      'a frame that is no JSON': 'data: hello\n\n',
      'a frame that is no event': frame({ what: 1 }),
      'a frame that is a number': frame(1),
      'an event of two kinds': frame({ ...bare, message: {} }),
    })) {
      it(`fails on ${how}`, async () => expect((await errorOf(read(() => sse(text)))).kind).toBe('INVALID_AGENT_RESPONSE'));
    }

    it('fails on an event that is too large', async () => {
      const error = await errorOf(read(() => sse(frame(bare)), { eventBytesMax: 20 }));
      expect(error.kind).toBe('INVALID_AGENT_RESPONSE');
    });

    it('takes a plain answer: a result, or an error', async () => {
      expect(await read(() => json(name === 'JSON-RPC' ? enveloped : bare))).toEqual([{ event: bare }]);
      expect((await errorOf(read(() => json(failure, name === 'JSON-RPC' ? 200 : 404)))).kind).toBe('TASK_NOT_FOUND');
      expect((await errorOf(read(() => html(200)))).kind).toBe('INVALID_AGENT_RESPONSE');
      expect((await errorOf(read(() => html(503)))).kind).toBe('UNAVAILABLE');
    });

    it('says that the connection was cut', async () => {
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        pull: (controller) => {
          controller.error(new TypeError('secret socket'));
        },
      });
      const error = await errorOf(read(() => new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })));
      expect([error.kind, error.message]).toEqual(['UNAVAILABLE', 'the stream was cut off']);
    });

    it('is left by its signal', async () => {
      const left = new AbortController();
      let closed = false;
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        cancel: () => {
          closed = true;
        },
      });
      const link = open(() => new Response(body, { headers: { 'Content-Type': 'text/event-stream' } }));
      const reading = errorOf(collectEvents(link.stream(MESSAGE, callContext({ signal: left.signal }))));
      setTimeout(() => left.abort(), 5);
      expect([(await reading).message, closed]).toEqual(['the call was aborted', true]);
    });

    it('sends the place to go on from', async () => {
      let sent: string | null = null;
      const link = open((request) => {
        sent = request.headers.get('last-event-id');
        return sse('');
      });
      await collectEvents(link.subscribe({ id: ID, after: 12 as never }, ctx));
      expect(sent).toBe('12');
    });
  });

  describe(`a ${name} link whose peer is not there`, () => {
    const failing = (fetch: Fetch, more: Partial<LinkOptions> = {}): A2AService => open(fetch, { fetch, ...more });
    /** As `fetch` does: it rejects when the request is aborted. */
    const silent: Fetch = (request) =>
      new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError'))));

    it('says so', async () => {
      const link = failing(async () => {
        throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED 10.0.0.1') });
      });
      const error = await errorOf(link.get({ id: ID }, ctx));
      expect([error.kind, error.message]).toEqual(['UNAVAILABLE', 'the agent could not be reached']);
    });

    it('waits no longer than it should', async () => {
      const error = await errorOf(failing(silent, { timeoutMs: 5 }).get({ id: ID }, ctx));
      expect([error.kind, error.message]).toEqual(['UNAVAILABLE', 'no answer within 5 ms']);
    });

    it('waits no longer than its caller', async () => {
      const left = new AbortController();
      const link = failing(silent, { timeoutMs: 60_000 });
      const calling = errorOf(link.get({ id: ID }, callContext({ signal: left.signal })));
      setTimeout(() => left.abort(), 5);
      expect((await calling).message).toBe('the call was aborted');
      expect((await errorOf(link.get({ id: ID }, callContext({ signal: left.signal })))).message).toBe('the call was aborted');
    });

    it('takes no more than it can hold', async () => {
      const much = (): Response => new Response(streamOf(...Array.from({ length: 10 }, () => new Uint8Array(1000))));
      const error = await errorOf(open(much, { answerBytesMax: 5000 }).get({ id: ID }, ctx));
      expect([error.kind, error.message]).toEqual(['INVALID_AGENT_RESPONSE', 'the answer is larger than 5000 bytes']);
    });
  });
}
