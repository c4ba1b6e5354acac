import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** reference/faults S12, as far as a repository can see to it: what whoever installs the package runs, and what it brings along. */
const read = <T>(name: string): T => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')) as T;

interface Locked {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

const { scripts, dependencies } = read<{ scripts: Record<string, string>; dependencies: Record<string, string> }>('package.json');
const { packages } = read<{ packages: Record<string, Locked> }>('package-lock.json');
const others = Object.entries(packages).filter(([path, { link }]) => path !== '' && link !== true);
const shipped = others.filter(([, { dev, devOptional }]) => dev !== true && devOptional !== true);

describe('S12: what the package brings along', () => {
  it('is little, and nothing of it runs when it is installed', () => {
    expect(Object.keys(dependencies).length).toBeLessThanOrEqual(12);
    expect(shipped.length).toBeLessThanOrEqual(40);
    expect(shipped.filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]);
    expect(['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'].filter((name) => name in scripts)).toEqual([]);
  });

  it('is what the lock file says, by its hash', () => {
    expect(others.length).toBeGreaterThan(shipped.length);
    expect(others.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true)).toEqual([]);
  });
});
