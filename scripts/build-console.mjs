// `npm run build:console`: the web console as static files, into dist/console. It is built aside and put in place whole, so that a server
// that looks meanwhile finds the old files or the new ones.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, ROOT } from './install.mjs';

// Whatever runs this (tests do), the files are those that ship: without names of source files in them.
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
  base: '/console/',
  resolve: { conditions: ['our-src', 'module', 'browser', 'production', 'default'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: aside,
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    // A door of a room does nothing by itself: what only one page takes from behind it is loaded with that page.
    rollupOptions: { treeshake: { moduleSideEffects: (id) => !/[\\/]src[\\/](protocol|bindings|client)[\\/]/.test(id) } },
  },
});
const old = `${aside}-old`;
if (existsSync(place)) renameSync(place, old);
renameSync(aside, place);
rmSync(old, { recursive: true, force: true });
