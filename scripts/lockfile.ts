// `npm run check`, step "dependencies": what package-lock.json pins, read without a network. Every package has an exact version and a SHA-512
// hash and comes from the registry. What users install runs nothing at installation and has a licence from the list.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const REGISTRY = 'https://registry.npmjs.org/';
const LICENCES = new Set(['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0']);
/** What an installation may not run: npm would do it for everybody who installs the package. */
const LIFECYCLE = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'];

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string | undefined;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly license?: string;
}

export interface LockFile {
  readonly lockfileVersion?: number;
  readonly packages?: Readonly<Record<string, LockedPackage>>;
}

type Versions = Readonly<Record<string, string>>;

export interface PackageManifest {
  readonly version?: string;
  readonly scripts?: Versions;
  readonly dependencies?: Versions;
  readonly optionalDependencies?: Versions;
  readonly devDependencies?: Versions;
}

/** The problems of a lock file and its package.json, one line each. */
export function lockProblems(lock: LockFile, manifest: PackageManifest): readonly string[] {
  const problems: string[] = [];
  if (lock.lockfileVersion !== 3) problems.push(`lockfileVersion is ${lock.lockfileVersion}, not 3`);
  if (lock.packages?.['']?.version !== manifest.version) problems.push('the lock file is of another version of this package');
  for (const script of LIFECYCLE) if (manifest.scripts?.[script] !== undefined) problems.push(`this package has the script ${script}`);
  for (const [path, locked] of Object.entries(lock.packages ?? {})) if (path !== '') problems.push(...packageProblems(path, locked));
  for (const [kind, names] of Object.entries(dependenciesIn(manifest))) {
    for (const [name, range] of Object.entries(names)) {
      if (!/^(?:npm:@?[\w./-]+@)?[\^~]?\d[\w.+-]*$/.test(range))
        problems.push(`${kind}: ${name} is ${range}, which is no version of the registry`);
      if (lock.packages?.[`node_modules/${name}`] === undefined) problems.push(`${kind}: ${name} is not in the lock file`);
    }
  }
  return problems;
}

function packageProblems(path: string, locked: LockedPackage): readonly string[] {
  const { version, integrity, resolved, link, dev, hasInstallScript, license } = locked;
  const problems: string[] = [];
  if (link === true) problems.push(`${path} is a link to a folder`);
  if (version === undefined || !/^\d+\.\d+\.\d+/.test(version)) problems.push(`${path} has no exact version`);
  if (integrity?.startsWith('sha512-') !== true) problems.push(`${path} has no SHA-512 hash`);
  if (resolved !== undefined && !resolved.startsWith(REGISTRY)) problems.push(`${path} comes from ${resolved}, not from ${REGISTRY}`);
  if (dev === true) return problems;
  if (hasInstallScript === true) problems.push(`${path} runs a script at installation`);
  if (!isAllowed(license)) problems.push(`${path} has the licence ${license ?? '(none)'}, which is not in the list of scripts/lockfile.ts`);
  return problems;
}

/** One side of an OR suffices, both sides of an AND are needed. */
function isAllowed(license: string | undefined): boolean {
  if (typeof license !== 'string') return false;
  return license
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((name) => LICENCES.has(name.trim())));
}

function dependenciesIn(manifest: PackageManifest): Readonly<Record<string, Versions>> {
  const { dependencies = {}, optionalDependencies = {}, devDependencies = {} } = manifest;
  return { dependencies, optionalDependencies, devDependencies };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const read = <T>(name: string): T => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')) as T;
  const lock = read<LockFile>('package-lock.json');
  const problems = lockProblems(lock, read<PackageManifest>('package.json'));
  for (const problem of problems) console.error(problem);
  console.log(`${Object.keys(lock.packages ?? {}).length - 1} packages checked, ${problems.length} problems`);
  process.exit(problems.length === 0 ? 0 : 1);
}
