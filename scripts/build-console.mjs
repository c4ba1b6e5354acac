// `npm run build:console`: builds the web console as static files in dist/console. It builds in another folder and then renames it, so that a
// running server finds the old files or the new ones.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, ROOT } from './install.mjs';

// Always a production build, also when tests run this: without names of source files.
process.env['NODE_ENV'] = 'production';
await ensureInstalled();
const { build } = await import('vite');
const aside = join(ROOT, 'dist', `console-${process.pid}`);
const place = join(ROOT, 'dist/console');
mkdirSync(join(ROOT, 'dist'), { recursive: true });
await build({
  configFile: false,
  logLevel: 'warn',
  root: join(ROOT, 'src/console'),
  // Relative: the node may be behind a prefix. The server adapts the links of index.html to the depth of the page.
  base: './',
  resolve: { conditions: ['our-src', 'module', 'browser', 'production', 'default'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: aside,
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    // The index.ts of a room has no side effects, so code that only one page uses is loaded with that page.
    rollupOptions: { treeshake: { moduleSideEffects: (id) => !/[\\/]src[\\/](protocol|bindings|client)[\\/]/.test(id) } },
  },
});
const old = `${aside}-old`;
if (existsSync(place)) renameSync(place, old);
renameSync(aside, place);
rmSync(old, { recursive: true, force: true });
