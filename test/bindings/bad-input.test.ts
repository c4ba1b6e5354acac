import { afterEach, describe, expect, it } from 'vitest';
import { serveJsonRpc, serveRest } from '#bindings';
import { contextId, createUserMessage, messageId } from '#protocol';
import { REST_CASES, RPC_CASES } from '../support/bad-input.ts';
import { callContext } from '../support/calls.ts';
import type { MemoryService } from '../support/memory-service.ts';
import { memoryService } from '../support/memory-service.ts';

/** docs/faults.md, "Hostile input", case by case: a typed error, never a throw or 5xx, and the service is unchanged. test/faults has mutations. */
async function withTask(): Promise<MemoryService> {
  const service = memoryService();
  const message = createUserMessage('x', { messageId: messageId('m'), contextId: contextId('c') });
  await service.send({ message }, callContext());
  return service;
}

afterEach(() => {
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

for (const [group, cases] of Object.entries(RPC_CASES)) {
  describe(`JSON-RPC: ${group}`, () => {
    for (const [name, body, code] of cases) {
      it(name, async () => {
        const service = await withTask();
        const before = service.state();
        const request = new Request('http://agent.example/a2a', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: typeof body === 'string' ? body : new Uint8Array(body),
        });
        const response = await serveJsonRpc(request, service);
        expect(response.status).toBeLessThan(500);
        const answer = (await response.json()) as { jsonrpc: string; error: { code: number; message: string } };
        expect([answer.jsonrpc, answer.error.code]).toEqual(['2.0', code]);
        expect(answer.error.message.length).toBeLessThan(300);
        expect(service.state()).toBe(before);
      });
    }
  });
}

describe('HTTP+JSON', () => {
  for (const [name, request, status] of REST_CASES) {
    it(name, async () => {
      const service = await withTask();
      const before = service.state();
      const response = await serveRest(request('http://agent.example'), service);
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ error: { code: status } });
      expect(service.state()).toBe(before);
    });
  }
});
