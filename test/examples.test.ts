import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** Every story of examples/ is an agent and a caller that asserts what it gets. These tests run them all. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const stories = readdirSync(join(ROOT, 'examples')).filter((name) => existsSync(join(ROOT, 'examples', name, 'main.ts')));

function play(program: string, more: readonly string[] = []): SpawnSyncReturns<string> {
  const args = ['--conditions=our-src', ...more, program];
  return spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', timeout: 90_000 });
}

describe('the stories of examples/', () => {
  it('are all there', () => {
    expect(stories).toEqual(['ag-ui', 'approvals', 'delegation', 'editor', 'files', 'hello', 'legacy-proxy', 'llm', 'mcp', 'streaming']);
  });

  for (const story of stories) {
    it(`${story}: runs, says what it did, and leaves nothing behind`, () => {
      const run = play(`examples/${story}/main.ts`);
      expect(run.status, `${run.stdout}\n${run.stderr}`).toBe(0);
      expect(run.stdout).toMatch(new RegExp(`^${story}: .+\\n$`));
    });
  }

  it('fail when their agent does', () => {
    const broken =
      "import { defineAgent } from 'parley-a2a/agents'; export default defineAgent({ name: 'hello', description: 'x', run: () => 'Go away.' });";
    const hook = `import { registerHooks } from 'node:module';
registerHooks({ load: (url, context, next) => url.endsWith('/examples/hello/agent.ts') ? { format: 'module', source: ${JSON.stringify(broken)}, shortCircuit: true } : next(url, context) });`;
    const run = play('examples/hello/main.ts', ['--import', `data:text/javascript,${encodeURIComponent(hook)}`]);
    expect(run.status).toBe(1);
    expect(run.stderr).toContain('Go away.');
  });
});
