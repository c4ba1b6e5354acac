import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineAgent, status } from '#agents';
import { readWorkflow, workflowAgent } from '#workflows';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import { startServer } from '../support/server.ts';

const finder = defineAgent({
  name: 'finder',
  description: 'Finds sources.',
  run: async function* (turn) {
    yield status('Opens the archive');
    yield `Three sources about ${turn.text}`;
  },
});
const writer = defineAgent({ name: 'writer', description: 'Writes.', run: (turn) => `A report: ${turn.text}` });
/** Tells itself what the agents say that it calls. */
const editor = defineAgent({
  name: 'editor',
  description: 'Lets others work.',
  run: async function* () {
    yield status([{ text: 'Asks the critic' }, { data: { type: 'tool_use', id: '1', agent: 'critic', title: 'Judge the draft' } }]);
    yield status('The second part is long', { agent: 'critic' });
    yield status('The end is good', { agent: 'critic' });
    yield status([{ text: 'The critic is done' }, { data: { type: 'tool_result', id: '1', agent: 'critic', isError: false } }]);
    yield 'Published.';
  },
});

suiteNeeding('chromium', CHROMIUM !== undefined, 'messages of delegated agents in the console', () => {
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    const workflow = readWorkflow({
      ...{ name: 'press', description: 'Finds and writes.' },
      steps: { look: { agent: 'finder', say: '{{input.text}}' }, write: { agent: 'writer' } },
      result: '{{write}}',
    });
    const press = workflowAgent(workflow, { findAgent: (name) => server.handler.agents.find((agent) => agent.name === name)?.service });
    server = await startServer({ agents: [press, finder, writer, editor], console: createConsole() });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  const answer = (): Locator => watched.page.locator('.by-agent').last();
  const say = async (agent: string, text: string): Promise<void> => {
    await watched.page.goto(`/console/chat/${agent}`);
    await watched.page.getByRole('textbox', { name: /Message to/ }).fill(text);
    await watched.page.keyboard.press('Enter');
    await answer().getByText('completed').waitFor();
  };

  it('folds the agents of a workflow under their names, with what their tasks said', async () => {
    const { page, picture } = watched;
    await say('press', 'bees');
    await answer().getByText('A report: Three sources about bees', { exact: true }).waitFor();
    const folds = answer().locator('.delegation');
    expect(await folds.count()).toBe(2);
    expect(await answer().getByText('Opens the archive').count()).toBe(0);
    // The result is a text for people and data for programs. The chat shows it once, and the last step in words.
    expect(await answer().locator('.data').count()).toBe(0);
    await answer().locator('.step-now').getByText('press: done').waitFor();
    await folds.first().locator('> summary').click();
    await folds.first().getByText('Opens the archive').waitFor();
    await picture('chat-delegated');
    expect(await seriousFaults(page)).toEqual([]);
    await folds.first().getByRole('link', { name: 'Open its task' }).click();
    await page.getByRole('heading', { level: 1, name: 'bees' }).waitFor();
    await page.getByRole('link', { name: 'finder', exact: true }).first().waitFor();
  });

  it('folds what an agent tells of others, also after a reload', async () => {
    const { page } = watched;
    await say('editor', 'go');
    for (const round of ['live', 'restored']) {
      const fold = answer().locator('.delegation');
      await fold.getByText('2 messages').waitFor();
      expect([round, await fold.getByText('The end is good').isVisible()]).toEqual([round, false]);
      await fold.locator('> summary').click();
      await fold.getByText('The end is good').waitFor();
      await page.reload();
      await answer().getByText('Published.').waitFor();
    }
  });

  it('folds them in the timeline and in the history of the task', async () => {
    const { page, picture } = watched;
    await answer().getByRole('link', { name: 'Open the task' }).click();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText('critic: Judge the draft').waitFor();
    expect(await timeline.getByText('The end is good').count()).toBe(0);
    await timeline.getByRole('button', { name: 'Steps of critic: Judge the draft' }).click();
    await timeline.getByText('The end is good').waitFor();
    const history = page.locator('.history-fold');
    await history.getByText('4 messages').waitFor();
    await history.locator('> summary').click();
    await history.getByText('The second part is long').waitFor();
    await picture('task-delegated');
    expect([await seriousFaults(page), watched.wrongs]).toEqual([[], []]);
  });
});
