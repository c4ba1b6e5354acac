import { availableParallelism } from 'node:os';
import type { ViteUserConfig } from 'vitest/config';
import { defineConfig } from 'vitest/config';
import { ClosingReporter } from './scripts/reporter.ts';
import type { Tier } from './test/tiers.ts';
import { FILES_OF, isTier } from './test/tiers.ts';

const conditions = ['our-src', 'node', 'import', 'default'];
/** Set by scripts/test.mjs. Without it, as in `vitest run FILE`, every test file can be named. */
const tier: Tier | undefined = isTier(process.env['PARLEY_TIER']) ? process.env['PARLEY_TIER'] : undefined;
const { include, exclude } = tier === undefined ? { include: ['src/**/*.test.ts', 'test/**/*.test.ts'], exclude: [] } : FILES_OF[tier];
const includedIn = (folder: string): string[] => include.filter((pattern) => pattern.startsWith(folder));

/** Unit tests change nothing global, so their files share the modules that a worker has loaded. That takes a third of the time. */
const UNIT = { include: includedIn('src/'), isolate: false, setupFiles: ['test/support/unit-only.ts'] };
const OTHERS = { include: tier === 'default' ? includedIn('test/') : [...include], setupFiles: ['test/support/own-config.ts'] };

const config: ViteUserConfig = defineConfig({
  resolve: { conditions },
  // Workers get these as `--conditions`. Node adds `import` or `require` itself: with `import` in the list, a `require` in `pg` gets an ES module.
  ssr: { resolve: { conditions: ['our-src', 'node'], externalConditions: ['our-src', 'node'] } },
  test: {
    exclude: ['**/node_modules/**', ...exclude],
    environment: 'node',
    // Long enough for a machine that is busy with other work. Tests wait for conditions, so a passing test does not take longer for it.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Not threads: V8 may end a process in which several threads load and free WebAssembly (nodejs/node issue 64500), as `fetch` and PGlite do.
    pool: 'forks',
    // Most tests wait for processes and timers more than they compute, so all cores get a worker, and one more in the rest tier.
    maxWorkers: tier === 'rest' ? availableParallelism() + 1 : '100%',
    reporters: ['default', new ClosingReporter(tier)],
    ...filesOf(tier),
  },
});

function filesOf(of: Tier | undefined): ViteUserConfig['test'] {
  if (of === 'unit') return UNIT;
  if (of !== 'default') return OTHERS;
  return {
    projects: [
      { extends: true, test: { ...UNIT, name: 'src' } },
      { extends: true, test: { ...OTHERS, name: 'test' } },
    ],
  };
}

export default config;
