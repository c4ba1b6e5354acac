import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { delegate, joinMesh, meshView, monitorMesh } from '#mesh';
import { createUserMessage } from '#protocol';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { RunningBroker } from '../support/brokers.ts';
import { programOf, startMosquitto } from '../support/brokers.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { Child } from '../support/processes.ts';
import { startNode } from '../support/processes.ts';
import { builtIn, startServer } from '../support/server.ts';

const WORKER = fileURLToPath(new URL('./children/worker.ts', import.meta.url));
const NAMESPACE = 'test/console';
const isThere = CHROMIUM !== undefined && programOf('mosquitto') !== undefined;

suiteNeeding('chromium and mosquitto', isThere, 'the mesh page of the console', () => {
  const open: (() => Promise<unknown>)[] = [];
  let broker: RunningBroker;
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  let child: Child;
  /** Another participant on the broker, which delegates. */
  let ask: (text: string) => Promise<unknown>;

  const connect = () => connectMqtt({ url: broker.url, sessionSeconds: 0 });
  beforeAll(async () => {
    broker = await startMosquitto();
    const monitor = monitorMesh({ namespace: NAMESPACE, connect });
    const own = monitor.observe(await connect());
    const mesh = joinMesh({ broker: own, namespace: NAMESPACE, instance: 'here', announceMs: 300 });
    const registry = await mesh.discover({ agentMsMax: 5000, sweepMs: 200 });
    const caller = await mesh.call({ kind: 'gateway', id: 'node_here' });
    const address = broker.url.replace('mqtt://', 'mqtt://ann:very-secret@');
    const view = meshView({
      broker: own,
      registry,
      caller,
      monitor,
      address,
      namespace: NAMESPACE,
      counts: mesh.counts,
      instance: 'here',
      announceMs: 300,
    });
    server = await startServer({ agents: [builtIn('echo')], console: createConsole(), replyPublisher: mesh.replyPublisher, mesh: view });
    for (const { name, card, service } of server.handler.agents) await mesh.serve({ name, card, service });
    open.push(async () => {
      await server.close();
      await monitor.close();
      await mesh.close();
    });
    ask = await delegator();
    child = startNode([WORKER, broker.url, NAMESPACE]);
    await child.said('ready');
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    for (const close of open.reverse()) await close();
    await broker?.stop();
  });

  const delegator = async (): Promise<(text: string) => Promise<unknown>> => {
    const mesh = joinMesh({ broker: await connect(), namespace: NAMESPACE, announceMs: 300 });
    open.push(() => mesh.close());
    const registry = await mesh.discover();
    const caller = await mesh.call({ kind: 'agent', id: 'boss' });
    return (text) => {
      const task = { id: `t-${text}`, status: { state: 'TASK_STATE_WORKING' } } as never;
      const turn = { task, history: [createUserMessage(text)], principal: { id: 'ann', scopes: [] }, signal: AbortSignal.timeout(30_000) };
      return delegate(turn, { self: 'boss', registry, caller }).call([{ agent: 'worker', task_description: text }]);
    };
  };
  const row = (name: string) => watched.page.getByRole('listitem', { name, exact: true });

  it('shows the participants, and no password', async () => {
    const { page, picture } = watched;
    await page.goto('/console/mesh');
    await row('worker').getByText('live').waitFor();
    await row('echo').getByText('this node').waitFor();
    await page.getByRole('img', { name: /The mesh: 2 participants, 0 of them silent/ }).waitFor();
    await page.getByText(broker.url).waitFor();
    expect(await page.content()).not.toMatch(/very-secret|ann:/);
    expect(await (await fetch(`${server.url}/api/parley/v1/mesh`)).text()).not.toMatch(/very-secret|ann:/);
    await picture('mesh');
    expect(await seriousFaults(page)).toEqual([]);
  });

  it('shows running delegations of others, and how they ended', async () => {
    const { page, picture } = watched;
    await page.getByText('All calls over the broker').waitFor();
    const asked = ask('work 12000');
    const call = page.getByRole('list', { name: 'Running' }).getByRole('listitem');
    await call.getByText('boss').waitFor();
    await call.getByText('1 deep').waitFor();
    await page.getByRole('img', { name: /1 calls running/ }).waitFor();
    expect(await page.locator('.topology path.call').count()).toBe(1);
    const covered = await page.locator('.topology').evaluate((box) => {
      const path = box.querySelector<SVGPathElement>('path.call');
      const names = [...box.querySelectorAll<SVGTextElement>('text.label')].map((name) => name.getBBox());
      const points = Array.from({ length: 101 }, (_, at) => path?.getPointAtLength(((path?.getTotalLength() ?? 0) * at) / 100));
      const isIn = (p: DOMPoint, { x, y, width, height }: DOMRect) => p.x > x && p.x < x + width && p.y > y && p.y < y + height;
      return names.filter((name) => points.some((point) => point !== undefined && isIn(point, name))).length;
    });
    expect(covered).toBe(0);
    await picture('mesh-delegation');
    await asked;
    await page.getByRole('list', { name: 'Recently ended' }).getByText('completed').waitFor();
    await call.waitFor({ state: 'detached' });
  });

  it('chats with an agent of the mesh, and stores its tasks', async () => {
    const { page } = watched;
    await page.getByRole('link', { name: 'Chat with worker' }).click();
    await page.waitForURL(/\/chat\/mesh%3Aworker/);
    await page.getByRole('textbox', { name: /Message to/ }).fill('work 10');
    await page.keyboard.press('Enter');
    await page.locator('.by-agent').getByText('worked for 10 ms').waitFor();
    await page.locator('.by-agent').getByRole('link', { name: 'Open the task' }).click();
    await page.getByRole('link', { name: 'mesh:worker' }).waitFor();
    await page.goto('/console/chat');
    await page.getByRole('region', { name: 'Agents of the mesh' }).getByText('worker').first().waitFor();
    // What a gateway serves is among its agents: it is not listed again.
    await page.route('**/api/parley/v1/mesh', async (route) => {
      const response = await route.fetch();
      const { mesh } = (await response.json()) as { mesh: { peers: { name: string }[] } };
      const peers = mesh.peers.map((peer) => (peer.name === 'echo' ? { ...peer, isOurs: false, path: '/agents/echo' } : peer));
      await route.fulfill({ response, json: { mesh: { ...mesh, peers } } });
    });
    await page.reload();
    await page.getByRole('region', { name: 'Agents of the mesh' }).getByText('worker').first().waitFor();
    expect(await page.locator('.choose').getByText('echo', { exact: true }).count()).toBe(1);
    await page.unroute('**/api/parley/v1/mesh');
    await page.goto('/console/mesh/nobody');
    await page.getByText('nobody is not on the mesh now').waitFor();
    expect((await fetch(`${server.url}/api/parley/v1/mesh/agents/nobody/.well-known/agent-card.json`)).status).toBe(404);
    expect((await fetch(`${server.url}/agents/worker/.well-known/agent-card.json`)).status).toBe(404);
  });

  it('is readable in dark mode and on a phone', async () => {
    for (const [name, options] of [
      ['dark', { colorScheme: 'dark' }],
      ['phone', { viewport: { width: 375, height: 720 } }],
    ] as const) {
      const other = await openPage(browser, server.url, options);
      await other.page.goto('/console/mesh/worker');
      await other.page.getByRole('listitem', { name: 'worker', exact: true }).waitFor();
      await other.page.waitForTimeout(400);
      await other.picture(`${name}-mesh`);
      const isWide = await other.page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1);
      expect([name, isWide, await seriousFaults(other.page), other.wrongs]).toEqual([name, false, [], []]);
      await other.page.context().close();
    }
  });

  it('is readable with fifty agents', async () => {
    const many = joinMesh({ broker: await connect(), namespace: NAMESPACE, instance: 'many', announceMs: 300 });
    const [{ card, service } = {}] = server.handler.agents;
    if (card === undefined || service === undefined) throw new Error('the node has no agent');
    for (let at = 1; at <= 50; at += 1) {
      const name = `agent-with-a-name-${at}`;
      await many.serve({ name, card: { ...card, name }, service });
    }
    for (const viewport of [
      { width: 1440, height: 900 },
      { width: 375, height: 720 },
    ]) {
      const other = await openPage(browser, server.url, { viewport });
      await other.page.goto('/console/mesh');
      await other.page.getByRole('img', { name: /The mesh: 52 participants/ }).waitFor();
      await other.picture(`mesh-many-${viewport.width}`);
      const { drawn, overlaps, outside } = await other.page.locator('.topology svg').evaluate((svg) => {
        const boxes = [...svg.querySelectorAll<SVGGraphicsElement>('text.label, .node > circle:not(.beat), .hub rect')].map((each) =>
          each.getBoundingClientRect(),
        );
        const frame = svg.getBoundingClientRect();
        const meets = (a: DOMRect, b: DOMRect) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        return {
          drawn: svg.querySelectorAll('.node').length,
          overlaps: boxes.flatMap((a, at) => boxes.slice(at + 1).filter((b) => meets(a, b))).length,
          outside: boxes.filter(({ left, right, bottom }) => left < frame.left || right > frame.right || bottom > frame.bottom).length,
        };
      });
      expect({ drawn, overlaps, outside }).toEqual({ drawn: 52, overlaps: 0, outside: 0 });
      expect(await seriousFaults(other.page)).toEqual([]);
      await other.page.context().close();
    }
    await many.close();
    await watched.page.goto('/console/mesh');
    await watched.page.getByRole('img', { name: /The mesh: 2 participants/ }).waitFor();
  });

  it('shows a killed agent as silent, and then as gone', async () => {
    const { page, picture } = watched;
    await page.goto('/console/mesh');
    await row('worker').getByText('live').waitFor();
    child.process.kill('SIGKILL');
    await child.ended;
    await row('worker').getByText('silent').waitFor();
    await picture('mesh-silent');
    expect(await seriousFaults(page)).toEqual([]);
    await row('worker').waitFor({ state: 'detached' });
    await page.getByText('worker is gone').waitFor();
    await row('echo').getByText('live').waitFor();
  });

  it('shows that the broker is disconnected', async () => {
    const { page } = watched;
    await broker.kill();
    await page.getByText('the broker is disconnected').waitFor();
    await broker.start();
    await page.getByText('connected', { exact: true }).waitFor();
    expect(watched.wrongs).toEqual([]);
  });
});
