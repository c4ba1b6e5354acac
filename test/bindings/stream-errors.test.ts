import { describe, expect, it } from 'vitest';
import { serveJsonRpc } from '#bindings';
import { dialectOf } from '../support/calls.ts';
import { ctx, ID, rpcLink } from '../support/links.ts';
import { memoryService } from '../support/memory-service.ts';
import { postRaw, rpc } from '../support/posts.ts';

/** A JSON-RPC error of a call for a stream. Many clients read only events there (docs/decisions/2026-11-16-what-other-sdks-read.md). */
interface Refusal {
  readonly type: string;
  readonly status: number;
  readonly code: number | undefined;
  readonly id: unknown;
}

async function refusal(method: string, params: object, options: { readonly path?: string; readonly accept?: string }): Promise<Refusal> {
  const { path = '/a2a/jsonrpc', accept } = options;
  const response = await postRaw(JSON.stringify(rpc(method, params, 'r')), {
    path,
    headers: accept === undefined ? {} : { Accept: accept },
  });
  const type = response.headers.get('content-type') ?? '';
  const text = await response.text();
  const blocks = text.split('\n\n').filter((block) => block !== '');
  if (type === 'text/event-stream') expect(blocks).toHaveLength(1);
  const body = JSON.parse(type === 'text/event-stream' ? text.replace(/^data: /, '') : text);
  return { type, status: response.status, code: body.error?.code, id: body.id };
}

const EVENT = { type: 'text/event-stream', status: 200, id: 'r' };
const JSON_BODY = { type: 'application/json', status: 200, id: 'r' };
const ONLY_EVENTS = 'text/event-stream';

describe('the error of a call for a stream', () => {
  const v03Message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }], taskId: 'nobody' };
  const v01Message = { role: 'user', parts: [{ type: 'text', text: 'x' }] };

  it('is one event in 0.3, whatever Accept says besides', async () => {
    for (const accept of [ONLY_EVENTS, undefined, '*/*', 'application/json, text/event-stream']) {
      const asked = accept === undefined ? {} : { accept };
      expect(await refusal('message/stream', { message: v03Message }, asked)).toEqual({ ...EVENT, code: -32001 });
      expect(await refusal('tasks/resubscribe', { id: 'nobody' }, asked)).toEqual({ ...EVENT, code: -32001 });
    }
    expect(await refusal('message/stream', { message: {} }, {})).toEqual({ ...EVENT, code: -32602 });
  });

  it('is one event in 0.1', async () => {
    const params = { id: 't', sessionId: 's', message: { ...v01Message, parts: [{ type: 'nothing' }] } };
    expect(await refusal('tasks/sendSubscribe', params, { path: '/' })).toEqual({ ...EVENT, code: -32602 });
  });

  it('is JSON for a caller that takes no events', async () => {
    expect(await refusal('tasks/resubscribe', { id: 'nobody' }, { accept: 'application/json' })).toEqual({ ...JSON_BODY, code: -32001 });
    expect(await refusal('tasks/resubscribe', { id: 'nobody' }, { accept: 'text/event-stream;q=0, */*' })).toMatchObject({ code: -32001 });
  });

  it('is an event in 1.0 for a caller that takes nothing else, as all SDKs do, and JSON for others', async () => {
    expect(await refusal('SubscribeToTask', { id: 'nobody' }, { accept: ONLY_EVENTS })).toEqual({ ...EVENT, code: -32001 });
    for (const accept of [undefined, '*/*', 'application/json, text/event-stream']) {
      const asked = accept === undefined ? {} : { accept };
      expect(await refusal('SubscribeToTask', { id: 'nobody' }, asked)).toEqual({ ...JSON_BODY, code: -32001 });
    }
  });

  it('is JSON for a method that is not a stream, and where the HTTP status tells the error', async () => {
    expect(await refusal('tasks/get', { id: 'nobody' }, { accept: ONLY_EVENTS })).toEqual({ ...JSON_BODY, code: -32001 });
    expect(await refusal('message/send', { message: {} }, { accept: ONLY_EVENTS })).toEqual({ ...JSON_BODY, code: -32602 });
    const unknown = await postRaw('{', { path: '/a2a/jsonrpc', headers: { Accept: ONLY_EVENTS } });
    expect(unknown.headers.get('content-type')).toBe('application/json');
  });

  for (const id of ['v10', 'v03', 'v01']) {
    it(`is thrown by our own link in ${id}`, async () => {
      const dialect = dialectOf(id);
      const service = memoryService();
      const link = rpcLink((request) => serveJsonRpc(request, service, { dialect }), { dialect });
      const read = async (): Promise<void> => {
        for await (const _ of link.subscribe({ id: ID }, ctx)) break;
      };
      await expect(read()).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
    });
  }
});
