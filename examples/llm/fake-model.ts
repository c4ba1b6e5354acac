import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeModel {
  readonly baseUrl: string;
  /** What it was asked, in order. */
  readonly asked: readonly { readonly role: string; readonly content: string }[][];
  close(): void;
}

/** The wire of an OpenAI-compatible endpoint, with a model that only counts: no key, no network, always the same. */
export async function fakeModel(): Promise<FakeModel> {
  const asked: { role: string; content: string }[][] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { messages } = JSON.parse(body) as { messages: { role: string; content: string }[] };
    asked.push(messages);
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const words = `You said ${messages.at(-1)?.content ?? ''}`.split(/(?<= )/);
    for (const content of words) response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/v1`, asked, close: () => void server.close() };
}
