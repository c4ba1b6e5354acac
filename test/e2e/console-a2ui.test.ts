import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '#protocol';
import { a2uiParts } from '#protocol';
import { ask, defineAgent, surface, updateSurface } from '../../src/agents/index.ts';
import { createConsole } from '../../src/server/adapters/console.ts';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { seriousFaults } from '../support/axe.ts';
import type { Watched } from '../support/browser.ts';
import { CHROMIUM, openBrowser, openPage } from '../support/browser.ts';
import { suiteNeeding } from '../support/needs.ts';
import { startServer } from '../support/server.ts';

const FORM: readonly JsonObject[] = JSON.parse(readFileSync(new URL('../console/a2ui-form.json', import.meta.url), 'utf8'));
const PIXEL = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A form, a change of it, and the answer to its button. */
const rooms = defineAgent({
  name: 'rooms',
  description: 'Books rooms.',
  surfaces: true,
  async *run(turn) {
    if (turn.action?.name === 'count') {
      yield updateSurface({
        id: 'booking',
        data: { name: turn.action.context['who'] ?? '', guests: 3, kinds: ['sea'], wants: true, day: '2026-11-20', notes: '' },
      });
      return ask('Counted. And now?');
    }
    if (turn.action?.name === 'book') return `Booked: ${JSON.stringify(turn.action.context)}`;
    yield surface({
      id: 'booking',
      components: {
        root: {
          component: 'Column',
          children: ['title', 'hint', 'name', 'guests', 'kinds', 'wants', 'day', 'notes', 'tabs', 'picture', 'remote', 'buttons'],
        },
        title: { component: 'Text', text: 'A room for you', variant: 'h2' },
        hint: { component: 'Text', text: 'Say **who** comes. <img src="https://elsewhere.test/x.png">' },
        name: {
          ...{ component: 'TextField', label: 'Name', value: { path: '/name' } },
          checks: [{ condition: { call: 'required', args: { value: { path: '/name' } } }, message: 'A name is needed' }],
        },
        guests: { component: 'Slider', label: 'Guests', min: 1, max: 8, value: { path: '/guests' } },
        kinds: {
          ...{ component: 'ChoicePicker', label: 'View', variant: 'mutuallyExclusive', value: { path: '/kinds' } },
          options: [
            { label: 'Sea', value: 'sea' },
            { label: 'Garden', value: 'garden' },
          ],
        },
        wants: { component: 'CheckBox', label: 'Breakfast', value: { path: '/wants' } },
        day: { component: 'DateTimeInput', label: 'Day', value: { path: '/day' }, enableDate: true },
        notes: { component: 'TextField', label: 'Notes', value: { path: '/notes' }, variant: 'longText' },
        tabs: {
          component: 'Tabs',
          tabs: [
            { title: 'Here', child: 'here' },
            { title: 'There', child: 'there' },
          ],
        },
        here: { component: 'Text', text: 'Near the station', variant: 'caption' },
        there: { component: 'Text', text: 'By the sea', variant: 'caption' },
        picture: { component: 'Image', url: PIXEL, description: 'A room' },
        remote: { component: 'Image', url: 'https://elsewhere.test/room.png', description: 'The house' },
        buttons: { component: 'Row', children: ['count', 'go'] },
        count: { component: 'Button', child: 'countLabel', action: { event: { name: 'count', context: { who: { path: '/name' } } } } },
        countLabel: { component: 'Text', text: 'Count' },
        go: {
          ...{ component: 'Button', variant: 'primary', child: 'goLabel' },
          checks: [{ condition: { call: 'required', args: { value: { path: '/name' } } }, message: '' }],
          action: {
            event: {
              name: 'book',
              context: { who: { path: '/name' }, guests: { path: '/guests' }, kinds: { path: '/kinds' }, notes: { path: '/notes' } },
            },
          },
        },
        goLabel: { component: 'Text', text: 'Book' },
      },
      data: { name: '', guests: 2, kinds: ['garden'], wants: false, day: '2026-11-20', notes: '' },
    });
    return ask('Who needs the room?');
  },
});

