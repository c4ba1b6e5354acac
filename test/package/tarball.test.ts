import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runtimesFolder } from '../runtimes/install.ts';
import { suiteNeeding } from '../support/needs.ts';
import { packInto } from '../support/packed.ts';

/** The package as users get it: packed, installed into an empty project, run, and type-checked. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const STEP_MS_MAX = 240_000;
const INSTALL_BYTES_MAX = 5_000_000;
const tools = runtimesFolder();
const tool = (name: string): string => join(tools ?? '', 'node_modules', name);
const folder = mkdtempSync(join(tmpdir(), 'parley-package-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const manifest: { readonly version: string; readonly exports: Readonly<Record<string, unknown>> } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);
const entries = Object.keys(manifest.exports).filter((name) => name !== './package.json');
let tarball = '';

function run(command: string, args: readonly string[], cwd: string): string {
  const { NODE_OPTIONS: _, VITEST: __, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(command, [...args], { cwd, env, encoding: 'utf8', timeout: STEP_MS_MAX });
  expect(status, `${command} ${args.join(' ')}\n${stdout}\n${stderr}`).toBe(0);
  return stdout;
}

function newProject(name: string, options: readonly string[] = []): string {
  const project = join(folder, name);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...options, tarball], project);
  return project;
}

/** The files that a browser loads with a module, and those that it loads when they are needed. */
async function bundled(
  contents: string,
  resolveDir: string,
): Promise<{ readonly first: readonly string[]; readonly later: readonly string[] }> {
  const { outputFiles, metafile } = await build({
    ...{
      stdin: { contents, resolveDir },
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'browser',
      minify: true,
      target: 'es2023',
    },
    ...{ write: false, metafile: true, outdir: join(resolveDir, 'bundle'), absWorkingDir: resolveDir, logLevel: 'error' },
  });
  const { outputs } = metafile;
  const entry = Object.keys(outputs).find((name) => outputs[name]?.entryPoint === '<stdin>') ?? '';
  const first = new Set<string>([entry]);
  // A set may grow while it is walked.
  for (const name of first) {
    for (const { path, kind } of outputs[name]?.imports ?? []) if (kind === 'import-statement') first.add(path);
  }
  const textOf = (names: readonly string[]): readonly string[] =>
    outputFiles.filter(({ path }) => names.some((name) => path === join(resolveDir, name))).map(({ text }) => text);
  return { first: textOf([...first]), later: textOf(Object.keys(outputs).filter((name) => !first.has(name))) };
}

function kibOf(files: readonly string[]): number {
  return files.reduce((sum, text) => sum + gzipSync(text).length, 0) / 1024;
}

