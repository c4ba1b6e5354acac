import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { expectFigure } from '../../support/figures.ts';
import type { Parley } from '../../support/parley.ts';
import { parleyServe } from '../../support/parley.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { fakeAgent, statusOf, taskOf } from '../fake-agent.ts';
import { fieldOf, HOME, jsonOf, linesOf, run } from '../run.ts';
import { excludes, verifies } from './requirements.ts';

let script: Parley;
let echo: Parley;
const folder = scratchFolder();
beforeAll(async () => {
  [script, echo] = await Promise.all([parleyServe({ args: ['script', '--memory'] }), parleyServe({ args: ['echo', '--memory'] })]);
});
afterAll(async () => {
  await Promise.all([script.stop(), echo.stop()]);
});

interface Parts {
  readonly task: { readonly artifacts: readonly [{ readonly parts: readonly Record<string, unknown>[] }] };
}

describe('send', () => {
  verifies('A2ACLI_SEND_001', 'prints the reply of a task and of a direct message', async () => {
    const task = await run(['send', '-a', script.url, 'hello']);
    expect(task).toMatchObject({ code: 0 });
    expect(task.out).toContain('State: COMPLETED\nArtifact: chunks\nText:\nchunk 1\n\n');
    const message = await run(['send', '-a', script.url, '-o', 'json', 'message']);
    expect(jsonOf(message)).toHaveProperty('message.role', 'ROLE_AGENT');
    const odd = { task: taskOf('COMPLETED', { 'x-unknown': [1] }), 'x-beside': true };
    const agent = await fakeAgent({ card: { capabilities: {} }, on: { SendMessage: () => ({ result: odd }) } });
    expect(jsonOf(await run(['send', '-a', agent.url, '-o', 'json', 'hi']))).toEqual(odd);
    await agent.close();
  });

  verifies('A2ACLI_SEND_002', 'waits by default, and with --async returns before the task has finished', async () => {
    const waited = await run(['send', '-a', script.url, 'sleep=900']);
    expect(fieldOf(waited, 'State')).toBe('COMPLETED');
    const begun = Date.now();
    const left = await run(['send', '-a', script.url, '--async', 'sleep=60000']);
    expectFigure(Date.now() - begun, { below: 20_000 });
    expect(fieldOf(left, 'State')).toMatch(/SUBMITTED|WORKING/);
    const stated = await run(['send', '-a', script.url, '--wait', 'hello'], { env: { A2ACLI_ASYNC: 'true' } });
    expect(fieldOf(stated, 'State')).toBe('COMPLETED');
  });

  excludes('A2ACLI_SEND_002', 'refuses --async together with --wait', async () => {
    expect(await run(['send', '-a', script.url, '--wait', '--async', 'hello'])).toMatchObject({ code: 2, out: '' });
  });

  verifies('A2ACLI_SEND_003', 'streams, polls an agent without streams, and accepts a direct message', async () => {
    const streamed = await run(['send', '-a', script.url, '--stream', 'chunks=2']);
    expect(streamed.out).toMatch(/Text:\nchunk 1\n\n[\s\S]*Text:\nchunk 2\n\n[\s\S]*State: COMPLETED\n$/);
    expect(linesOf(await run(['send', '-a', script.url, '--stream', '-o', 'json', 'message']))).toHaveLength(1);
    const silent = await fakeAgent({
      card: { capabilities: {} },
      on: { SendMessage: () => ({ result: { task: taskOf('WORKING') } }), GetTask: () => ({ result: taskOf('COMPLETED') }) },
    });
    const polled = await run(['send', '-a', silent.url, '--stream', '-o', 'json', 'hi']);
    expect(polled.code).toBe(0);
    expect(linesOf(polled).at(-1)).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect(silent.calls('SendStreamingMessage')).toHaveLength(0);
    await silent.close();
  });

  excludes('A2ACLI_SEND_003', 'polls if the server refuses the stream that its card declares', async () => {
    const refusing = await fakeAgent({
      on: {
        SendStreamingMessage: () => ({ error: { code: -32004, message: 'no streams here' } }),
        SendMessage: () => ({ result: { task: taskOf('COMPLETED') } }),
      },
    });
    expect(await run(['send', '-a', refusing.url, '--stream', 'hi'])).toMatchObject({ code: 0 });
    await refusing.close();
  });

  verifies('A2ACLI_SEND_004', 'prints every part of an artifact', async () => {
    const parts = [
      { text: 'words' },
      { data: { a: [1] } },
      { raw: 'aGVsbG8=', filename: 'x.pdf', mediaType: 'application/pdf' },
      { url: 'https://files.example/y.png', filename: 'y.png', mediaType: 'image/png' },
      { text: 'more words' },
    ];
    const artifacts = [
      { artifactId: 'a1', name: 'mixed', parts },
      { artifactId: 'a2', parts: [{ text: 'second' }] },
    ];
    const mixed = await fakeAgent({
      card: { capabilities: {} },
      on: { SendMessage: () => ({ result: { task: taskOf('COMPLETED', { artifacts }) } }) },
    });
    const { out } = await run(['send', '-a', mixed.url, 'hi']);
    expect(out).toBe(
      [
        'Task: t-1',
        'Context: c-1',
        'State: COMPLETED',
        'Artifact: mixed',
        'Text:\nwords\n',
        'Data:\n{\n  "a": [\n    1\n  ]\n}\n',
        'File: x.pdf (application/pdf, 5 bytes)',
        'File: y.png (image/png, at https://files.example/y.png)',
        'Text:\nmore words\n',
        'Artifact: a2',
        'Text:\nsecond\n\n',
      ].join('\n'),
    );
    await mixed.close();
  });

  verifies('A2ACLI_SEND_005', 'applies a media type only to the part before it', async () => {
    const pdf = join(folder, 'x.pdf');
    writeFileSync(pdf, 'pdf');
    const given = ['--file-part', pdf, '--media-type', 'application/x-own', '--file', pdf, '--text', 'last'];
    const { task } = jsonOf<Parts>(await run(['send', '-a', echo.url, '-o', 'json', ...given]));
    expect(task.artifacts[0].parts.map((part) => part['mediaType'])).toEqual(['application/x-own', 'application/pdf', undefined]);
  });

  excludes('A2ACLI_SEND_005', 'a media type without a part before it is a wrong call', async () => {
    const leading = await run(['send', '-a', echo.url, '--media-type', 'text/plain', 'hi', '-o', 'json']);
    expect(leading.code).toBe(2);
    expect(jsonOf(leading)).toMatchObject({ error: { code: 'A2ACLI_ERR_USAGE', message: '--media-type needs a part flag before it' } });
  });

  verifies('A2ACLI_SEND_006', 'sends four parts in order, and reads --data - from standard input', async () => {
    const [file, data] = [join(folder, 'f.txt'), join(folder, 'd.json')];
    writeFileSync(file, 'content');
    writeFileSync(data, '{"n":1}');
    const { task } = jsonOf<Parts>(
      await run(['send', '-a', echo.url, '-o', 'json', '--text', 'a', '--file', file, '--data', data, '--text-part', 'b']),
    );
    expect(task.artifacts[0].parts).toMatchObject([
      { text: 'a' },
      { raw: 'Y29udGVudA==', filename: 'f.txt' },
      { data: { n: 1 } },
      { text: 'b' },
    ]);
    const piped = jsonOf<Parts>(await run(['send', '-a', echo.url, '-o', 'json', '--data-part', '-'], { input: '[true]' }));
    expect(piped.task.artifacts[0].parts).toEqual([{ data: [true] }]);
    const bad = await run(['send', '-a', echo.url, '--data-part', '-'], { input: 'not json' });
    expect(bad.code).toBe(2);
    expect(bad.err).toContain('standard input is not JSON');
  });

  excludes('A2ACLI_SEND_006', 'sends a URL as a reference and does not fetch it', async () => {
    const files = await fakeAgent({ on: { '*': () => ({ status: 200, body: 'fetched' }) } });
    const { task } = jsonOf<Parts>(await run(['send', '-a', echo.url, '-o', 'json', '--file-part', `${files.url}/a.csv`]));
    expect(task.artifacts[0].parts).toEqual([{ url: `${files.url}/a.csv`, filename: 'a.csv', mediaType: 'text/csv' }]);
    expect(files.requests).toEqual([]);
    await files.close();
  });
});