/** The published example, and messages that nobody can draw. */
const published = defineAgent({
  name: 'published',
  description: 'Sends what others send.',
  surfaces: true,
  async *run(turn) {
    if (turn.text === 'future')
      yield { kind: 'artifact', id: 'f', parts: a2uiParts([{ version: '1.0', createSurface: { surfaceId: 'x' } }], 'v0.9.1') };
    else if (turn.action !== undefined)
      return `${turn.action.name} by ${turn.action.context['who']}, model ${JSON.stringify(turn.message.metadata?.['a2uiClientDataModel'])}`;
    else yield { kind: 'artifact', id: 'form', parts: a2uiParts(FORM, 'v0.9.1') };
    return '';
  },
});

suiteNeeding('chromium', CHROMIUM !== undefined, 'surfaces of A2UI in the console', () => {
  let server: NodeServer;
  let browser: Browser;
  let watched: Watched;
  beforeAll(async () => {
    server = await startServer({ agents: [rooms, published], console: createConsole() });
    browser = await openBrowser();
    watched = await openPage(browser, server.url);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  const say = async (text: string): Promise<void> => {
    await watched.page.getByRole('textbox', { name: /Message to/ }).fill(text);
    await watched.page.keyboard.press('Enter');
  };
  const form = () => watched.page.locator('section.surface').last();

  it('draws a form, with what the agent may not load as a link', async () => {
    const { page, picture } = watched;
    await page.goto('/console/chat/rooms');
    await say('A room, please.');
    await form().getByText('A room for you').waitFor();
    await form().getByRole('img', { name: 'A room' }).waitFor();
    await form().getByRole('link', { name: 'The house' }).waitFor();
    expect(await form().locator('img').count()).toBe(1);
    await form().getByText('Near the station').waitFor();
    await form().getByRole('tab', { name: 'There' }).click();
    await form().getByText('By the sea').waitFor();
    await picture('chat-a2ui');
    expect(await seriousFaults(page)).toEqual([]);
  });

  it('checks what is entered, and lets the agent change the form in place', async () => {
    const { page } = watched;
    await form().getByText('A name is needed').waitFor();
    expect(await form().getByRole('button', { name: 'Book' }).isDisabled()).toBe(true);
    await form().getByLabel('Name').fill('Ada');
    await form().getByText('A name is needed').waitFor({ state: 'hidden' });
    await form().getByRole('button', { name: 'Count' }).click();
    await page.getByText('Counted. And now?').waitFor();
    expect(await page.locator('section.surface').count()).toBe(1);
    await form().getByText('3', { exact: true }).waitFor();
    expect(await form().getByRole('checkbox', { name: 'Breakfast' }).isChecked()).toBe(true);
    expect(await form().getByRole('radio', { name: 'Sea' }).isChecked()).toBe(true);
  });

  it('answers with what the user entered, and shows the button as the message', async () => {
    const { page } = watched;
    await form().getByRole('radio', { name: 'Garden' }).check();
    await form().getByLabel('Notes').fill('Late');
    await form().getByRole('button', { name: 'Book' }).click();
    await page.getByText('Booked: {"who":"Ada","guests":3,"kinds":["garden"],"notes":"Late"}').waitFor();
    await page.locator('.by-user').last().getByText('Book', { exact: true }).waitFor();
    await page.reload();
    await page.getByText(/^Booked: /).waitFor();
    await page.locator('.by-user').last().getByText('book', { exact: true }).waitFor();
    await form().getByText('A room for you').waitFor();
  });

  it('draws the published example, and sends the data model that it asks for', async () => {
    const { page } = watched;
    await page.goto('/console/chat/published');
    await say('form');
    await form().getByText('B2').waitFor();
    await form().getByRole('button', { name: 'Book' }).click();
    await page.getByText(/^book by Ada, model \{"version":"v0.9.1","surfaces":\{"s1":\{"name":"Ada"/).waitFor();
  });

  it('shows an unknown version as JSON, and a form of a task without its buttons', async () => {
    const { page } = watched;
    await say('future');
    await page.locator('.by-agent').last().locator('.tree').getByText('createSurface').waitFor();
    await page.locator('.by-agent').first().getByRole('link', { name: 'Open the task' }).click();
    await page.locator('section.surface').first().getByRole('button', { name: 'Book' }).waitFor();
    expect(await page.locator('section.surface').first().getByRole('button', { name: 'Book' }).isDisabled()).toBe(true);
    expect(watched.wrongs).toEqual([]);
  });
});
