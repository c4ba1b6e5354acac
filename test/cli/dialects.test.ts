import { describe, expect, it } from 'vitest';
import { DIALECT_SERVERS, serveDialect } from '../support/dialect-servers.ts';
import { fieldOf, run } from './run.ts';

describe('ask and send call agents of every dialect', () => {
  for (const server of DIALECT_SERVERS) {
    const { dialect, cardPath, version } = server;
    it(`${dialect}, card at ${cardPath}`, async () => {
      const { url, close } = await serveDialect(server);
      const asked = await run(['ask', url, 'hi']);
      expect([asked.code, asked.out], asked.err).toEqual([0, 'chunk 1\n']);
      const named = version === undefined ? [] : ['--a2a-version', version];
      const sent = await run(['send', '-a', url, ...named, 'hi']);
      expect([sent.code, fieldOf(sent, 'State')], sent.err).toEqual([0, 'COMPLETED']);
      expect(sent.out).toContain('chunk 1');
      await close();
    });
  }
});
