import type { ViteUserConfig } from 'vitest/config';
import { defineConfig } from 'vitest/config';

const conditions = ['our-src', 'node', 'import', 'default'];

const config: ViteUserConfig = defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    environment: 'node',
    testTimeout: 30_000,
    pool: 'threads',
  },
});

export default config;
