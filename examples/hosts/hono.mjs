// node --conditions=our-src examples/hosts/hono.mjs, in a checkout; without the condition where parley-a2a is installed
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { createHandler } from 'parley-a2a/server';
import shout from './agent.ts';

const handler = createHandler({ agents: [shout] });
const app = new Hono();
app.get('/hello', (c) => c.text('from Hono'));
app.all('*', (c) => handler.fetch(c.req.raw));
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 41_242), hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}`),
);