suiteNeeding('a package registry', tools !== undefined, 'the packed package', () => {
  let project = '';
  beforeAll(() => {
    tarball = packInto(folder);
    project = newProject('full');
    const imports = entries.map((name, at) => `import * as m${at} from 'parley-a2a${name.slice(1)}';`);
    writeFileSync(join(project, 'all.ts'), `${imports.join('\n')}\nconsole.log([${entries.map((_, at) => `m${at}`)}].length);\n`);
    writeFileSync(join(project, 'all.mjs'), readFileSync(join(project, 'all.ts')));
  }, STEP_MS_MAX);

  it('runs nothing at installation', () => {
    const { scripts = {} }: { readonly scripts?: Readonly<Record<string, string>> } = JSON.parse(
      readFileSync(join(project, 'node_modules/parley-a2a/package.json'), 'utf8'),
    );
    expect(['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'].filter((name) => name in scripts)).toEqual([]);
  });

  it('passes publint', () => {
    expect(run(process.execPath, [tool('publint/src/cli.js'), 'run', tarball, '--strict'], folder)).toContain('All good!');
  });

  it(
    'passes are-the-types-wrong',
    () => {
      run(process.execPath, [tool('.bin/attw'), tarball, '--profile', 'esm-only', '--format', 'ascii'], folder);
    },
    STEP_MS_MAX,
  );

  it(
    'type-checks every entry with skipLibCheck off',
    () => {
      const compilerOptions = {
        ...{ strict: true, noEmit: true, skipLibCheck: false, module: 'NodeNext', target: 'ES2023', types: ['node'] },
        lib: ['ES2024', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
        typeRoots: [join(ROOT, 'node_modules/@types')],
      };
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['all.ts'] }));
      const tsc = join(ROOT, 'node_modules/.bin/tsc');
      run(process.execPath, [tsc, '-p', 'tsconfig.json'], project);
      writeFileSync(join(project, 'all.ts'), "import { A2AClient } from 'parley-a2a';\nA2AClient.noSuchFunction();\n");
      const { stdout } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.json'], { cwd: project, encoding: 'utf8' });
      expect(stdout).toContain('noSuchFunction');
    },
    STEP_MS_MAX,
  );

  it.each([
    ['22', tool('node22/bin/node')],
    ['24', process.execPath],
  ])(
    'runs on Node %s',
    (major, node) => {
      expect(run(node, ['--version'], project)).toMatch(new RegExp(`^v${major}[.]`));
      expect(run(node, ['all.mjs'], project)).toBe(`${entries.length}\n`);
      const parley = 'node_modules/parley-a2a/bin/parley';
      expect(run(node, [parley, '--version'], project)).toBe(`${manifest.version}\n`);
      expect(run(node, [parley, 'doctor', '--help'], project)).toContain('parley doctor');
    },
    STEP_MS_MAX,
  );

  it('has the console, the documentation and the reference pages', () => {
    const files = new Set(readdirSync(join(project, 'node_modules/parley-a2a'), { recursive: true, encoding: 'utf8' }));
    for (const name of ['dist/console/index.html', 'dist/docs.br', 'docs/reference/api.md', 'llms.txt', 'LICENSE'])
      expect([name, files.has(name)]).toEqual([name, true]);
    expect([...files].filter((name) => /[.]test[.]|[.]map$/.test(name))).toEqual([]);
  });

  it('has every class once, so that instanceof holds between the command line and an agent that imports the package', () => {
    const dist = join(project, 'node_modules/parley-a2a/dist');
    const scripts = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => /^(?!console).*[.]js$/.test(name));
    const classes = scripts.flatMap((name) => readFileSync(join(dist, name), 'utf8').match(/\b[A-Z]\w+(?==class\b)/g) ?? []);
    expect(classes).toContain('A2AError');
    expect(classes.filter((name, at) => classes.indexOf(name) !== at)).toEqual([]);
  });

  it.each(['server/index', 'engine/index', 'engine/adapters/memory', 'bindings/index', 'protocol/index', 'client/index'])(
    'loads no module of Node for %s, which runs in Workers and browsers',
    (entry) => {
      const dist = join(project, 'node_modules/parley-a2a/dist');
      const loaded = new Set([join(dist, `${entry}.js`)]);
      for (const file of loaded) {
        const text = readFileSync(file, 'utf8');
        expect([file, text.match(/(?:from|import) ?["']node:[^"']+|getBuiltinModule\([^)]*/g)]).toEqual([file, null]);
        for (const [, from = ''] of text.matchAll(/\b(?:from|import) ?["']([.][^"']+)["']/g)) loaded.add(join(dirname(file), from));
      }
      expect(loaded.size).toBeGreaterThan(1);
    },
  );

  // The current dialect over JSON-RPC and HTTP+JSON. The root has `defineAgent` too, which a bundler drops if it is not used.
  it.each([
    ["export { A2AClient } from 'parley-a2a/client';", 40],
    ["export * from 'parley-a2a/client';", 42],
    ["export * from 'parley-a2a';", 48],
  ])('gives a browser %s in %i KiB, minified and zipped, and loads other dialects and gRPC later', async (contents, kibMax) => {
    const { first, later } = await bundled(contents, project);
    expect(first.length + later.length).toBeGreaterThan(2);
    expect(kibOf(first)).toBeLessThan(kibMax);
    expect(kibOf(first)).toBeGreaterThan(20);
    const titles = ['A2A 0.3', 'A2A 0.1', 'Solace Agent Mesh'];
    expect(titles.filter((title) => first.some((text) => text.includes(title)))).toEqual([]);
    expect(titles.filter((title) => later.some((text) => text.includes(title)))).toEqual(titles);
  });

  it(
    `adds at most ${INSTALL_BYTES_MAX / 1e6} MB without optional packages, and still works`,
    () => {
      const small = newProject('small', ['--omit=optional']);
      const modules = join(small, 'node_modules');
      const files = readdirSync(modules, { recursive: true, encoding: 'utf8', withFileTypes: true }).filter((entry) => entry.isFile());
      const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
      expect(bytes).toBeLessThanOrEqual(INSTALL_BYTES_MAX);
      expect(run(process.execPath, ['node_modules/.bin/parley', '--version'], small)).toBe(`${manifest.version}\n`);
    },
    STEP_MS_MAX,
  );
});
