import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { lockProblems } from '../../scripts/lockfile.ts';

/** docs/faults.md, S12, as far as a repository can check it: what an installation runs and which packages it adds. */
const read = <T>(name: string): T => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')) as T;

interface Locked {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

const { scripts, dependencies, optionalDependencies } =
  read<Readonly<Record<'scripts' | 'dependencies' | 'optionalDependencies', Record<string, string>>>>('package.json');
const { packages } = read<{ packages: Record<string, Locked> }>('package-lock.json');
const others = Object.entries(packages).filter(([path, { link }]) => path !== '' && link !== true);
const shipped = others.filter(([, { dev, devOptional }]) => dev !== true && devOptional !== true);

describe('S12: the dependencies', () => {
  it('are few, and none runs an install script', () => {
    expect(Object.keys(dependencies).length).toBeLessThanOrEqual(12);
    expect(shipped.length).toBeLessThanOrEqual(40);
    expect(shipped.filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]);
    expect(['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'].filter((name) => name in scripts)).toEqual([]);
  });

  it('are all in the SBOM, and development dependencies are not', () => {
    const sbom = execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/sbom.mjs', import.meta.url))], { encoding: 'utf8' });
    const names = (JSON.parse(sbom) as { packages: readonly { name: string }[] }).packages.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['parley-a2a', ...Object.keys({ ...dependencies, ...optionalDependencies })]));
    expect(names.filter((name) => ['typescript', 'vitest', '@types/node'].includes(name))).toEqual([]);
  });

  it('have an integrity hash in the lock file', () => {
    expect(others.length).toBeGreaterThan(shipped.length);
    expect(others.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true)).toEqual([]);
  });
});

describe('S12: the check of the lock file', () => {
  const manifest = { version: '1.0.0', dependencies: { a: '^1.0.0' } };
  const good = { version: '1.0.0', integrity: 'sha512-x', license: 'MIT' };
  const lock = (more: object) => ({ lockfileVersion: 3, packages: { '': { version: '1.0.0' }, 'node_modules/a': { ...good, ...more } } });

  it('passes for this repository', () => {
    expect(lockProblems(read('package-lock.json'), read('package.json'))).toEqual([]);
    expect(lockProblems(lock({}), manifest)).toEqual([]);
  });

  it.each([
    ['another registry', { resolved: 'http://evil.example/a.tgz' }, 'comes from http://evil.example/a.tgz'],
    ['a git address', { resolved: 'git+ssh://git@evil.example/a.git' }, 'comes from git+ssh'],
    ['no hash', { integrity: undefined }, 'has no SHA-512 hash'],
    ['a weak hash', { integrity: 'sha1-x' }, 'has no SHA-512 hash'],
    ['an install script', { hasInstallScript: true }, 'runs a script at installation'],
    ['a licence that is not in the list', { license: 'GPL-3.0' }, 'has the licence GPL-3.0'],
    ['a link', { link: true }, 'is a link to a folder'],
  ])('finds %s', (_, more, problem) => {
    expect(lockProblems(lock(more), manifest).join()).toContain(problem);
  });

  it('finds a script that npm runs at installation, and a dependency that is no version', () => {
    expect(lockProblems(lock({}), { ...manifest, scripts: { postinstall: 'x' } })).toEqual(['this package has the script postinstall']);
    expect(lockProblems(lock({}), { ...manifest, dependencies: { a: 'git+https://evil.example/a' } }).join()).toContain(
      'no version of the registry',
    );
  });
});
