import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type FakeModel, startFakeModel } from '../support/fake-model/server.ts';
import { type Parley, parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { jsonRequest, sendBody } from '../support/server.ts';
import { times } from './size.ts';

/** A language model asks before it calls a tool. Its node is killed with SIGKILL while it waits for the answer, and while the tool runs. */
const TOOL = fileURLToPath(new URL('children/ledger-tool.ts', import.meta.url));
const AGENTS = fileURLToPath(new URL('../../src/agents/index.ts', import.meta.url));
const TASKS = times(6, 30);
const KILLS = times(3, 12);
const TEST_MS = 300_000;

let model: FakeModel;
beforeAll(async () => {
  model = await startFakeModel();
});
afterAll(() => model.close());

interface TaskJson {
  readonly id: string;
  readonly status: { readonly state: string };
  readonly artifacts?: readonly { readonly parts: readonly { readonly text?: string }[] }[];
}

/** A folder with its ledger, and the command that serves a model with the tool. */
function place(answerMs = 0): { readonly ledger: string; readonly args: readonly string[]; readonly data: string } {
  const folder = scratchFolder();
  const [ledger, data] = [join(folder, 'ledger'), join(folder, 'data')];
  const tool = `mcp:${process.execPath} --conditions=our-src ${TOOL} ${ledger} ${answerMs}`;
  return { ledger, data, args: ['llm', '--model', 'fake', '--base-url', `${model.url}/v1`, '--tool', tool, '--data', data] };
}

/** A node that starts programs asks for the token of this machine. */
function tokenOf(node: Parley): Readonly<Record<string, string>> {
  const { tokenFile } = JSON.parse(node.lines()[0] ?? '') as { readonly tokenFile?: string };
  return tokenFile === undefined ? {} : { Authorization: `Bearer ${readFileSync(tokenFile, 'utf8').trim()}` };
}

async function begin(node: Parley, text: string): Promise<string> {
  const body = sendBody(text, { configuration: { returnImmediately: true } });
  const response = await fetch(jsonRequest(`${node.url}/message:send`, body, tokenOf(node)));
  return ((await response.json()) as { readonly task: TaskJson }).task.id;
}

const taskOf = async (node: Parley, id: string): Promise<TaskJson> =>
  (await (await fetch(`${node.url}/tasks/${id}`, { headers: { 'A2A-Version': '1.0', ...tokenOf(node) } })).json()) as TaskJson;
const isIn = async (node: Parley, id: string, state: string): Promise<boolean> => (await taskOf(node, id)).status.state === state;
const asks = (node: Parley, id: string): Promise<unknown> => eventually(() => isIn(node, id, 'TASK_STATE_INPUT_REQUIRED'));
const allow = async (node: Parley, id: string): Promise<number> =>
  (await fetch(jsonRequest(`${node.url}/api/parley/v1/approvals/${id}`, { optionId: 'allow' }, tokenOf(node)))).status;
const wordsOf = ({ artifacts = [] }: TaskJson): string => artifacts.flatMap(({ parts }) => parts.map(({ text = '' }) => text)).join('');
const linesOf = (ledger: string): readonly string[] => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trimEnd().split('\n') : []);

describe('a tool call of a language model that waits for an approval', () => {
  it(`runs once after its node was killed ${KILLS} times, and the answer arrives (${TASKS} tasks)`, { timeout: TEST_MS }, async () => {
    const { ledger, args } = place();
    let node = await parleyServe({ args });
    const versions = Array.from({ length: TASKS }, (_, at) => `v${at}`);
    const ids = await Promise.all(
      versions.map((version) => begin(node, `[[call deploy|{"version":"${version}"}]] [[say Deployed ${version}.]]`)),
    );
    for (let kill = 0; kill < KILLS; kill += 1) {
      for (const id of ids) await asks(node, id);
      await node.kill();
      node = await parleyServe({ args });
    }
    for (const id of ids) await asks(node, id);
    expect(linesOf(ledger)).toEqual([]);
    expect(await Promise.all(ids.map((id) => allow(node, id)))).toEqual(ids.map(() => 200));
    for (const [at, id] of ids.entries()) {
      await eventually(() => isIn(node, id, 'TASK_STATE_COMPLETED'));
      expect(wordsOf(await taskOf(node, id))).toContain(`Deployed v${at}.`);
    }
    expect([...linesOf(ledger)].sort()).toEqual([...versions].sort());
    await node.stop();
  });

  it('does not run again after its node was killed while it ran, and the model learns that', { timeout: TEST_MS }, async () => {
    const { ledger, args } = place(600_000);
    const node = await parleyServe({ args });
    const id = await begin(node, '[[call deploy|{"version":"v1"}]] [[report]]');
    await asks(node, id);
    await allow(node, id);
    await eventually(() => linesOf(ledger).length > 0);
    await node.kill();
    const next = await parleyServe({ args });
    await eventually(() => isIn(next, id, 'TASK_STATE_COMPLETED'));
    expect(wordsOf(await taskOf(next, id))).toContain('It may have had its effect');
    expect(linesOf(ledger)).toEqual(['v1']);
    await next.stop();
  });

  it('control: an agent that stores nothing before it asks acts again with each kill', { timeout: TEST_MS }, async () => {
    const { ledger, data } = place();
    const file = join(scratchFolder(), 'naive.ts');
    writeFileSync(
      file,
      `import { appendFileSync } from 'node:fs';
import { defineAgent } from ${JSON.stringify(AGENTS)};
export default defineAgent({
  name: 'naive',
  description: 'Deploys before it asks.',
  recovery: 'retry',
  run: async (turn) => {
    appendFileSync(${JSON.stringify(ledger)}, 'v1\\n');
    await turn.ask('May I keep it?', { options: [{ optionId: 'allow', name: 'Yes', kind: 'allow_once' }] });
    return 'Deployed.';
  },
});
`,
    );
    const args = [file, '--data', data];
    const node = await parleyServe({ args });
    const id = await begin(node, 'deploy');
    await asks(node, id);
    await node.kill();
    const next = await parleyServe({ args });
    await allow(next, id);
    await eventually(() => isIn(next, id, 'TASK_STATE_COMPLETED'));
    expect(linesOf(ledger)).toEqual(['v1', 'v1']);
    await next.stop();
  });
});
