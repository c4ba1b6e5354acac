import { createServer } from 'node:http';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { executed } from './execute.ts';

/**
 * CortexPrism's own A2A server, under Deno: `program-server.ts CHECKOUT PORT`. The routes are those of src/server/routes/a2a.ts; the agent loop is
 * the test agent. Prints `ready` when it accepts requests.
 */
interface Server {
  getA2AAgentCard(baseUrl: string, name: string, description: string): Promise<object>;
  handleA2ARequest(body: object, baseUrl: string, name: string, description: string): Promise<Response>;
  registerA2AExecutor(executor: {
    execute(message: string, history?: string): Promise<{ response: string; tokensIn: number; tokensOut: number }>;
  }): void;
}

const [checkout = '', port = ''] = process.argv.slice(2);
const server: Server = await import(pathToFileURL(`${checkout}/src/a2a/server.ts`).href);
const base = `http://127.0.0.1:${port}`;
const ABOUT = ['peer-test', 'The test agent of test/peers on CortexPrism.'] as const;
const CARD_PATH = /^\/(?:\.well-known\/(?:agent-card|a2a-agent-card)\.json|api\/a2a\/agent-card\.json)$/;

server.registerA2AExecutor({
  // The context is a text with all earlier messages.
  execute: async (message, history) => {
    const word = /^\[user\]: remember (.*)$/m.exec(history ?? '')?.[1];
    const response = message === 'recall' && word !== undefined ? word : await executed(message, 'one');
    return { response, tokensIn: 0, tokensOut: 0 };
  },
});

createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const answer = await routed(request.method ?? '', request.url ?? '', Buffer.concat(chunks).toString());
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  for await (const chunk of answer.body ?? []) response.write(chunk);
  response.end();
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));

async function routed(method: string, path: string, body: string): Promise<Response> {
  if (method === 'GET' && CARD_PATH.test(path)) return Response.json(await server.getA2AAgentCard(base, ...ABOUT));
  if (method === 'POST' && /^\/(?:a2a|api\/a2a)$/.test(path)) return await server.handleA2ARequest(JSON.parse(body), base, ...ABOUT);
  return Response.json({ error: 'not found' }, { status: 404 });
}
