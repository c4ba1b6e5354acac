// deno run --allow-net --allow-env examples/hosts/deno.ts
import { createHandler } from 'parley-a2a/server';
import shout from './agent.ts';

interface Listening {
  readonly port: number;
}
declare const Deno: {
  readonly env: { get(name: string): string | undefined };
  serve(options: object, handler: (request: Request) => Promise<Response>): unknown;
};

const handler = createHandler({ agents: [shout] });
const port = Number(Deno.env.get('PORT') ?? 41_242);
Deno.serve(
  { port, hostname: '127.0.0.1', onListen: ({ port: taken }: Listening) => console.log(`http://127.0.0.1:${taken}`) },
  handler.fetch,
);
