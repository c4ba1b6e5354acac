// A webhook: AGENT=http://127.0.0.1:41242 node --conditions=our-src examples/webhook-receiver/receiver.mjs, in a checkout; without the condition
// where parley-a2a is installed. The agent is served with --allow-loopback-targets, since this listens on the same machine.
import { createServer } from 'node:http';
import { verifyWebhook, WebhookError } from 'parley-a2a/protocol';

const agent = process.env.AGENT ?? 'http://127.0.0.1:41242';
const response = await fetch(`${agent}/.well-known/jwks.json`);
if (!response.ok) throw new Error(`${agent} shows no keys: ${response.status}`);
const keys = await response.json();

// In production, store the id in the database, in the transaction that does the work.
const seen = new Set();

const server = createServer(async (incoming, outgoing) => {
  try {
    // Verify the body byte for byte: after parsing and serializing, it may differ from the signed text.
    const body = Buffer.concat(await incoming.toArray());
    const { id, payload } = await verifyWebhook({ headers: incoming.headers, body }, { keys });
    if (!seen.has(id)) console.log(id, JSON.stringify(payload));
    seen.add(id);
    outgoing.writeHead(204).end();
  } catch (thrown) {
    if (!(thrown instanceof WebhookError)) throw thrown;
    outgoing.writeHead(401).end(thrown.message);
  }
});
server.listen(Number(process.env.PORT ?? 8787), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
