import type { ViteUserConfig } from 'vitest/config';
import { mergeConfig } from 'vitest/config';
import { ClosingReporter } from './scripts/reporter.ts';
import base from './vitest.config.ts';

/** Programs of other people, in whole conversations: `npm run e2e:peers`. They are installed into .cache first. */
const config: ViteUserConfig = mergeConfig(base, {
  // The conversations wait more than they compute: those that take most of a minute run side by side.
  test: { maxWorkers: 4, maxConcurrency: 20, testTimeout: 120_000, hookTimeout: 600_000 },
});
config.test = {
  ...config.test,
  include: ['test/peers/**/*.peer.ts'],
  reporters: ['default', new ClosingReporter(), ['json', { outputFile: '.cache/peers/results.json' }]],
};

export default config;
