// Prints the SBOM (SPDX) of what a user installs: the package, its dependencies and its optional dependencies, with theirs.
// `npm sbom --omit=dev` leaves out a package that a development dependency needs as well, so the whole list is filtered here.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './install.mjs';

const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
const { status, stdout } = spawnSync('npm', ['sbom', '--sbom-format=spdx', '--package-lock-only', '--loglevel=error'], {
  cwd: ROOT,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
  maxBuffer: 1 << 28,
});
if (status !== 0) process.exit(status ?? 1);
const whole = JSON.parse(stdout);
const kept = new Set([...shipped()].map((path) => `${nameOf(path)}@${packages[path].version}`));
const parts = whole.packages.filter(({ name, versionInfo }) => kept.has(`${name}@${versionInfo}`));
const ids = new Set([whole.SPDXID, ...parts.map(({ SPDXID }) => SPDXID)]);
const relationships = whole.relationships.filter(
  ({ spdxElementId, relatedSpdxElement, relationshipType }) =>
    ids.has(spdxElementId) && ids.has(relatedSpdxElement) && relationshipType !== 'DEV_DEPENDENCY_OF',
);
process.stdout.write(`${JSON.stringify({ ...whole, packages: parts, relationships }, null, 2)}\n`);

/** The paths in the lock file that a normal install of the package has. Its peer dependencies are the user's own. */
function shipped() {
  const found = new Set();
  const add = (path) => {
    if (found.has(path)) return;
    found.add(path);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = packages[path];
    const peers = path === '' ? [] : Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true);
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const at = resolved(path, name);
      if (at !== undefined) add(at);
    }
  };
  add('');
  return found;
}

/** Where Node would find a package that another one imports. */
function resolved(from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (path in packages) return path;
    if (folder === '') return undefined;
  }
}

function nameOf(path) {
  return path === '' ? packages[''].name : path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
