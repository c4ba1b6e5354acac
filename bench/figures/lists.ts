import { startParley } from '../children.ts';
import { within } from '../deadline.ts';
import { indexedFolder } from '../indexed.ts';
import type { Caller } from '../load.ts';
import { openCaller } from '../load.ts';
import { percentile } from '../measure.ts';
import type { Figure, Sizes } from './figure.ts';
import { count } from './figure.ts';

const PAGE = 50;
const FAR = 1000;
const ASKED = 300;
const FILL_MS_MAX = 1_200_000;
const WALK_MS_MAX = 60_000;

interface Listed {
  readonly nextPageToken: string;
  readonly tasks: readonly unknown[];
  readonly totalSize: number;
}

/**
 * Measures the first and the thousandth page of a list over HTTP, as a client requests it, right after a start. The search index of the
 * store is complete, as that of a node that is started again: without it the node would make the index of a million tasks meanwhile.
 */
export async function benchLists({ listed }: Sizes): Promise<readonly Figure[]> {
  const folder = await within(FILL_MS_MAX, `writing and indexing ${listed} tasks`, indexedFolder(listed));
  const server = await startParley('echo', ['--data', folder]);
  const caller = await openCaller(server.url);
  const far = await within(WALK_MS_MAX, `walking to page ${FAR}`, tokenOf(caller, FAR));
  const [first, last]: [number[], number[]] = [[], []];
  const inTurn = async (): Promise<void> => {
    for (let round = 0; round < ASKED; round += 1) {
      first.push((await pageOf(caller, '')).ms);
      last.push((await pageOf(caller, far)).ms);
    }
  };
  await within(WALK_MS_MAX, 'requesting pages', inTurn());
  caller.close();
  await server.stop();
  return [
    {
      what: `a page of ${PAGE} among ${count(listed)} tasks right after a start, first and ${FAR}th, p99`,
      value: `${percentile(first, 0.99).toFixed(1)} and ${percentile(last, 0.99).toFixed(1)} ms`,
      beside: '',
      goal: '≤ 5 ms',
    },
    {
      what: '1000th page divided by the first, medians',
      value: `${(percentile(last, 0.5) / percentile(first, 0.5)).toFixed(2)} ×`,
      beside: `${percentile(first, 0.5).toFixed(2)} and ${percentile(last, 0.5).toFixed(2)} ms`,
      goal: '≤ 1.5 ×',
    },
  ];
}

async function tokenOf(caller: Caller, page: number): Promise<string> {
  let token = '';
  for (let at = 1; at < page; at += 1) {
    const { listed } = await pageOf(caller, token);
    token = listed.nextPageToken;
    if (token === '') throw new Error(`the list ends at page ${at}`);
  }
  return token;
}

async function pageOf(caller: Caller, token: string): Promise<{ readonly ms: number; readonly listed: Listed }> {
  const { ms, body } = await caller.get(`/tasks?pageSize=${PAGE}${token === '' ? '' : `&pageToken=${encodeURIComponent(token)}`}`);
  const listed = JSON.parse(body) as Listed;
  if (listed.tasks?.length !== PAGE) throw new Error(`not a page of ${PAGE}: ${body.slice(0, 500)}`);
  return { ms, listed };
}
