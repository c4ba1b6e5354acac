import * as nodeModule from 'node:module';
import { pathToFileURL } from 'node:url';
import { ConfigError } from '../config/read-value.ts';

/** Imports of this package. */
const OURS = /^parley-a2a(?:\/|$)/;

/** Loads a module and returns its default export. Node's type stripping loads TypeScript. */
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
 * Lets a served file import this package although it is not installed where the file is: the import
 * then resolves to this copy. An installed copy takes precedence. Node has these hooks since 22.15;
 * with an older Node the package must be installed.
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

/**
 * Describes why a module could not be loaded: the line if the stack has it, and a remedy for the usual
 * reasons.
 */
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

/** The first stack frame outside Node and node_modules, as `file.ts:3`. */
function lineIn(stack: string): string | undefined {
  const words = stack.split(/[\s()]/).map((word) => word.replace(/^file:\/\//, ''));
  const places = words.map((word) => /^((?:\/|[A-Z]:\\).+\.[cm]?[jt]s):(\d+)/.exec(word)).filter((place) => place !== null);
  const own = places.find(([, file = '']) => !file.includes('node_modules'));
  return own === undefined ? undefined : `${own[1]}:${own[2]}`;
}
