import { expect, it } from 'vitest';
import type { AuthMethod } from '#server';
import { authenticateBy } from './authenticate.ts';

const method = (check: (token: string | undefined) => ReturnType<AuthMethod['authenticate']>): AuthMethod => ({
  name: 'test',
  schemes: {},
  authenticate: (request) => check(request.header('authorization') ?? undefined),
});
const ann = { principal: { id: 'ann', scopes: ['a2a:send'] } };

it('uses the first method that accepts or refuses the credential', async () => {
  const authenticate = authenticateBy([
    method((token) => (token === 'Bearer old' ? { reason: 'expired', message: 'the token has expired' } : undefined)),
    method((token) => (token === 'Bearer good' || token === 'Bearer old' ? ann : undefined)),
  ]);
  await expect(authenticate('Bearer good')).resolves.toEqual({ ...ann, tenant: '' });
  await expect(authenticate('Bearer old')).rejects.toMatchObject({ kind: 'UNAUTHENTICATED', message: 'the token has expired' });
  for (const none of [undefined, '', 'Bearer bad', 'Bearer good\r\nX-API-Key: k', 'x'.repeat(9000)]) {
    await expect(authenticate(none)).rejects.toMatchObject({ kind: 'UNAUTHENTICATED' });
  }
});

it('is unavailable when the method can’t decide now', async () => {
  const away = authenticateBy([method(() => ({ reason: 'issuer away', retryAfterMs: 1000 }))]);
  await expect(away('Bearer x')).rejects.toMatchObject({ kind: 'UNAVAILABLE', details: { retryAfterMs: 1000 } });
});
