import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ReceivedMessage } from '#mesh';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { programOf, type RunningBroker, startMosquitto } from '../support/brokers.ts';
import { eventually } from '../support/eventually.ts';
import { launchServe, type Parley } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { NODE_NAMESPACE, onStop, send, start, stopAll, taskAt } from './nodes.ts';

afterEach(stopAll);

const folder = scratchFolder();
const isThere = programOf('mosquitto') !== undefined;
const GRAMMAR = ['--memory', '--mesh-grammar', 'mqtt01'];
const status = async (url: string): Promise<number> => (await fetch(url)).status;
const cardAt = ({ url }: Parley, name: string): string => `${url}/agents/${name}/.well-known/agent-card.json`;

async function broker(): Promise<RunningBroker> {
  const running = await startMosquitto();
  onStop(() => running.stop());
  return running;
}

/** Runs `parley mesh ls --json` until it lists these agents: it waits only a second for the retained cards. */
async function expectListed(url: string, names: readonly string[], more: readonly string[] = []): Promise<void> {
  await eventually(async () => expect(await listedOnce(url, more)).toEqual(names));
}

async function listedOnce(url: string, more: readonly string[]): Promise<readonly string[]> {
  const env = { PARLEY_MESH: url, PARLEY_NAMESPACE: NODE_NAMESPACE };
  const run = launchServe({ command: ['mesh', 'ls'], args: [...GRAMMAR.slice(1), ...more], env });
  expect((await run.ended).code, run.errors()).toBe(0);
  return run.lines().map((line) => (JSON.parse(line) as { name: string }).name);
}

/** The cards that the broker retains, by agent. */
async function keptCards(url: string, root = '$a2a/v1'): Promise<Map<string, ReceivedMessage>> {
  const kept = new Map<string, ReceivedMessage>();
  const client = await connectMqtt({ url, sessionSeconds: 0 });
  onStop(() => client.close());
  await client.subscribe({
    filter: `${root}/discovery/${NODE_NAMESPACE}/+`,
    handle: (card) => void kept.set(card.topic.split('/').at(-1) ?? '', card),
  });
  return kept;
}

