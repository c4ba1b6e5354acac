import * as nodeModule from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ConfigError } from '../config/read-value.ts';

/** Imports of this package. */
const OURS = /^parley-a2a(?:\/|$)/;

/** Loads a module although Node has loaded it before, with every file that it imports. */
export interface FreshLoad {
  /** A new number for each load. */
  readonly generation: number;
  /** Called with the path of each file that the module consists of, without packages. */
  readonly onFile: (path: string) => void;
}

/** The query of the address under which Node loads a file again. */
const GENERATION = /[?&]generation=(\d+)$/;
const listeners = new Map<string, FreshLoad['onFile']>();

/** Loads a module and returns its default export. Node's type stripping loads TypeScript. */
export async function defaultExportOf(path: string, fresh?: FreshLoad): Promise<unknown> {
  registerOnce();
  const { href } = pathToFileURL(path);
  if (fresh !== undefined) {
    listeners.set(String(fresh.generation), fresh.onFile);
    fresh.onFile(path);
  }
  let module: unknown;
  try {
    module = await import(fresh === undefined ? href : `${href}?generation=${fresh.generation}`);
  } catch (thrown) {
    throw new ConfigError(`${path} could not be loaded: ${reasonOf(thrown, path)}`, { cause: thrown });
  }
  const { default: exported } = module as { readonly default?: unknown };
  if (exported === undefined) throw new ConfigError(`${path} has no default export`);
  return exported;
}

/** Whether this Node can load a changed file again. */
export const CAN_RELOAD: boolean = 'registerHooks' in nodeModule;

let isRegistered = false;

/** Registers the hooks below. Node has them since 22.15; with an older Node this package must be installed beside a served file. */
function registerOnce(): void {
  if (isRegistered || !CAN_RELOAD) return;
  isRegistered = true;
  nodeModule.registerHooks({
    resolve: (specifier, context, next) => {
      const found = OURS.test(specifier) ? lent(specifier, context, next) : next(specifier, context);
      const generation = GENERATION.exec(context.parentURL ?? '')?.[1];
      return generation === undefined || !isReloaded(found.url) ? found : { ...found, url: inGeneration(found.url, generation) };
    },
  });
}

type Resolve = nodeModule.ResolveHookSync;

/**
 * Lets a served file import this package although it is not installed where the file is: the import
 * then resolves to this copy. An installed copy takes precedence.
 */
function lent(specifier: string, context: Parameters<Resolve>[1], next: Parameters<Resolve>[2]): ReturnType<Resolve> {
  try {
    return next(specifier, context);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw thrown;
    return next(specifier, { ...context, parentURL: import.meta.url });
  }
}

/** The folders of this package's own code. A second copy of it would have classes of its own. */
const OWN_CODE = ['../../../src/', '../../../dist/'].map((folder) => new URL(folder, import.meta.url).href);

/** Files of the user. Packages and Node's own modules are loaded once. */
function isReloaded(url: string): boolean {
  return url.startsWith('file:') && !url.includes('/node_modules/') && !OWN_CODE.some((folder) => url.startsWith(folder));
}

function inGeneration(url: string, generation: string): string {
  const plain = url.replace(GENERATION, '');
  listeners.get(generation)?.(fileURLToPath(plain));
  return `${plain}${plain.includes('?') ? '&' : '?'}generation=${generation}`;
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
  const places = words
    .map((word) => /^((?:\/|[A-Z]:\\).+\.[cm]?[jt]s)(?:[?&]generation=\d+)?:(\d+)/.exec(word))
    .filter((place) => place !== null);
  const own = places.find(([, file = '']) => !file.includes('node_modules'));
  return own === undefined ? undefined : `${own[1]}:${own[2]}`;
}
