import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../.cache/peers/', import.meta.url));
const INSTALL_MS_MAX = 600_000;

/** The cache folder of one peer, and whether its installation finished before. */
function folderOf(name: string): { readonly folder: string; readonly mark: string } {
  const folder = join(CACHE, name);
  mkdirSync(folder, { recursive: true });
  return { folder, mark: join(folder, '.installed') };
}

/** A virtual environment with these packages of PyPI. Returns its Python, or undefined where it can't be installed. */
export function pythonWith(name: string, packages: readonly string[]): string | undefined {
  const { folder, mark } = folderOf(name);
  const python = join(folder, 'venv/bin/python');
  if (existsSync(mark)) return python;
  return installed(mark, () => {
    run('python3', ['-m', 'venv', join(folder, 'venv')], folder);
    run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages], folder);
  })
    ? python
    : undefined;
}

/**
 * The same by uv, which installs hundreds of packages in seconds. `excludes` is a file with packages that are left out although others ask for
 * them.
 */
export function pythonByUv(
  name: string,
  { packages, excludes }: { readonly packages: readonly string[]; readonly excludes?: string },
): string | undefined {
  const { folder, mark } = folderOf(name);
  const python = join(folder, 'venv/bin/python');
  const isCurrent = (): boolean => excludes === undefined || statSync(excludes).mtimeMs < statSync(mark).mtimeMs;
  if (existsSync(mark) && isCurrent()) return python;
  const left = excludes === undefined ? [] : ['--excludes', excludes];
  return installed(mark, () => {
    run('python3', ['-m', 'venv', '--clear', join(folder, 'venv')], folder);
    run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', 'uv'], folder);
    run(join(folder, 'venv/bin/uv'), ['pip', 'install', '--quiet', '--python', python, ...left, ...packages], folder);
  })
    ? python
    : undefined;
}

/**
 * A Go program of these folders' sources, built against one module (`path@version`). Returns its path, or undefined where it can't be built. It is
 * built anew when a source has changed.
 */
export function goProgram(
  name: string,
  { module, sources }: { readonly module: string; readonly sources: readonly string[] },
): string | undefined {
  const { folder, mark } = folderOf(name);
  const program = join(folder, 'peer');
  const isCurrent = (): boolean => existsSync(mark) && filesOf(sources).every((file) => statSync(file).mtimeMs < statSync(mark).mtimeMs);
  if (isCurrent()) return program;
  return installed(mark, () => {
    for (const file of filesOf(sources)) copyFileSync(file, join(folder, basename(file)));
    writeFileSync(join(folder, 'go.mod'), 'module peer\n\ngo 1.24\n');
    run('go', ['get', module], folder);
    run('go', ['mod', 'tidy'], folder);
    run('go', ['build', '-o', program, '.'], folder);
  })
    ? program
    : undefined;
}

function filesOf(folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
}

function installed(mark: string, install: () => void): boolean {
  try {
    install();
    writeFileSync(mark, new Date().toISOString());
    return true;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return false;
  }
}

function run(program: string, args: readonly string[], cwd: string): void {
  execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'], timeout: INSTALL_MS_MAX });
}
