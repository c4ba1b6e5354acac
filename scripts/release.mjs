// `npm run release -- VERSION`: prepares a release and publishes nothing. It sets the version, dates the changelog, and writes the package, its
// SBOM and their checksums into release/. What is left to do by hand: commit, tag, and `npm publish release/FILE` in a CI job that can sign
// (`id-token: write` on GitHub, SIGSTORE_ID_TOKEN on GitLab): package.json asks for provenance, so npm refuses to publish from elsewhere.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, ROOT } from './install.mjs';

const FOLDER = join(ROOT, 'release');
const CHANGELOG = join(ROOT, 'CHANGELOG.md');
const [version, ...rest] = process.argv.slice(2);
const isDryRun = rest.includes('--dry-run');

if (version === undefined || !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
  stop('Which version? For example: npm run release -- 0.2.0 [--dry-run]');
await ensureInstalled();
const changelog = readFileSync(CHANGELOG, 'utf8');
const notes = /^## Unreleased\n([\s\S]*?)(?=^## )/m.exec(changelog)?.[1]?.trim() ?? '';
if (notes === '') stop('CHANGELOG.md has nothing under "Unreleased". Describe the changes there first.');

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER);
// From the first release on, README, guides and new projects use the published package instead of a clone.
const PUBLISHED = 'src/cli/init/published.ts';
const guides = ['README.md', ...readdirSync(join(ROOT, 'docs/guides')).map((name) => `docs/guides/${name}`)];
const manifests = ['package.json', 'package-lock.json', 'CHANGELOG.md', PUBLISHED, ...guides].map((name) => [
  join(ROOT, name),
  readFileSync(join(ROOT, name)),
]);
try {
  npm(['version', version, '--no-git-tag-version', '--allow-same-version']);
  const today = new Date().toISOString().slice(0, 10);
  writeFileSync(CHANGELOG, changelog.replace(/^## Unreleased\n/m, `## Unreleased\n\n## ${version} (${today})\n`));
  edit(PUBLISHED, (text) => text.replace('= false', '= true'));
  for (const page of guides)
    edit(page, (text) =>
      text
        .replaceAll('bin/parley', 'npx parley-a2a')
        .replaceAll('npm start', 'npx parley-a2a serve')
        .replace(
          /^The package is not on npm yet[\s\S]*?\n\n/m,
          '`npm install parley-a2a` adds it to a project; `npx parley-a2a` runs the command without one.\n\n',
        ),
    );
  const [{ filename }] = JSON.parse(npm(['pack', '--json', '--pack-destination', FOLDER]));
  const sbom = `parley-a2a-${version}.spdx.json`;
  writeFileSync(join(FOLDER, sbom), output(process.execPath, [join(ROOT, 'scripts/sbom.mjs')]));
  writeFileSync(join(FOLDER, 'NOTES.md'), `${notes}\n`);
  const sums = [filename, sbom].map((name) => `${sha256(join(FOLDER, name))}  ${name}\n`);
  writeFileSync(join(FOLDER, 'SHA256SUMS'), sums.join(''));
  process.stdout.write(sums.join(''));
} finally {
  if (isDryRun) for (const [path, bytes] of manifests) writeFileSync(path, bytes);
}
console.log(
  isDryRun
    ? 'Dry run: the files are in release/; package.json and CHANGELOG.md are unchanged.'
    : `The files are in release/. Next: git commit -am "Release ${version}" && git tag v${version}, then, in CI: npm publish release/parley-a2a-${version}.tgz`,
);

function edit(name, change) {
  writeFileSync(join(ROOT, name), change(readFileSync(join(ROOT, name), 'utf8')));
}

function npm(args) {
  return output('npm', [...args, '--loglevel=error']);
}

function output(command, args) {
  const { status, stdout } = spawnSync(command, args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`${command} ${args[0]} failed`);
  return stdout;
}

function sha256(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function stop(text) {
  console.error(text);
  process.exit(2);
}
