import { expect, it } from 'vitest';
import { A2AClient, isClientError } from '#client';
import { badCalls } from '../support/broken-servers.ts';

it('the hint for a lost connection mentions the size of a large request', async () => {
  const server = await badCalls((_, outgoing) => void outgoing.destroy());
  const client = await A2AClient.connect(server.url, { retry: { tries: 1 } });
  const hintOf = async (chars: number): Promise<string | undefined> => {
    const thrown: unknown = await client
      .send('x'.repeat(chars))
      .result()
      .catch((error: unknown) => error);
    return isClientError(thrown) && thrown.kind === 'unreachable' ? thrown.hint : undefined;
  };
  expect(await hintOf(2_000_000)).toMatch(/the request has 2000\d\d\d characters, which may be more than the server accepts/);
  expect(await hintOf(2)).toContain('check the address');
  await server.close();
});
