import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
  if (isOlder(filesOf(sources), mark)) return program;
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

/**
 * A Java program of these folders' sources, in the package `peer`, and one pom.xml among them. Returns the folder that Maven built it in. It is built
 * anew when a source has changed.
 */
export function javaProgram(name: string, sources: readonly string[]): string | undefined {
  const { folder, mark } = folderOf(name);
  const built = join(folder, 'target');
  if (isOlder(filesOf(sources), mark)) return built;
  return installed(mark, () => {
    const code = join(folder, 'src/main/java/peer');
    rmSync(code, { recursive: true, force: true });
    mkdirSync(code, { recursive: true });
    for (const file of filesOf(sources)) copyFileSync(file, join(file.endsWith('.xml') ? folder : code, basename(file)));
    run('mvn', ['--quiet', '--batch-mode', `-Dmaven.repo.local=${join(CACHE, 'maven')}`, 'clean', 'package'], folder);
  })
    ? built
    : undefined;
}

/** A Rust program: a folder with a Cargo.toml and `src`. It is built anew when a file has changed. */
export function rustProgram(name: string, source: string): string | undefined {
  const { folder, mark } = folderOf(name);
  const program = join(folder, 'target/debug/peer');
  const files = [join(source, 'Cargo.toml'), ...filesOf([join(source, 'src')])];
  if (isOlder(files, mark)) return program;
  return installed(mark, () => {
    run('cargo', ['build', '--quiet', '--manifest-path', copiedTo(folder, source), '--target-dir', join(folder, 'target')], folder);
  })
    ? program
    : undefined;
}

/** Copies a Rust program's sources, so that its lock file is not written into the tree. */
function copiedTo(folder: string, source: string): string {
  cpSync(join(source, 'src'), join(folder, 'src'), { recursive: true });
  copyFileSync(join(source, 'Cargo.toml'), join(folder, 'Cargo.toml'));
  return join(folder, 'Cargo.toml');
}

/** A published Go program, and the folder with the source of its module. Undefined where it can't be installed. */
export function goTool(
  name: string,
  { module, command }: { readonly module: string; readonly command: string },
): { readonly program: string; readonly source: string } | undefined {
  const { folder, mark } = folderOf(name);
  const [path, version] = module.split('@');
  const isThere =
    existsSync(mark) || installed(mark, () => run('go', ['install', `${path}/${command}@${version}`], folder, { GOBIN: folder }));
  if (!isThere) return undefined;
  const { Dir: source }: { readonly Dir: string } = JSON.parse(
    execFileSync('go', ['mod', 'download', '-json', module], { cwd: folder, encoding: 'utf8', timeout: INSTALL_MS_MAX }),
  );
  return { program: join(folder, basename(command)), source };
}

/** A collector of OpenTelemetry, built by its own builder of the parts that a file names. Undefined where it can't be built. */
export function collectorOf(name: string, { version, parts }: { readonly version: string; readonly parts: string }): string | undefined {
  const { folder, mark } = folderOf(name);
  const program = join(folder, 'built/collector');
  if (isOlder([parts], mark)) return program;
  return installed(mark, () => run('go', ['run', `go.opentelemetry.io/collector/cmd/builder@v${version}`, '--config', parts], folder))
    ? program
    : undefined;
}

function isOlder(files: readonly string[], mark: string): boolean {
  return existsSync(mark) && files.every((file) => statSync(file).mtimeMs < statSync(mark).mtimeMs);
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

function run(program: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): void {
  execFileSync(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'], timeout: INSTALL_MS_MAX });
}
