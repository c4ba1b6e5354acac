import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The packages that a new project needs, linked from this machine without a download. */
export interface Tools {
  /** For package.json: this checkout, or the published version. */
  readonly dependency: string;
  /** A checkout is run from its sources, with the export condition `our-src`. */
  readonly isCheckout: boolean;
  readonly versions: { readonly typescript: string; readonly types: string };
  /** Links the packages that this machine has into the project. `npm install` brings the others. */
  link(): void;
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Finds out how a new project in this folder can use this package. */
export function linkTools(folder: string): Tools {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly version: string;
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const isCheckout = existsSync(join(ROOT, 'src/cli/main.ts'));
  return {
    dependency: isCheckout ? `file:${ROOT.replace(/[\\/]$/, '')}` : `^${manifest.version}`,
    isCheckout,
    versions: { typescript: manifest.devDependencies['typescript'] ?? '^7', types: manifest.devDependencies['@types/node'] ?? '^24' },
    link: () => {
      const modules = join(folder, 'node_modules');
      symlink(ROOT, join(modules, 'parley-a2a'));
      symlink(join(ROOT, 'bin/parley'), join(modules, '.bin/parley'));
      const ours = [join(ROOT, 'node_modules'), dirname(ROOT.replace(/[\\/]$/, ''))].find((place) => existsSync(join(place, 'typescript')));
      if (ours === undefined) return;
      for (const name of ['typescript', '@types/node']) symlink(join(ours, name), join(modules, name));
      // The project's scripts run TypeScript. If the machine's Node is too old for that, they use the Node that this package brought.
      for (const name of ['tsc', 'node']) symlink(join(ours, '.bin', name), join(modules, '.bin', name));
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
