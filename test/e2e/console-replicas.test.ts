import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { Cluster } from '../faults/cluster.ts';
import { NODES, startCluster } from '../faults/cluster.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { hasPostgres, postgresFolder, startPostgres } from '../support/postgres.ts';
import { scratchFolder } from '../support/scratch.ts';
import { builtIn, startServer } from '../support/server.ts';

suiteNeeding('chromium', CHROMIUM !== undefined && hasPostgres, 'the page of the replicas', () => {
  const [folder, data] = [postgresFolder(), scratchFolder()];
  let postgres: PostgresServer;
  let cluster: Cluster;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    postgres = await startPostgres(folder);
    cluster = await startCluster(postgres, { database: 'console', data });
    await cluster.allReady();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await cluster?.stop();
    await postgres?.stop();
  });

  const cellsOf = async (): Promise<readonly number[]> => {
    const texts = await watched.page.locator('.replica-table tbody tr td:nth-child(2)').allTextContents();
    return texts.map(Number);
  };

  it('shows cells, leases, forwards and takeovers of every node', { timeout: 300_000 }, async () => {
    const { url } = await cluster.serving();
    watched = await openPage(browser, url);
    const { page, picture } = watched;
    await page.goto('/console/chat');
    await page.getByRole('link', { name: 'Replicas' }).click();
    await expect.poll(() => page.locator('.replica-table tbody tr').count()).toBe(NODES);
    await expect.poll(async () => (await cellsOf()).reduce((all, cells) => all + cells, 0)).toBe(128);
    for (const node of cluster.nodes) await page.getByRole('rowheader', { name: new URL(node.url).host }).waitFor();
    await page.getByText('answers you').waitFor();
    // Every node answers: no figure is unknown.
    await expect.poll(async () => (await page.locator('.replica-table tbody').textContent())?.includes('?')).toBe(false);
    await expect.poll(() => page.locator('.cells i:not(.free)').count()).toBe(128);
    await page.getByRole('img', { name: /without an owner 0/ }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await seriousFaults(page)).toEqual([]);
      await picture(`replicas-wide-${colorScheme}`);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await picture('replicas-phone-dark');
    expect(watched.wrongs).toEqual([]);
  });

  it('shows live that a node is gone, and who took its cells over', { timeout: 300_000 }, async () => {
    const { page, picture } = watched;
    await page.setViewportSize({ width: 1440, height: 900 });
    const here = await cluster.serving();
    const other = cluster.nodes.find(({ url }) => url !== here.url && url !== new URL(page.url()).origin);
    if (other === undefined) throw new Error('there is one node only');
    const host = new URL(other.url).host;
    other.child.process.kill('SIGKILL');
    await page.getByRole('log').getByText(`${host} is gone`).waitFor({ timeout: 60_000 });
    await expect.poll(async () => (await cellsOf()).reduce((all, cells) => all + cells, 0)).toBe(128);
    // The supervisor starts it again, under a new number.
    await page.getByRole('log').getByText(`${host} has joined`).waitFor({ timeout: 60_000 });
    await picture('replicas-changes');
  });

  it('tells a node that is alone how to get others, and keeps the page out of its menu', async () => {
    const server = await startServer({ agents: [builtIn('echo')], console: createConsole() });
    const { page, wrongs } = await openPage(browser, server.url);
    await page.goto('/console/replicas');
    await page.getByText('This node has a store of its own').waitFor();
    expect(await page.getByRole('navigation').getByRole('link', { name: 'Replicas' }).count()).toBe(0);
    expect([await seriousFaults(page), wrongs]).toEqual([[], []]);
    await server.close();
  });
});
