import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import type { HttpResponse } from '#bindings';
import { isObject } from '#protocol';
import type { ServingOptions } from '../options.ts';
import { refusal, text } from '../routes/responses.ts';
import { belowRoot, buildIfOld, type CheckoutBuild } from './checkout-build.ts';
import { PAGE_TYPES, pageHeaders } from './page-headers.ts';

/** Options of `createDocs`. */
export interface DocsOptions {
  /** The file that `npm run docs:site -- --pack` writes. Default: this package's own. */
  readonly file?: string;
  /** Receives progress messages: in a checkout the first request builds the pages. */
  readonly say?: (line: string) => void;
}

const PACKED = belowRoot('dist/docs.br');
const BUILD: CheckoutBuild = {
  what: 'the pages of the documentation',
  built: PACKED,
  script: ['scripts/docs-site.mjs', '--pack'],
  sources: ['docs', 'scripts/site', 'src/console/style', 'CONTRIBUTING.md'],
  needs: 'marked',
};

/** The pages run only their own script, which sends no requests. */
const HEADERS = pageHeaders([
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
]);

/**
 * Serves the documentation at `/docs/` from memory. The package contains it as one compressed file, which
 * is read at the first request. In a checkout that request builds it if it is missing or out of date.
 *
 * ```ts
 * await serve(agent, { docs: createDocs() });
 * ```
 */
export function createDocs({ file = PACKED, say = () => {} }: DocsOptions = {}): NonNullable<ServingOptions['docs']> {
  let loaded: Promise<ReadonlyMap<string, string>> | undefined;
  return async (path) => {
    // The links of a page are relative to its own path. So is this one: the node may be mounted below a prefix.
    if (path === '/docs') return { status: 308, headers: { ...HEADERS, Location: 'docs/' }, body: null };
    try {
      loaded ??= load(file, say);
      const pages = await loaded;
      const name = path.slice('/docs/'.length) || 'index.html';
      const content = pages.get(name);
      if (content === undefined) return refusal(404, 'the documentation has no such page');
      const answer = text(content, PAGE_TYPES[posix.extname(name)] ?? 'text/plain; charset=utf-8');
      return { ...answer, headers: { ...answer.headers, ...HEADERS, 'Cache-Control': 'no-cache' } };
    } catch (thrown) {
      loaded = undefined;
      return missing(thrown);
    }
  };
}

async function load(file: string, say: (line: string) => void): Promise<ReadonlyMap<string, string>> {
  if (file === PACKED) await buildIfOld(BUILD, say);
  const unpacked: unknown = JSON.parse((await promisify(brotliDecompress)(await readFile(file))).toString());
  if (!isObject(unpacked)) throw new Error(`${file} is not a packed documentation`);
  return new Map(Object.entries(unpacked).map(([name, content]) => [name, String(content)]));
}

function missing(thrown: unknown): HttpResponse {
  const reason = thrown instanceof Error ? thrown.message.slice(0, 2000) : String(thrown);
  const words = `The pages of the documentation are missing.\n\n${reason}\n\nIn a checkout, build them with: npm run docs:site -- --pack\n`;
  const answer = text(words, 'text/plain; charset=utf-8', 503);
  return { ...answer, headers: { ...answer.headers, ...HEADERS } };
}
