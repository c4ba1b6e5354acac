import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AuditRecord } from '#protocol';
import { openAudit, verifyAudit } from '../../src/server/adapters/audit-file.ts';
import { parley } from '../cli/run.ts';
import { keysOf } from '../support/key-ring.ts';
import { scratchFolder } from '../support/scratch.ts';
import { handlerOf, jsonRequest, sendBody } from '../support/server.ts';

const folder = scratchFolder();
let count = 0;
const freshFile = (): string => {
  count += 1;
  return join(folder, `audit-${count}.jsonl`);
};

/** A write follows every fifth record, so that some records share a hash and some have their own. */
async function written(file: string, records: number): Promise<readonly string[]> {
  const log = await openAudit(file);
  for (let at = 0; at < records; at += 1) {
    log.append({ principal: 'ann', action: 'send', object: `task-${at}`, decision: 'allowed' });
    if (at % 5 === 4) await log.read({});
  }
  await log.close();
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

describe('the audit log', () => {
  it('continues its hash chain over restarts and is readable by its owner only', async () => {
    const file = freshFile();
    await written(file, 3);
    const lines = await written(file, 2);
    expect(lines.map((line) => (JSON.parse(line) as AuditRecord).seq)).toEqual([1, 2, 3, 4, 5]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await verifyAudit([file])).toEqual({ records: 5, open: 0, head: (JSON.parse(lines[4] ?? '') as AuditRecord).hash });
  });

  it('verification detects every change', async () => {
    const file = freshFile();
    const lines = await written(file, 20);
    const broken: readonly (readonly [string, readonly string[]])[] = [
      ['a letter', lines.map((line, at) => (at === 7 ? line.replace('"ann"', '"bob"') : line))],
      ['a time', lines.map((line, at) => (at === 7 ? line.replace('"time":"2', '"time":"3') : line))],
      ['one less', lines.filter((_, at) => at !== 7)],
      ['the first gone', lines.slice(1)],
      ['one twice', lines.flatMap((line, at) => (at === 7 ? [line, line] : [line]))],
      ['two exchanged', lines.map((line, at) => (at === 7 ? (lines[8] ?? '') : at === 8 ? (lines[7] ?? '') : line))],
      ['another hash', lines.map((line, at) => (at === 9 ? line.replace(/"hash":"../, '"hash":"zz') : line))],
      ['a hash less', lines.map((line, at) => (at === 9 ? line.replace(/,"hash":"\w+"/, '') : line))],
      ['a member more', lines.map((line, at) => (at === 7 ? line.replace('"decision"', '"x":1,"decision"') : line))],
      ['nonsense', lines.map((line, at) => (at === 7 ? 'nonsense' : line))],
      ['an empty line', lines.map((line, at) => (at === 7 ? '' : line))],
    ];
    for (const [name, changed] of broken) {
      writeFileSync(file, `${changed.join('\n')}\n`);
      const { problem, records } = await verifyAudit([file]);
      expect([name, problem === undefined, records < 15]).toEqual([name, false, true]);
    }
  });

  it('removes an incomplete record after a crash, and records that', async () => {
    const file = freshFile();
    await written(file, 4);
    appendFileSync(file, '{"seq":5,"time":"2026-');
    const lines = await written(file, 1);
    expect(lines).toHaveLength(6);
    expect(JSON.parse(lines[4] ?? '')).toMatchObject({ action: 'audit.cut', reason: '22 bytes of an unfinished record were removed' });
    expect((await verifyAudit([file])).problem).toBeUndefined();
    const loose = freshFile();
    const whole = await written(loose, 10);
    // The first lines of a write that a crash cut off between two records.
    writeFileSync(loose, `${whole.slice(0, 8).join('\n')}\n`);
    expect(await verifyAudit([loose])).toMatchObject({ records: 8, open: 3 });
    await written(loose, 1);
    expect(await verifyAudit([loose])).toMatchObject({ records: 9, open: 0 });
    const torn = freshFile();
    writeFileSync(torn, '{"seq":1');
    await written(torn, 1);
    expect(await verifyAudit([torn])).toMatchObject({ records: 2 });
  });

  it('finds the end of the chain across read blocks of any size', async () => {
    const file = freshFile();
    const log = await openAudit(file);
    for (let at = 0; at < 2000; at += 1) log.append({ principal: 'ä'.repeat(300), action: 'send', decision: 'allowed' });
    await log.close();
    await written(file, 1);
    expect(await verifyAudit([file])).toMatchObject({ records: 2001 });
  });
});

describe('audit records', () => {
  const keys = keysOf([
    { name: 'ann', tenant: 'acme' },
    { name: 'root', scopes: ['*'] },
    { name: 'reader', scopes: ['tasks:read'] },
  ]);
  const PASSWORD = 'hunter2-hunter2-hunter2-hunter2-hunter2';

  it('contain actor, action, object and refusals with their reason, but no message content', async () => {
    const file = freshFile();
    const handler = handlerOf({ auth: [keys.auth], audit: await openAudit(file) });
    const call = (who: number | string | undefined, path: string, body?: unknown): Promise<Response> => {
      const key = typeof who === 'number' ? keys.key(who) : who;
      const headers: Record<string, string> = key === undefined ? {} : { Authorization: `Bearer ${key}` };
      return handler.fetch(
        body === undefined ? new Request(`http://localhost${path}`, { headers }) : jsonRequest(`http://localhost${path}`, body, headers),
      );
    };
    const { task } = (await (await call(0, '/message:send', sendBody(`the password is ${PASSWORD}`))).json()) as { task: { id: string } };
    const refusals = [await call(undefined, '/tasks'), await call(PASSWORD, '/tasks'), await call(0, '/api/parley/v1/tasks')];
    await call(2, '/message:send', sendBody(PASSWORD));
    await call(0, `/tasks/${task.id}`);
    const page = (await (await call(1, '/api/parley/v1/audit?limit=50')).json()) as { records: AuditRecord[]; last: number };
    await handler.close();
    const numbers = refusals.map((each) => each.headers.get('x-request-id'));
    expect(page.records.map(({ seq, time: _, hash: __, ...record }) => [seq, record])).toEqual([
      [
        1,
        {
          principal: 'key:ann',
          tenant: 'acme',
          action: 'send',
          object: task.id,
          agent: 'script',
          decision: 'allowed',
          requestId: expect.any(String),
        },
      ],
      [
        2,
        {
          principal: 'key:ann',
          tenant: 'acme',
          action: 'task.end',
          object: task.id,
          agent: 'script',
          decision: 'allowed',
          reason: 'TASK_STATE_COMPLETED',
        },
      ],
      [3, { principal: '', action: 'http.GET', object: '/tasks', decision: 'denied', reason: 'no credential', requestId: numbers[0] }],
      [
        4,
        { principal: '', action: 'http.GET', object: '/tasks', decision: 'denied', reason: 'an unknown credential', requestId: numbers[1] },
      ],
      [
        5,
        {
          principal: 'key:ann',
          tenant: 'acme',
          action: 'http.GET',
          object: '/api/parley/v1/tasks',
          decision: 'denied',
          reason: 'this needs the scope admin',
          requestId: numbers[2],
        },
      ],
      [
        6,
        {
          principal: 'key:reader',
          action: 'send',
          agent: 'script',
          decision: 'denied',
          reason: 'this needs the scope tasks:write',
          requestId: expect.any(String),
        },
      ],
    ]);
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('"action":"admin.GET","object":"/api/parley/v1/audit"');
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('kkkk');
    expect(await verifyAudit([file])).toMatchObject({ records: 7 });
  });
});

describe('parley audit', () => {
  it('shows and verifies', async () => {
    const file = freshFile();
    const lines = await written(file, 30);
    const tail = parley(['audit', 'tail', '--file', file, '-n', '2']);
    expect(tail.code).toBe(0);
    expect(tail.out).toMatch(/^29 {2}\S+ {2}allowed {2}ann {2}send task-28\n30 {2}\S+ {2}allowed {2}ann {2}send task-29\n$/);
    expect(parley(['audit', 'tail', '--file', file, '-n', '1', '--json']).out).toBe(`${lines[29]}\n`);
    const { hash = '' } = JSON.parse(lines[29] ?? '') as AuditRecord;
    expect(parley(['audit', 'verify', '--file', file]).out).toBe(`30 records, all unchanged. Head: ${hash}\n`);
    expect(JSON.parse(parley(['audit', 'verify', '--file', file, '--json', '--head', hash]).out)).toEqual({
      records: 30,
      head: hash,
      ok: true,
    });
    writeFileSync(file, `${lines.slice(0, 20).join('\n')}\n`);
    const cut = parley(['audit', 'verify', '--file', file, '--head', hash]);
    expect([cut.code, cut.err]).toEqual([1, expect.stringContaining('none of them has the hash')]);
    writeFileSync(file, `${lines.join('\n').replace('task-9"', 'task-8"')}\n`);
    const changed = parley(['audit', 'verify', '--file', file]);
    expect([changed.code, changed.err]).toEqual([
      1,
      expect.stringContaining(`${file}, line 10: it, or one of the 5 before it, was changed`),
    ]);
  });

  it('reports an emptied log and an incomplete last line', async () => {
    const file = freshFile();
    const lines = await written(file, 3);
    writeFileSync(file, '');
    const emptied = parley(['audit', 'verify', '--file', file]);
    expect([emptied.code, emptied.out, emptied.err]).toEqual([1, '', expect.stringContaining('there is no record in it')]);
    expect(emptied.err).toContain('emptied');
    const json = parley(['audit', 'verify', '--file', file, '--json']);
    expect([json.code, JSON.parse(json.out)]).toMatchObject([1, { records: 0, ok: false, problem: { kind: 'empty' } }]);
    const whole = `${lines.join('\n')}\n`;
    for (const end of [1, 40, (lines[2]?.length ?? 0) - 1]) {
      writeFileSync(file, whole.slice(0, -end));
      const cut = parley(['audit', 'verify', '--file', file]);
      expect([cut.code, cut.err]).toEqual([
        1,
        expect.stringContaining(`${file}, line 3: it has no end\nCode: A2ACLI_ERR_INTERNAL\nHint: the 2 records before it are unchanged`),
      ]);
      expect(cut.err).toContain('audit.cut');
    }
    // The node records that it removed the line, which is not damage.
    await written(file, 1);
    expect(parley(['audit', 'verify', '--file', file])).toMatchObject({ code: 0, out: expect.stringMatching(/^4 records, all unchanged/) });
    expect(parley(['audit', 'tail', '--file', file]).out).toContain('audit.cut');
  });

  it('prints no control characters', async () => {
    const file = freshFile();
    const log = await openAudit(file);
    log.append({ principal: '', action: 'http.GET', object: '/\u001b[2J\u202e', decision: 'denied' });
    await log.close();
    expect(parley(['audit', 'tail', '--file', file]).out).toContain('/?[2J?');
  });

  it('reports invalid arguments', () => {
    const wrong: readonly (readonly [readonly string[], RegExp, number])[] = [
      [['audit'], /parley audit needs a command/, 2],
      [['audit', 'show'], /there is no command audit show/, 2],
      [['audit', 'tail', '--file', '/nowhere'], /there is no audit log \/nowhere/, 1],
      [['audit', 'tail', '--nope'], /try: parley help audit/, 2],
    ];
    for (const [args, words, code] of wrong) {
      const run = parley(args);
      expect(run.err).toMatch(words);
      expect([args, run.code, run.out]).toEqual([args, code, '']);
    }
  });
});
