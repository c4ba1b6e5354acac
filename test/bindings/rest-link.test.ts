import { describe, expect, it } from 'vitest';
import { restLink } from '#bindings';
import type { A2AService } from '#protocol';
import { pushConfigId, taskId, tenantId } from '#protocol';
import { collectEvents, errorOf } from '../support/calls.ts';
import { ctx, html, httpLink, ID, json, sse, TASK, v10 } from '../support/links.ts';

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

  it('accepts every empty result of a delete', async () => {
    for (const response of [new Response(null, { status: 204 }), new Response(''), json({}), json(null)]) {
      await expect(httpLink(() => response).push.delete({ taskId: ID, id: pushConfigId('p') }, ctx)).resolves.toBeUndefined();
    }
  });

  it('reports a path parameter that is missing', async () => {
    const error = await errorOf(httpLink(() => json(TASK)).push.get({ taskId: ID }, ctx));
    expect([error.kind, error.details.field]).toEqual(['INVALID_PARAMS', 'id']);
  });

  it('exists only for dialects with HTTP+JSON', () => {
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

    it('by GET if POST is not supported, and remembers that', async () => {
      for (const missing of [404, 405]) {
        const { link, used } = peer({ POST: () => new Response(null, { status: missing }), GET: events });
        expect(await collectEvents(link.subscribe({ id: ID }, ctx))).toHaveLength(1);
        await collectEvents(link.subscribe({ id: ID }, ctx));
        expect(used).toEqual(['POST', 'GET', 'GET']);
      }
    });

    it('reports the error of the supported method', async () => {
      const notFound = (): Response => json({ error: { code: 404, message: 'gone' } }, 404);
      for (const verbs of [{ POST: notFound }, { GET: notFound }, { POST: notFound, GET: notFound }]) {
        const { link, used } = peer(verbs);
        expect((await errorOf(collectEvents(link.subscribe({ id: ID }, ctx)))).kind).toBe('TASK_NOT_FOUND');
        expect(used).toEqual(['POST', 'GET']);
      }
    });
  });
});
