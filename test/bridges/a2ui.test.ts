import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, defineAgent, surface, updateSurface } from '#agents';
import type { JsonObject, Task } from '#protocol';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { jsonRequest, sendBody, startServer } from '../support/server.ts';
import { CLIENTS, run, say } from './ag-ui/front-end.ts';

const booking = defineAgent({
  name: 'booking',
  description: 'Books rooms.',
  surfaces: true,
  async *run(turn) {
    if (turn.action !== undefined) {
      yield updateSurface({ id: 'rooms', data: { name: String(turn.action.context['who']) } });
      return `${turn.action.name} for ${turn.action.context['who']} on ${turn.action.surfaceId}`;
    }
    yield surface({
      id: 'rooms',
      components: {
        root: { component: 'Card', child: 'all' },
        all: { component: 'Column', children: ['title', 'name', 'kind', 'list', 'loud', 'go'], justify: 'start' },
        title: { component: 'Text', text: 'Rooms', variant: 'h2' },
        name: { component: 'TextField', label: 'Name', value: { path: '/name' }, variant: 'shortText' },
        kind: {
          component: 'ChoicePicker',
          label: 'Size',
          variant: 'mutuallyExclusive',
          options: [
            { label: 'Small', value: 's' },
            { label: 'Large', value: 'l' },
          ],
          value: { path: '/size' },
        },
        list: { component: 'List', children: { componentId: 'row', path: '/rooms' } },
        row: { component: 'Text', text: { path: 'title' }, variant: 'caption' },
        loud: { component: 'CheckBox', label: 'With a piano', value: { path: '/piano' } },
        go: {
          component: 'Button',
          child: 'go-label',
          variant: 'primary',
          action: { event: { name: 'book', context: { who: { path: '/name' } } } },
        },
        'go-label': { component: 'Text', text: 'Book' },
      },
      data: { name: 'Ada', size: ['l'], piano: true, rooms: [{ title: 'A1' }, { title: 'B2' }] },
    });
    return ask('Which room?');
  },
});

const URI = 'https://a2ui.org/a2a-extension/a2ui/';
let server: NodeServer;
beforeAll(async () => {
  server = await startServer({ agents: [booking] });
});
afterAll(() => server.close());

