import { crc32, deflateSync } from 'node:zlib';
import { z } from 'zod';
import { defineAgent, status } from '#agents';
import type { A2AService, Agent } from '#protocol';
import { readWorkflow, workflowAgent } from '#workflows';
import { ask, surface } from '../../src/agents/index.ts';

const REPORT = `## Sales in spring

| month | orders | change |
|---|---:|---:|
| March | 1,204 | +4 % |
| April | 1,377 | +14 % |

- [x] numbers checked
- [ ] sent to Ann

\`\`\`ts
const total = orders.reduce((sum, { price }) => sum + price, 0);
\`\`\``;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Answers with a table, with files, or not at all. */
export const reports: Agent = defineAgent({
  name: 'reports',
  description: 'Writes reports about sales.',
  skills: [
    {
      id: 'ask',
      name: 'Ask about sales',
      description: 'Answers questions about sales, in words.',
      tags: ['sales'],
      examples: ['How were sales in spring?', 'And in autumn?'],
    },
    {
      id: 'report',
      name: 'Report',
      description: 'A report about a season.',
      tags: ['sales'],
      input: z.object({ season: z.enum(['spring', 'summer']), year: z.number().optional() }),
    },
  ],
  run: async function* (turn) {
    // Without a stack: pictures must not show the paths of the machine that made them.
    if (turn.text.includes('autumn')) throw Object.assign(new Error('the database has no orders of autumn'), { stack: '' });
    yield status([{ text: 'Using tool: orders' }, { data: { id: '1', tool: 'orders', title: 'Read the orders of spring' } }], {
      event: 'tool_use',
    });
    await pause(420);
    yield status([{ text: 'Tool result: 2,581 orders' }, { data: { id: '1', isError: false } }], { event: 'tool_result' });
    yield status('Compares with last year');
    await pause(180);
    if (turn.text.includes('chart')) yield { kind: 'artifact', name: 'Chart of spring', parts: FILES };
    else yield REPORT;
    await pause(90);
  },
});

/** Grey bars on white, as a PNG file. */
function chart(heights: readonly number[]): string {
  const [bar, height] = [48, 160];
  const rows = Array.from({ length: height }, (_, y) => {
    const pixels = heights.flatMap((full) =>
      Array.from({ length: bar }, (__, x) => (x > 8 && x < bar - 8 && height - y <= full ? 0x6f : 0xf7)),
    );
    return Buffer.from([0, ...pixels]);
  });
  const chunk = (type: string, data: Buffer): Buffer => {
    const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(bar * heights.length, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 0, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [signature, chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.concat(rows))), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat(parts).toString('base64');
}

const FILES = [
  { raw: chart([40, 62, 55, 90, 120, 104, 131]), mediaType: 'image/png', filename: 'spring.png' },
  { data: { total: 2581, best: { month: 'April', orders: 1377 }, regions: ['north', 'south', 'west'] } },
  {
    raw: Buffer.from('month,orders\nMarch,1204\nApril,1377\n').toString('base64'),
    mediaType: 'text/csv',
    filename: 'orders.csv',
  },
  { url: 'https://files.example/spring/orders.parquet', mediaType: 'application/vnd.apache.parquet', filename: 'orders.parquet' },
];

/** Shows a form of A2UI. */
export const rooms: Agent = defineAgent({
  name: 'rooms',
  description: 'Books rooms.',
  surfaces: true,
  async *run(turn) {
    if (turn.action !== undefined) return 'Booked.';
    yield surface({
      id: 'booking',
      components: {
        root: { component: 'Column', children: ['title', 'name', 'guests', 'view', 'breakfast', 'day', 'buttons'] },
        title: { component: 'Text', text: 'A room for you', variant: 'h2' },
        name: { component: 'TextField', label: 'Name', value: { path: '/name' } },
        guests: { component: 'Slider', label: 'Guests', min: 1, max: 8, value: { path: '/guests' } },
        view: {
          ...{ component: 'ChoicePicker', label: 'View', variant: 'mutuallyExclusive', value: { path: '/view' } },
          options: [
            { label: 'Sea', value: 'sea' },
            { label: 'Garden', value: 'garden' },
          ],
        },
        breakfast: { component: 'CheckBox', label: 'Breakfast', value: { path: '/breakfast' } },
        day: { component: 'DateTimeInput', label: 'Day', value: { path: '/day' }, enableDate: true },
        buttons: { component: 'Row', children: ['go'] },
        go: { component: 'Button', variant: 'primary', child: 'goLabel', action: { event: { name: 'book', context: {} } } },
        goLabel: { component: 'Text', text: 'Book' },
      },
      data: { name: 'Ann', guests: 2, view: ['garden'], breakfast: true, day: '2026-11-20' },
    });
    return ask('Who needs the room?');
  },
});

export const sources: Agent = defineAgent({
  name: 'sources',
  description: 'Finds sources.',
  run: async function* (turn) {
    yield status('Opens the archive of 2026');
    await pause(240);
    yield `Three sources about ${turn.text}.`;
  },
});

export const writer: Agent = defineAgent({
  name: 'writer',
  description: 'Writes articles.',
  run: (turn) => `## An article\n\n${turn.text}`,
});

/** A workflow of the two. */
export function press(serviceOf: (name: string) => A2AService | undefined): Agent {
  const workflow = readWorkflow({
    ...{ name: 'press', description: 'Finds sources and writes an article.' },
    steps: { research: { agent: 'sources', say: '{{input.text}}' }, article: { agent: 'writer' } },
    result: '{{article}}',
  });
  return workflowAgent(workflow, { findAgent: serviceOf });
}
