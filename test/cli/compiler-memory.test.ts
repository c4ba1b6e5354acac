import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const SOURCE = fileURLToPath(new URL('../../src/cli/serve/compiler-memory.ts', import.meta.url));

/** Calls a function until V8 has compiled it with Maglev, and returns the names of V8's trace events. */
function eventsOfCompilation(isFreed: boolean): ReadonlySet<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-compiler-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const trace = join(folder, 'trace.json');
  const script = `
    import { freeCompilerMemoryAtOnce } from ${JSON.stringify(SOURCE)};
    if (${isFreed}) freeCompilerMemoryAtOnce();
    const hot = (at) => at * 2 + 1;
    for (let at = 0; !%ActiveTierIsMaglev(hot); at += 1) {
      hot(at);
      if (at % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }`;
  const tracing = ['--trace-event-categories=disabled-by-default-v8.compile', `--trace-event-file-pattern=${trace}`];
  const flags = ['--disable-warning=ExperimentalWarning', '--allow-natives-syntax', '--max-opt=2', ...tracing];
  execFileSync(process.execPath, [...flags, '--input-type=module', '--eval', script]);
  const { traceEvents } = JSON.parse(readFileSync(trace, 'utf8')) as { readonly traceEvents: readonly { readonly name: string }[] };
  return new Set(traceEvents.map(({ name }) => name));
}

/** Node 22 has Maglev, but does not use it. */
const hasMaglev = Number.parseInt(process.versions.node, 10) >= 24;

it.runIf(hasMaglev)('frees the memory of each compilation when it ends, and not later on a thread', () => {
  const freed = eventsOfCompilation(true);
  expect(freed).toContain('V8.MaglevDestruct');
  expect(freed).not.toContain('V8.MaglevDestructBackground');
  expect(eventsOfCompilation(false)).not.toContain('V8.MaglevDestruct');
});
