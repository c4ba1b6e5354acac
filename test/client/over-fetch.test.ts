// The tests of the client on Node use `node:http`. These run again over `fetch`, which the client uses on other platforms and where a program
// has replaced it. Not among them: http1 and node-http compare both, doctor-products passes `fetch` itself, and restart needs processes.
import { beforeAll, expect, it } from 'vitest';
import './broken-servers.test.ts';
import './connect.test.ts';
import './dialects.test.ts';
import './handle.test.ts';
import './healing.test.ts';
import './large-requests.test.ts';
import './oauth.test.ts';
import './open-question.test.ts';
import './options.test.ts';
import './product-conversations.test.ts';
import './status-answers.test.ts';
import './unsaid-streams.test.ts';

let count = 0;
beforeAll(() => {
  const platform = globalThis.fetch;
  globalThis.fetch = (...args) => {
    count += 1;
    return platform(...args);
  };
  return () => {
    globalThis.fetch = platform;
  };
});

it('sends the requests of these tests', () => {
  expect(count).toBeGreaterThan(10);
});