describe('continuing a conversation', () => {
  verifies('A2ACLI_INTERACT_001', 'sends the context', async () => {
    const agent = await fakeAgent({ card: { capabilities: {} }, on: { SendMessage: () => ({ result: { task: taskOf('COMPLETED') } }) } });
    await run(['send', '-a', agent.url, '--context-id', 'c-7', 'hi']);
    expect(agent.calls('SendMessage')[0]?.params).toMatchObject({ message: { contextId: 'c-7' } });
    expect(agent.calls('SendMessage')[0]?.params).not.toHaveProperty('message.taskId');
    await agent.close();
  });

  verifies('A2ACLI_INTERACT_002', 'continues a waiting task, alone or with its context', async () => {
    const first = await run(['send', '-a', script.url, 'ask']);
    const [task = '', context = ''] = [fieldOf(first, 'Task'), fieldOf(first, 'Context')];
    const second = await run(['send', '-a', script.url, '--task-id', task, '--context-id', context, 'blue']);
    expect(second.out).toContain('answer: blue');
  });

  excludes('A2ACLI_INTERACT_002', 'shows the server’s error, mentions --debug, and sends nothing again', async () => {
    const agent = await fakeAgent({
      card: { capabilities: {} },
      on: { SendMessage: () => ({ error: { code: -32001, message: 'no task t-404 at this agent' } }) },
    });
    const refused = await run(['send', '-a', agent.url, '--task-id', 't-404', '-o', 'json', 'hi']);
    expect(refused.code).toBe(1);
    expect(jsonOf(refused)).toMatchObject({
      error: { code: 'TaskNotFoundError', message: 'no task t-404 at this agent', a2aCode: -32001 },
    });
    expect(refused.out).toContain('--debug');
    expect(agent.requests.filter(({ rpc }) => rpc !== undefined)).toHaveLength(1);
    await agent.close();
    const done = await run(['send', '-a', script.url, 'hello']);
    const again = await run(['send', '-a', script.url, '--task-id', fieldOf(done, 'Task') ?? '', 'more']);
    expect(again).toMatchObject({ code: 1, out: '' });
    expect(again.err).toMatch(/Code: UnsupportedOperationError[\s\S]*--debug/);
  });

  verifies('A2ACLI_INTERACT_003', 'starts with a message id and no other id', async () => {
    const agent = await fakeAgent({ card: { capabilities: {} }, on: { SendMessage: () => ({ result: { task: taskOf('COMPLETED') } }) } });
    await run(['send', '-a', agent.url, 'hi']);
    const message = agent.calls('SendMessage')[0]?.params['message'] as Record<string, unknown>;
    expect(Object.keys(message).sort()).toEqual(['messageId', 'parts', 'role']);
    expect(message['messageId']).toMatch(/^[0-9a-f-]{36}$/);
    await agent.close();
  });

  verifies('A2ACLI_INTERACT_004', 'works with the printed command', async () => {
    const waiting = await run(['send', '-a', script.url, 'ask']);
    const [task, context] = [fieldOf(waiting, 'Task'), fieldOf(waiting, 'Context')];
    expect([task, context, fieldOf(waiting, 'State')]).toEqual([
      expect.stringMatching(/\S/),
      expect.stringMatching(/\S/),
      'INPUT_REQUIRED',
    ]);
    const resume = fieldOf(waiting, 'Resume') ?? '';
    expect(resume).toBe(`parley send -a ${script.url} --task-id ${task} "<reply>"`);
    const words = resume.replace('"<reply>"', 'green').split(' ').slice(1);
    expect((await run(words)).out).toContain('answer: green');
  });

  verifies('A2ACLI_INTERACT_005', 'stores no id in a file', async () => {
    const sent = await run(['send', '-a', script.url, 'ask']);
    const task = fieldOf(sent, 'Task') ?? 'missing';
    const written = readdirSync(HOME, { recursive: true, encoding: 'utf8', withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { parentPath, name } of written) expect(readFileSync(join(parentPath, name), 'utf8')).not.toContain(task);
    expect(fieldOf(await run(['send', '-a', script.url, 'hello']), 'Task')).not.toBe(task);
  });

  excludes('A2ACLI_INTERACT_005', 'nothing continues by itself, and no variable or file keeps an id', async () => {
    const task = fieldOf(await run(['send', '-a', script.url, 'ask']), 'Task') ?? 'missing';
    expect(await run(['send', '-a', script.url, '--continue', 'blue'])).toMatchObject({ code: 2 });
    expect(fieldOf(await run(['send', '-a', script.url, 'hello']), 'Task')).not.toBe(task);
  });
});

describe('streams', () => {
  verifies('A2ACLI_TASK_POLL_004', 'are replaced by polling when they break during a task', async () => {
    let asked = 0;
    const agent = await fakeAgent({
      on: {
        SendStreamingMessage: () => ({ frames: [{ task: taskOf('WORKING') }, statusOf('WORKING')], cut: true }),
        GetTask: () => {
          asked += 1;
          return {
            result: taskOf(asked < 3 ? 'WORKING' : 'COMPLETED', { artifacts: [{ artifactId: 'a', parts: [{ text: 'made it' }] }] }),
          };
        },
      },
    });
    const sent = await run(['send', '-a', agent.url, 'hi']);
    expect(sent).toMatchObject({ code: 0, out: expect.stringMatching(/State: COMPLETED[\s\S]*made it/) });
    expect(sent.err).toContain('the stream was cut');
    expect(agent.calls('SendStreamingMessage')).toHaveLength(1);
    await agent.close();
  });
});
