import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createKey, revokeKey } from '../../src/server/adapters/api-keys-file.ts';
import { eventually } from '../support/eventually.ts';
import { expectFigure } from '../support/figures.ts';
import { parleyServe } from '../support/parley.ts';
import { sendBody } from '../support/server.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-revoked-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SCOPES = ['tasks:*'];

function headersOf(secret: string): Record<string, string> {
  return { 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` };
}

/** Reads a stream in the background. `ended` resolves with the text when the server ends it normally. */
async function streamOf(
  url: string,
  secret: string,
): Promise<{ readonly ended: Promise<string>; readonly isOpen: () => boolean; leave(): void }> {
  const leaving = new AbortController();
  const response = await fetch(`${url}/message:stream`, {
    method: 'POST',
    headers: headersOf(secret),
    body: JSON.stringify(sendBody('chunks=1000 delay=100')),
    signal: leaving.signal,
  });
  expect(response.status).toBe(200);
  let isOpen = true;
  const ended = response.text().finally(() => {
    isOpen = false;
  });
  ended.catch(() => undefined); // left at the end of the test
  return { ended, isOpen: () => isOpen, leave: () => leaving.abort() };
}

describe('a revoked or expired key', () => {
  it('loses its open streams; other keys keep theirs, and the task continues', async () => {
    const auth = join(folder, 'auth');
    const [ann, bob] = ['ann', 'bob'].map((name) => createKey(auth, { name, scopes: SCOPES }));
    const server = await parleyServe({ args: ['script', '--memory', '--require-auth', '--auth-folder', auth] });
    const isAccepted = async (key: string): Promise<boolean> =>
      (await fetch(`${server.url}/tasks`, { headers: headersOf(key) })).status === 200;
    const brief = createKey(auth, { name: 'brief', scopes: SCOPES, expiresAt: new Date(Date.now() + 15_000).toISOString() });
    await eventually(() => isAccepted(brief.secret)); // nodes read new keys every second
    const [revoked, kept, expiring] = await Promise.all(
      [ann, bob, brief].map(async (key) => await streamOf(server.url, key?.secret ?? '')),
    );
    expect(revoked?.isOpen()).toBe(true);
    const began = performance.now();
    revokeKey(auth, ann?.key.id ?? '');
    const text = (await revoked?.ended) ?? '';
    expectFigure(performance.now() - began, { below: 6000 });
    expect(text.trimEnd()).toMatch(/: the credential is not valid any more$/);
    expect((await fetch(`${server.url}/tasks`, { headers: headersOf(ann?.secret ?? '') })).status).toBe(401);
    expect(await expiring?.ended).toContain('not valid any more');
    expect(kept?.isOpen()).toBe(true);

    const again = createKey(auth, { name: 'ann', scopes: SCOPES });
    await eventually(() => isAccepted(again.secret));
    const { tasks } = (await (await fetch(`${server.url}/tasks`, { headers: headersOf(again.secret) })).json()) as {
      readonly tasks: readonly { readonly status: { readonly state: string } }[];
    };
    expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_WORKING']);
    kept?.leave();
    await server.kill();
  });
});
