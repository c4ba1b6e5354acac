import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildCheckout } from './build.ts';
import { IS_PUBLISHED } from './published.ts';

/** The packages that a new project needs, linked from this machine without a download. */
export interface Tools {
  /** For package.json: where this package is on this machine, or its published version. */
  readonly dependency: string;
  /** The version of another package that this package is tested with. */
  versionOf(name: string): string;
  /** Links these packages into the project, as far as this machine has them. `npm install` brings the others. */
  link(packages: readonly string[], say: (line: string) => void): void;
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url)).replace(/[\\/]$/, '');

interface Manifest {
  readonly version: string;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Finds out how a new project in this folder can use this package. */
export function linkTools(folder: string): Tools {
  const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const isCheckout = existsSync(join(ROOT, 'src/cli/main.ts'));
  return {
    dependency: IS_PUBLISHED && !isCheckout ? `^${manifest.version}` : `file:${ROOT}`,
    versionOf: (name) => manifest.optionalDependencies?.[name] ?? manifest.devDependencies?.[name] ?? '*',
    link: (packages, say) => {
      if (isCheckout) buildCheckout(ROOT, say);
      const modules = join(folder, 'node_modules');
      symlink(ROOT, join(modules, 'parley-a2a'));
      symlink(join(ROOT, 'bin/parley'), join(modules, '.bin/parley'));
      // Beside this package if it is installed, below it in a checkout.
      const places = [join(ROOT, 'node_modules'), dirname(ROOT)];
      const linkFrom = (path: string): void => {
        const place = places.find((each) => existsSync(join(each, path)));
        if (place !== undefined) symlink(join(place, path), join(modules, path));
      };
      for (const name of packages) linkFrom(name);
      // The project's scripts run TypeScript. If the machine's Node is too old for that, they use the Node of the checkout.
      for (const name of ['tsc', 'node']) linkFrom(join('.bin', name));
    },
  };
}

/** Links a package into the project, unless it has it. */
function symlink(from: string, to: string): void {
  if (!existsSync(from) || existsSync(to)) return;
  mkdirSync(dirname(to), { recursive: true });
  try {
    symlinkSync(from, to, process.platform === 'win32' ? 'junction' : undefined);
  } catch {
    // Not every file system has links. `npm install` brings the packages then.
  }
}
