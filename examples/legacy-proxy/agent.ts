import type { AddressInfo } from 'node:net';
import { A2AExpressApp, type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from 'a2a-js-02/server';
import express from 'express';

/** An echo executor for the official SDK 0.2.5. */
const executor: AgentExecutor = {
  execute: async ({ taskId, contextId, userMessage }, bus) => {
    const text = userMessage.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
    bus.publish({ kind: 'task', id: taskId, contextId, status: { state: 'working' }, history: [userMessage] });
    const parts = [{ kind: 'text' as const, text: `old words: ${text}` }];
    bus.publish({ kind: 'artifact-update', taskId, contextId, artifact: { artifactId: 'answer', parts }, append: false, lastChunk: true });
    bus.publish({ kind: 'status-update', taskId, contextId, status: { state: 'completed' }, final: true });
    bus.finished();
  },
  cancelTask: async () => {},
};

export interface Legacy {
  readonly url: string;
  close(): void;
}

/** An agent of summer 2025: its card is at /.well-known/agent.json, JSON-RPC at its root, and every object has a `kind`. */
export async function legacyAgent(): Promise<Legacy> {
  const app = express();
  return await new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const card = {
        ...{ name: 'legacy', description: 'From another time.', version: '1.0.0', protocolVersion: '0.2.5', url: `${url}/`, skills: [] },
        ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'], capabilities: { streaming: true } },
      };
      new A2AExpressApp(new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)).setupRoutes(app as never);
      resolve({ url, close: () => server.close() });
    });
  });
}
