import { expect, it } from 'vitest';
import { createLog, createMetrics, jwtAuth } from '#server';
import { watchIssuer } from '../../src/server/adapters/issuer-watch.ts';
import { eventually } from '../support/eventually.ts';
import { listen } from '../support/listen.ts';
import { metric, startServer } from '../support/server.ts';

it('an issuer that can’t be reached is logged once, tried again, and shown in the metrics; its callers get a 503 until then', async () => {
  let isUp = false;
  const issuer = await listen(async (request) => {
    if (!isUp) return new Response('', { status: 502 });
    const { pathname, origin } = new URL(request.url);
    return Response.json(pathname === '/jwks' ? { keys: [] } : { issuer: origin, jwks_uri: `${origin}/jwks` });
  });
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line) });
  const metrics = createMetrics();
  const watch = watchIssuer(issuer.url, { log, metrics });
  const method = jwtAuth({ issuer: issuer.url, audience: 'here', fetch, onFetched: watch.fetched });
  // The owner of the node reads the metrics while the tokens of the issuer can't be checked.
  const owner = {
    name: 'owner',
    schemes: {},
    authenticate: (request: { header(name: string): string | undefined }) =>
      request.header('x-owner') === undefined ? undefined : { principal: { id: 'owner', scopes: ['*'] } },
  };
  const server = await startServer({ log, metrics, auth: [owner, method] });
  watch.start([method]);
  const reachable = (): Promise<number> => metric(server.url, 'parley_issuer_reachable', { 'X-Owner': 'yes' });

  await eventually(() => lines.some((line) => line.includes('the token issuer can’t be reached')));
  expect(await reachable()).toBe(0);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = `${part({ alg: 'RS256', kid: 'one' })}.${part({ iss: issuer.url, aud: 'here' })}.c2lnbmF0dXJl`;
  const refused = await fetch(`${server.url}/tasks`, { headers: { Authorization: `Bearer ${token}` } });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await refused.text()).toContain('the issuer of the credential can’t be reached');

  isUp = true;
  await eventually(async () => (await reachable()) === 1);
  expect(lines.filter((line) => line.includes('token issuer')).map((line) => (JSON.parse(line) as { level: string }).level)).toEqual([
    'warn',
    'info',
  ]);
  watch.stop();
  await server.close();
  await issuer.close();
});
