import { expect, it } from 'vitest';
import { A2AError } from '#protocol';
import { createLog } from '../observability/log.ts';
import { createMetrics } from '../observability/metrics.ts';
import { keyFileWatch } from './key-file-watch.ts';

it('says of a database that does not answer why, once, and not that keys have changed', () => {
  const lines: string[] = [];
  const onRead = keyFileWatch(createLog({ write: (line) => void lines.push(line) }), createMetrics());
  onRead(undefined);
  const down = new A2AError('UNAVAILABLE', 'the database can’t be used at the moment', { cause: new Error('connect ECONNREFUSED') });
  for (const cause of [down, down, undefined, new Error('api-keys.json is no JSON')]) onRead(cause);
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 'warn', message: expect.stringContaining('can’t be read from the database'), reason: 'connect ECONNREFUSED' },
    { level: 'info', message: 'the API keys can be read again' },
    { level: 'error', message: expect.stringContaining('have changed and can’t be read') },
  ]);
});
