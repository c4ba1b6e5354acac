// `npm run check`: all checks that do not run tests. CI runs the same list.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, requireInstalled, runTool } from './install.mjs';

requireInstalled();
let failed = 0;

step('format and lint', () => runTool('biome', ['check', '--error-on-warnings', '.']).status);
step('types', () => runTool('tsc', ['-p', 'tsconfig.json']).status);
step('types of the console', () => runTool('tsc', ['-p', 'src/console/tsconfig.json']).status);
step('build', () => runTool('tsc', ['-p', 'tsconfig.build.json']).status);
step('rooms', rooms);
step('dead exports', () => runTool('knip', ['--no-progress', '--treat-config-hints-as-errors']).status);
step('sizes', () => spawnSync(process.execPath, [join(ROOT, 'scripts/sizes.mjs')], { stdio: 'inherit' }).status);
step('names', () => spawnSync(process.execPath, [join(ROOT, 'scripts/names.mjs')], { stdio: 'inherit' }).status);
step('wire names', () => runTool('node', ['--conditions=our-src', join(ROOT, 'scripts/wire-names.ts')]).status);
step('words', () => spawnSync(process.execPath, [join(ROOT, 'scripts/words.mjs')], { stdio: 'inherit' }).status);
step('doc comments', () => spawnSync(process.execPath, [join(ROOT, 'scripts/doc-comments.mjs')], { stdio: 'inherit' }).status);
step('dependencies', () => runTool('node', [join(ROOT, 'scripts/lockfile.ts')]).status);
step('generated code', () => spawnSync(process.execPath, [join(ROOT, 'scripts/protos.mjs'), '--check'], { stdio: 'inherit' }).status);
step('generated docs', () => runTool('node', ['--conditions=our-src', join(ROOT, 'scripts/docs.ts'), '--check']).status);
process.exit(failed === 0 ? 0 : 1);

/** Without a parser, dependency-cruiser sees no files and passes. So this checks that it has seen every source file. */
function rooms() {
  const cruise = runTool('depcruise', ['src', '--config', '.dependency-cruiser.cjs', '--output-type', 'json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 28,
  });
  const { modules, summary } = JSON.parse(String(cruise.stdout));
  const seen = new Set(modules.map((module) => module.source));
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true })
    .map((name) => `src/${name}`)
    .filter((name) => /[.]tsx?$/.test(name));
  const unseen = sources.filter((name) => !seen.has(name));
  const edges = modules.reduce((sum, module) => sum + module.dependencies.length, 0);
  for (const { rule, from, to } of summary.violations) console.error(`${rule.name}: ${from} -> ${to}`);
  for (const name of unseen) console.error(`not seen: ${name}`);
  console.log(`${seen.size} modules and ${edges} imports seen, ${summary.violations.length} in the wrong direction`);
  return summary.violations.length === 0 && unseen.length === 0 && edges > sources.length ? 0 : 1;
}

function step(name, run) {
  const start = performance.now();
  const status = run();
  const took = `${((performance.now() - start) / 1000).toFixed(1)} s`;
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name} (${took})`);
  if (status !== 0) failed += 1;
}
