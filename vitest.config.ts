import type { ViteUserConfig } from 'vitest/config';
import { defineConfig } from 'vitest/config';
import { ClosingReporter } from './scripts/reporter.ts';

const conditions = ['our-src', 'node', 'import', 'default'];

const config: ViteUserConfig = defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    environment: 'node',
    testTimeout: 30_000,
    // Faults are timed on machines that do other things as well: in CI what fails is tried again before it is believed.
    retry: process.env['CI'] === 'true' ? 2 : 0,
    pool: 'threads',
    // Most of what takes long waits for programs and clocks: a core left free would only wait as well.
    maxWorkers: '100%',
    reporters: ['default', new ClosingReporter()],
  },
});

export default config;