async function sent(more: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<Task> {
  const body = sendBody('hi') as { message: object };
  const response = await fetch(jsonRequest(`${server.url}/message:send`, { message: { ...body.message, ...more } }, headers));
  return ((await response.json()) as { task: Task }).task;
}
const partsOf = (task: Task): readonly JsonObject[] =>
  (task.artifacts ?? []).flatMap(({ parts }) => parts.map((part): JsonObject => ({ ...part })));

describe('an agent with surfaces', () => {
  it('declares the extension in its card', async () => {
    const card = (await (await fetch(`${server.url}/.well-known/agent-card.json`)).json()) as {
      capabilities: { extensions: { uri: string }[] };
    };
    expect(card.capabilities.extensions.map(({ uri }) => uri)).toEqual([`${URI}v0.9.1`, `${URI}v0.9`, `${URI}v0.8`]);
  });

  it('writes 0.9.1 for a client that activates it, by header, message or capabilities', async () => {
    for (const task of [
      await sent({}, { 'A2A-Extensions': `${URI}v0.9.1` }),
      await sent({ extensions: [`${URI}v0.9.1`, `${URI}v0.8`] }),
      await sent({ metadata: { a2uiClientCapabilities: { 'v0.9.1': { supportedCatalogIds: [] } } } }),
    ]) {
      const [part] = partsOf(task);
      expect(part).toMatchObject({ mediaType: 'application/a2ui+json', metadata: { mimeType: 'application/a2ui+json' } });
      expect(part?.['data']).toMatchObject([
        {
          version: 'v0.9.1',
          createSurface: { surfaceId: 'rooms', catalogId: 'https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json' },
        },
        {
          version: 'v0.9.1',
          updateComponents: { surfaceId: 'rooms', components: expect.arrayContaining([{ id: 'root', component: 'Card', child: 'all' }]) },
        },
        { version: 'v0.9.1', updateDataModel: { surfaceId: 'rooms', path: '/', value: { name: 'Ada' } } },
      ]);
    }
  });

  it('writes 0.8 on request', async () => {
    const task = await sent({}, { 'X-A2A-Extensions': `${URI}v0.8` });
    expect(partsOf(task).map(({ mediaType }) => mediaType)).toEqual(Array.from({ length: 3 }, () => 'application/json+a2ui'));
    const [components, data, begin] = partsOf(task).map((part) => part['data'] as JsonObject);
    const { components: list } = Object(components)['surfaceUpdate'] as { components: { id: string; component: object }[] };
    const made = new Map(list.map((each) => [each.id, each.component]));
    expect(made.get('title')).toEqual({ Text: { text: { literalString: 'Rooms' }, usageHint: 'h2' } });
    expect(made.get('all')).toEqual({
      Column: { children: { explicitList: ['title', 'name', 'kind', 'list', 'loud', 'go'] }, distribution: 'start' },
    });
    expect(made.get('list')).toEqual({ List: { children: { template: { componentId: 'row', dataBinding: '/rooms' } } } });
    expect(made.get('name')).toEqual({
      TextField: { label: { literalString: 'Name' }, text: { path: '/name' }, textFieldType: 'shortText' },
    });
    expect(made.get('kind')).toMatchObject({
      MultipleChoice: { selections: { path: '/size' }, maxAllowedSelections: 1, options: [{ label: { literalString: 'Small' } }, {}] },
    });
    expect(made.get('go')).toEqual({
      Button: { child: 'go-label', primary: true, action: { name: 'book', context: [{ key: 'who', value: { path: '/name' } }] } },
    });
    expect(data).toMatchObject({
      dataModelUpdate: {
        contents: expect.arrayContaining([
          { key: 'name', valueString: 'Ada' },
          { key: 'piano', valueBoolean: true },
        ]),
      },
    });
    expect(begin).toEqual({ beginRendering: { surfaceId: 'rooms', root: 'root' } });
  });

  it('writes text for every other client', async () => {
    const [part] = partsOf(await sent());
    expect(part?.['text']).toBe('## Rooms\nName: Ada\nSize:\n  ( ) Small\n  (x) Large\nA1\nB2\n[x] With a piano\n[Book]');
  });

  it('gets actions of both generations as typed values', async () => {
    for (const [version, message] of [
      ['v0.9.1', [{ version: 'v0.9.1', action: { name: 'book', surfaceId: 'rooms', sourceComponentId: 'go', context: { who: 'Eve' } } }]],
      ['v0.8', { userAction: { name: 'book', surfaceId: 'rooms', sourceComponentId: 'go', context: { who: 'Eve' } } }],
    ] as const) {
      const waiting = await sent({ extensions: [`${URI}${version}`] });
      const parts = [{ data: message, metadata: { mimeType: version === 'v0.8' ? 'application/json+a2ui' : 'application/a2ui+json' } }];
      const done = await sent({ parts, taskId: waiting.id, contextId: waiting.contextId, extensions: [`${URI}${version}`] });
      expect(JSON.stringify(done.artifacts)).toContain('book for Eve on rooms');
    }
  });
});

describe.each(CLIENTS)('A2UI through AG-UI, with @ag-ui/client %s', (version, make) => {
  it('is an activity that CopilotKit draws, and a click comes back', async () => {
    const agent = make(`${server.url}/ag-ui`, `surface-${version}`);
    say(agent, 'hi');
    const { events } = await run(agent, { forwardedProps: { a2a: { questions: 'text' } } });
    const shown = events.find(({ activityType }) => activityType === 'a2ui-surface');
    expect(shown).toMatchObject({
      ...{ messageId: 'a2ui-surface-rooms', replace: true },
      content: {
        a2ui_operations: [{ version: 'v0.9', createSurface: { surfaceId: 'rooms' } }, { updateComponents: {} }, { updateDataModel: {} }],
      },
    });
    const userAction = { name: 'book', surfaceId: 'rooms', sourceComponentId: 'go', context: { who: 'Bob' } };
    const clicked = await run(agent, { forwardedProps: { a2uiAction: { userAction }, a2a: { questions: 'text' } } });
    expect(clicked.said.at(-1)).toBe('book for Bob on rooms');
  });
});
