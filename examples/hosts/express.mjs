// node --conditions=our-src examples/hosts/express.mjs, in a checkout; without the condition where parley-a2a is installed
import express from 'express';
import { createHandler } from 'parley-a2a/server';
import { nodeListener } from 'parley-a2a/server/node';
import shout from './agent.ts';

const handler = createHandler({ agents: [shout] });
const app = express();
app.get('/hello', (_, response) => response.send('from Express'));
// Below a prefix the card names the prefix too.
app.use(process.env.PREFIX ?? '/', nodeListener(handler));
const server = app.listen(Number(process.env.PORT ?? 41_242), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
