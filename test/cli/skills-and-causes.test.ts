import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Parley, parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { jsonOf, run } from './run.ts';

const AGENTS = fileURLToPath(new URL('../../src/agents/index.ts', import.meta.url));
const TOKEN = 'a-token-of-this-test-and-of-no-other';
const file = join(scratchFolder(), 'builder.ts');
writeFileSync(
  file,
  `import { defineAgent } from ${JSON.stringify(AGENTS)};
export default defineAgent({
  name: 'builder',
  description: 'Builds.',
  skills: [
    { id: 'build', description: 'Builds.' },
    { id: 'paint', description: 'Paints.' },
  ],
  run: (turn) => {
    if (turn.text === 'boom') throw new TypeError('x is not a number');
    return \`skill \${turn.skill}\`;
  },
});
`,
);

let open: Parley;
let closed: Parley;
beforeAll(async () => {
  const args = [file, '--memory'];
  [open, closed] = await Promise.all([parleyServe({ args }), parleyServe({ args, env: { PARLEY_TOKEN: TOKEN } })]);
});
afterAll(async () => {
  await Promise.all([open.stop(), closed.stop()]);
});

describe('parley ask --skill', () => {
  it('names the skill in metadata.skillId of the message', async () => {
    expect(await run(['ask', open.url, '--skill', 'paint', 'hello'])).toEqual({ code: 0, out: 'skill paint\n', err: '' });
    const { tasks } = (await (await fetch(`${open.url}/tasks?historyLength=1`)).json()) as {
      readonly tasks: readonly { readonly history: readonly { readonly metadata?: unknown }[] }[];
    };
    expect(tasks[0]?.history[0]?.metadata).toMatchObject({ skillId: 'paint' });
  });

  it('lists the skills of the agent if it has no such skill', async () => {
    const ran = await run(['ask', open.url, '--skill', 'pant', 'hello']);
    expect([ran.code, ran.out]).toEqual([1, '']);
    expect(ran.err).toMatch(/paint/);
  });
});

describe('what an agent threw', () => {
  const CAUSE = /TypeError: x is not a number.*builder\.ts:\d+/;

  it('reaches a developer on this machine: in the answer, with --verbose, and in the log with the stack', async () => {
    const asked = await run(['ask', open.url, 'boom']);
    expect([asked.code, `${asked.out}${asked.err}`]).toEqual([1, expect.stringMatching(CAUSE)]);
    expect((await run(['send', '-a', open.url, '--verbose', 'boom'])).out).toMatch(CAUSE);
    await eventually(() => /x is not a number[\s\S]*builder\.ts:\d+/.test(open.errors()));
  });

  it('never reaches an authenticated caller, in no output and in no byte of the response', async () => {
    const env = { A2ACLI_BEARER: TOKEN };
    for (const args of [
      ['ask', closed.url, 'boom', '--debug'],
      ['send', '-a', closed.url, '--verbose', '--debug', 'boom'],
    ]) {
      const { out, err } = await run(args, { env });
      expect(`${out}${err}`).toContain('The agent failed unexpectedly.');
      expect(`${out}${err}`).not.toContain('not a number');
    }
    expect(jsonOf(await run(['send', '-a', closed.url, '-o', 'json', 'boom'], { env }))).toMatchObject({
      task: { status: { state: 'TASK_STATE_FAILED' } },
    });
    await eventually(() => /x is not a number[\s\S]*builder\.ts:\d+/.test(closed.errors()));
  });
});
