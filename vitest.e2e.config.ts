import type { ViteUserConfig } from 'vitest/config';
import { mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** Real coding CLIs: `npm run e2e:agents`. They need a minute each, and a network from which npm can install them. */
const config: ViteUserConfig = mergeConfig(base, { test: { include: ['test/e2e/**/*.e2e.ts'], fileParallelism: false } });
config.test = { ...config.test, include: ['test/e2e/**/*.e2e.ts'] };

export default config;