describe.skipIf(!isThere)(`nodes with A2A over MQTT 0.1${isThere ? '' : ' [needs mosquitto]'}`, () => {
  it('are found and called through a gateway; a killed one is offline by its last will, and online after its restart', async () => {
    const { url } = await broker();
    const node = await start(url, ['script', 'echo'], { args: GRAMMAR });
    const gateway = await start(url, [], { command: ['mesh', 'gateway'], args: GRAMMAR });
    const script = { url: `${gateway.url}/agents/script` };
    await eventually(async () => expect(await status(cardAt(gateway, 'script'))).toBe(200));
    expect((await send(script, 'chunks=3')).artifacts?.[0]?.parts).toEqual([{ text: 'chunk 1chunk 2chunk 3' }]);
    const asked = await send(script, 'ask');
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(JSON.stringify(await send(script, 'green', { taskId: asked.id }))).toContain('answer: green');
    await expectListed(url, ['echo', 'script']);

    const kept = await keptCards(url);
    await eventually(() => expect([...kept.keys()].sort()).toEqual(['echo', 'script']));
    expect(kept.get('echo')?.properties).toMatchObject({ 'a2a-status': 'online', 'a2a-status-source': 'agent' });
    expect(String(kept.get('echo')?.payload)).toContain(`"url":"${url}"`);
    node.process.kill('SIGKILL');
    await node.ended;
    await eventually(async () => expect(await status(cardAt(gateway, 'script'))).toBe(404));
    for (const name of ['echo', 'script'])
      await eventually(() => expect(kept.get(name)?.properties).toMatchObject({ 'a2a-status': 'offline', 'a2a-status-source': 'lwt' }));
    await expectListed(url, []);

    const again = await start(url, ['script'], { args: GRAMMAR });
    await eventually(async () => expect(await status(cardAt(gateway, 'script'))).toBe(200));
    expect((await send(script, 'chunks=1')).status.state).toBe('TASK_STATE_COMPLETED');
    expect(await again.stop()).toBe(0);
    await eventually(() => expect(kept.get('script')?.properties).toMatchObject({ 'a2a-status': 'offline', 'a2a-status-source': 'agent' }));
  });

  it('share a pool under another root, and each member continues its own tasks', async () => {
    const { url } = await broker();
    const args = [...GRAMMAR, '--mesh-root', 'a2a/v1', '--mesh-pool', 'workers'];
    const members = await Promise.all(['1', '2'].map((at) => start(url, ['script'], { args: [...args, '--mesh-instance', at] })));
    const gateway = await start(url, [], { command: ['mesh', 'gateway'], args });
    expect(gateway.agents).toContain('workers');
    await eventually(async () =>
      expect([await status(cardAt(gateway, 'script-1')), await status(cardAt(gateway, 'script-2'))]).toEqual([200, 200]),
    );
    const workers = { url: `${gateway.url}/agents/workers` };
    const asked = await Promise.all(Array.from({ length: 12 }, () => send(workers, 'ask')));
    const sizes = await Promise.all(
      members.map(async (node) => ((await (await fetch(`${node.url}/api/parley/v1/tasks`)).json()) as { totalSize: number }).totalSize),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(12);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
    const answered = await Promise.all(asked.map(({ id }) => send(workers, 'green', { taskId: id })));
    expect(answered.map((task) => task.status.state)).toEqual(Array(12).fill('TASK_STATE_COMPLETED'));
    // The default root has no agents.
    await expectListed(url, []);
    await expectListed(url, ['script-1'], ['--mesh-root', 'a2a/v1', '--deny', '*-2']);
  });

  it('continue their tasks after they are killed, and so does the gateway', async () => {
    const { url } = await broker();
    const openNode = () => start(url, ['script'], { args: ['--data', join(folder, 'node'), ...GRAMMAR.slice(1)] });
    const openGateway = () =>
      start(url, [], { command: ['mesh', 'gateway'], args: ['--data', join(folder, 'gateway'), ...GRAMMAR.slice(1)] });
    const node = await openNode();
    const first = await openGateway();
    await eventually(async () => expect(await status(cardAt(first, 'script'))).toBe(200));
    const { id } = await send({ url: `${first.url}/agents/script` }, 'chunks=4 delay=800', {}, { returnImmediately: true });
    await eventually(async () => expect(JSON.stringify(await taskAt({ url: `${first.url}/agents/script` }, id))).toContain('chunk 1'));
    await Promise.all([node.kill(), first.kill()]);
    const [, second] = await Promise.all([openNode(), openGateway()]);
    await eventually(async () => {
      const task = await taskAt({ url: `${second.url}/agents/script` }, id);
      expect(JSON.stringify(task.status)).toContain('TASK_STATE_COMPLETED');
      expect(task.artifacts?.[0]?.parts.map(({ text }) => text)).toEqual(['chunk 1chunk 2chunk 3chunk 4']);
    });
  });

  it('with the same name do not disconnect each other for ever: the first leaves the broker and logs why', async () => {
    const { url } = await broker();
    const first = await start(url, ['echo'], { args: [...GRAMMAR, '--mesh-instance', '7'] });
    const second = await start(url, ['echo'], { args: [...GRAMMAR, '--mesh-instance', '7'] });
    await eventually(() =>
      expect(first.errors()).toMatch(/another process is echo-7 on this broker|another client has connected as test\/nodes\/echo-7/),
    );
    const kept = await keptCards(url);
    await eventually(() => expect(kept.get('echo-7')?.properties).toMatchObject({ 'a2a-status': 'online' }));
    await expectListed(url, ['echo-7']);
    expect(second.errors()).not.toContain('another');
  });
});

describe('settings that A2A over MQTT can’t use are reported before anything connects', () => {
  it.each([
    [['--mesh', 'mqtt://127.0.0.1:1', '--mesh-grammar', 'mqtt01'], '--namespace: "parley" is not a namespace for A2A over MQTT'],
    [['--mesh', 'nats://127.0.0.1:1', '--mesh-grammar', 'mqtt01', '--namespace', 'a/b'], 'A2A over MQTT needs an MQTT broker'],
    [['--mesh', 'mqtt://127.0.0.1:1', '--mesh-grammar', 'mqtt'], '"mqtt" is not one of sam, mqtt01'],
    [['--mesh', 'mqtt://127.0.0.1:1', '--mesh-pool', 'x'], '--mesh-pool: this setting is for A2A over MQTT'],
    [['--mesh', 'mqtt://127.0.0.1:1', '--mesh-root', 'x'], '--mesh-root: this setting is for A2A over MQTT'],
    [['--mesh', 'mqtt://127.0.0.1:1', '--mesh-grammar', 'mqtt01', '--namespace', 'a/b', '--mesh-root', 'a//b'], '--mesh-root: "a//b"'],
    [['--mesh', 'mqtt://127.0.0.1:1', '--mesh-grammar', 'mqtt01', '--namespace', 'a/b', '--mesh-pool', 'a/b'], '--mesh-pool: "a/b"'],
    [['--mesh', 'mqtt://127.0.0.1:1', '--mesh-instance', 'a b'], '--mesh-instance a b: use letters'],
  ])('%j', async (args, words) => {
    const run = launchServe({ args: ['echo', '--memory', ...args] });
    expect([(await run.ended).code, run.errors()]).toEqual([2, expect.stringContaining(words)]);
  });
});
