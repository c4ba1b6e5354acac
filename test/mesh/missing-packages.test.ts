import { expect, it } from 'vitest';
import { launchServe } from '../support/parley.ts';

/** A Node that has not got the package. */
const without = (name: string): readonly string[] => [
  '--import',
  `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    registerHooks({ resolve: (wanted, context, next) => {
      if (wanted === ${JSON.stringify(name)}) throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
      return next(wanted, context);
    } });`)}`,
];

/** Drivers are for those who want them to install. */
it.each([
  ['mqtt', ['--mesh', 'mqtt://127.0.0.1:1'], 'MQTT needs the package mqtt, which is not installed'],
  ['@nats-io/transport-node', ['--mesh', 'nats://127.0.0.1:1'], 'NATS needs the package @nats-io/transport-node'],
  ['aws4fetch', ['--mesh', 'memory', '--artifacts', 's3://b'], 'S3 needs the package aws4fetch'],
])('%s that is not there is asked for by name', { timeout: 20_000 }, async (name, args, words) => {
  const env = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
  const run = launchServe({ args: ['echo', '--memory', ...args], node: without(name), env });
  expect([(await run.ended).code, run.errors()]).toEqual([1, expect.stringContaining(words)]);
  expect(run.errors()).toContain(`npm install ${name}`);
});
