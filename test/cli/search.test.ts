import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { AdminSearchPage } from '#protocol';
import { eventually } from '../support/eventually.ts';
import { filesWith } from '../support/find-in-files.ts';
import type { Parley } from '../support/parley.ts';
import { parleyServe } from '../support/parley.ts';
import { scratchFolder } from '../support/scratch.ts';
import { jsonOf, run } from './run.ts';

/** `parley task search` on a real node with real files. */
const folder = scratchFolder();
const data = join(folder, 'data');
const env = { PARLEY_AUTH_FOLDER: join(folder, 'auth') };
let node: Parley | undefined;
afterAll(() => node?.stop());

const serve = (): Promise<Parley> => parleyServe({ args: ['echo', '--data', data], env });
const search = (url: string, ...words: string[]) => run(['task', 'search', ...words, '--url', url], { env });

async function send(url: string, text: string): Promise<string> {
  const response = await fetch(`${url}/message:send`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] } }),
  });
  return ((await response.json()) as { task: { id: string } }).task.id;
}

it('finds after a SIGKILL what was sent before it, and nothing after an erase', async () => {
  const first = await serve();
  const id = await send(first.url, 'qzelephant in the room');
  // At once: the index has not been filled yet.
  await first.kill();

  const second = await serve();
  node = second;
  const later = await send(second.url, 'another qzelephant');
  await eventually(async () => {
    const { tasks } = jsonOf<AdminSearchPage>(await search(second.url, 'qzelephant', '--json'));
    expect(tasks.map((task) => task.id)).toEqual([later, id]);
  });
  expect(await search(second.url, 'qzeleph*', 'room')).toMatchObject({
    code: 0,
    out: expect.stringContaining('qzelephant in the room'),
  });
  expect(await search(second.url, 'qzelephant', '--status', 'failed')).toMatchObject({ code: 0, out: 'No task has these words.\n' });
  expect(await search(second.url)).toMatchObject({ code: 2 });
  expect(await search(second.url, '***')).toMatchObject({ code: 1, err: expect.stringContaining('needs a word') });
  expect(filesWith(data, 'qzelephant')).not.toEqual([]);

  expect(await run(['erase', '--principal', 'local', '--data', data, '--yes'], { env })).toMatchObject({ code: 0 });
  expect(jsonOf<AdminSearchPage>(await search(second.url, 'qzelephant', '--json'))).toEqual({ tasks: [], nextPageToken: '' });
  expect(filesWith(data, 'qzelephant')).toEqual([]);
});
