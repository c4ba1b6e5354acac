import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { HttpResponse } from '#bindings';
import type { ServingOptions } from '../options.ts';
import { refusal, text } from '../routes/responses.ts';
import { belowRoot, buildIfOld, type CheckoutBuild } from './checkout-build.ts';
import { PAGE_TYPES, pageHeaders } from './page-headers.ts';

export { createDocs, type DocsOptions } from './docs.ts';

/** Options of `createConsole`. */
export interface ConsoleOptions {
  /** The folder of the built console files. Default: this package's own. */
  readonly folder?: string;
  /**
   * Receives progress messages: in a checkout the first request builds the files, which takes a few
   * seconds.
   */
  readonly say?: (line: string) => void;
}

const BUILT = belowRoot('dist/console');
const BUILD: CheckoutBuild = {
  what: 'the web console',
  built: join(BUILT, 'index.html'),
  script: ['scripts/build-console.mjs'],
  sources: ['src/console', 'src/client', 'src/protocol', 'src/bindings'],
  needs: 'vite',
};

/**
 * The page runs only its own scripts, sends requests only to this node, and can't be framed
 * (docs/faults.md, S5). Images and audio that agents send are shown from memory.
 */
const HEADERS = pageHeaders([
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  'media-src data: blob:',
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
]);

/**
 * Serves the files of the web console from memory. In a checkout it builds them if they are missing or
 * out of date.
 *
 * ```ts
 * await serve(agent, { console: createConsole() });
 * ```
 */
export function createConsole({ folder = BUILT, say = () => {} }: ConsoleOptions = {}): NonNullable<ServingOptions['console']> {
  let files: Promise<ReadonlyMap<string, HttpResponse>> | undefined;
  return async (path) => {
    files ??= load(folder, say);
    try {
      const found = await files;
      // Another process may be replacing the folder at this moment: look again at the next request.
      if (!found.has('/index.html')) files = undefined;
      const name = path.slice('/console'.length);
      const file = found.get(name);
      if (file !== undefined && name !== '/index.html') return file;
      if (name.startsWith('/assets/')) return refusal(404, 'the console has no such file');
      // Every other path is a page of the console, which the script of index.html shows.
      const page = found.get('/index.html');
      return page === undefined ? missing(folder) : linkedFrom(page, name);
    } catch (thrown) {
      files = undefined;
      return failed(thrown);
    }
  };
}

/**
 * The links of index.html are relative to `/console/`. A page below it, as `/console/tasks/abc`, needs others. They contain no prefix, so they
 * hold behind any proxy.
 */
function linkedFrom(page: HttpResponse, name: string): HttpResponse {
  const depth = name.split('/').length - 2;
  const up = name === '' ? './console/' : depth <= 0 ? './' : '../'.repeat(depth);
  return typeof page.body === 'string' && up !== './' ? { ...page, body: page.body.replaceAll('="./', `="${up}`) } : page;
}

/** Reads all files of the console into memory, after building them in a checkout. */
async function load(folder: string, say: (line: string) => void): Promise<ReadonlyMap<string, HttpResponse>> {
  if (folder === BUILT) await buildIfOld(BUILD, say);
  const answers = new Map<string, HttpResponse>();
  if (!existsSync(folder)) return answers;
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = PAGE_TYPES[extname(entry)];
    if (type !== undefined)
      answers.set(`/${entry.replaceAll('\\', '/')}`, fileAnswer(readFileSync(join(folder, entry), 'utf8'), entry, type));
  }
  return answers;
}

/** File names below `assets` contain a hash of the content, so they can be cached forever. */
function fileAnswer(content: string, entry: string, type: string): HttpResponse {
  const caching = entry.startsWith('assets') ? 'public, max-age=31536000, immutable' : 'no-cache';
  const answer = text(content, type);
  return { ...answer, headers: { ...answer.headers, ...HEADERS, 'Cache-Control': caching } };
}

function missing(folder: string): HttpResponse {
  return plain(`The files of the console are missing (${folder}).\n\nIn a checkout, build them with: npm run build:console\n`);
}

function failed(thrown: unknown): HttpResponse {
  const reason = thrown instanceof Error ? thrown.message.slice(0, 2000) : String(thrown);
  return plain(`The console could not be built.\n\n${reason}\n\nTry it yourself: npm install && npm run build:console\n`);
}

function plain(words: string): HttpResponse {
  return { ...text(words, 'text/plain; charset=utf-8', 503), headers: { 'Content-Type': 'text/plain; charset=utf-8', ...HEADERS } };
}
