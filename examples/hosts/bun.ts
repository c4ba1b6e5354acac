// bun examples/hosts/bun.ts
import { createHandler } from 'parley-a2a/server';
import shout from './agent.ts';

declare const Bun: { serve(options: object): { readonly port: number } };

const handler = createHandler({ agents: [shout] });
const server = Bun.serve({ port: Number(process.env['PORT'] ?? 41_242), hostname: '127.0.0.1', idleTimeout: 0, fetch: handler.fetch });
console.log(`http://127.0.0.1:${server.port}`);
