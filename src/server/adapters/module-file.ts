import * as nodeModule from 'node:module';
import { pathToFileURL } from 'node:url';
import { ConfigError } from '../config/read-value.ts';

/** The name that this package is imported by. */
const OURS = /^parley-a2a(?:\/|$)/;

/** What a module exports by default. TypeScript is read as it is, by Node's own type stripping. */
export async function defaultExportOf(path: string): Promise<unknown> {
  lendOurselves();
  let module: unknown;
  try {
    module = await import(pathToFileURL(path).href);
  } catch (thrown) {
    throw new ConfigError(`${path} could not be loaded: ${reasonOf(thrown, path)}`, { cause: thrown });
  }
  const { default: exported } = module as { readonly default?: unknown };
  if (exported === undefined) throw new ConfigError(`${path} has no default export`);
  return exported;
}

let isLent = false;

/**
 * A file that is served may lie anywhere, also where nothing was installed: what it imports of this package is then this very
 * package. Where it finds one of its own, that one is taken. Node has had the hooks since 22.15; before, it has to be installed.
 */
function lendOurselves(): void {
  if (isLent || !('registerHooks' in nodeModule)) return;
  isLent = true;
  nodeModule.registerHooks({
    resolve: (specifier, context, next) => {
      if (!OURS.test(specifier)) return next(specifier, context);
      try {
        return next(specifier, context);
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw thrown;
        return next(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
}

/** With the line, where the stack has it, and what to do about the usual reasons. */
function reasonOf(thrown: unknown, path: string): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { code } = thrown as NodeJS.ErrnoException;
  const missing = /Cannot find package '([^']+)'/.exec(thrown.message)?.[1];
  if (code === 'ERR_MODULE_NOT_FOUND' && missing !== undefined)
    return `${thrown.message}. In the folder of that file, type: npm install ${missing}`;
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.[cm]?ts$/.test(path))
    return `Node ${process.versions.node} does not read TypeScript. Use Node 22.18 or newer, or compile it to JavaScript`;
  const at = lineIn(thrown.stack ?? '');
  return `${thrown.message}${at === undefined ? '' : ` (${at})`}`;
}

/** `file.ts:3`, of the first place outside Node itself. */
function lineIn(stack: string): string | undefined {
  const words = stack.split(/[\s()]/).map((word) => word.replace(/^file:\/\//, ''));
  const places = words.map((word) => /^((?:\/|[A-Z]:\\).+\.[cm]?[jt]s):(\d+)/.exec(word)).filter((place) => place !== null);
  const own = places.find(([, file = '']) => !file.includes('node_modules'));
  return own === undefined ? undefined : `${own[1]}:${own[2]}`;
}
