import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Parley } from '../../support/parley.ts';
import { parleyServe } from '../../support/parley.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { fakeAgent, statusOf, taskOf } from '../fake-agent.ts';
import { fieldOf, jsonOf, linesOf, run, start } from '../run.ts';
import { excludes, verifies } from './requirements.ts';

let script: Parley;
const folder = scratchFolder();
beforeAll(async () => {
  script = await parleyServe({ args: ['script', '--memory'] });
});
afterAll(() => script.stop());

const DONE = { result: { task: taskOf('COMPLETED') } };
const silent = (on: Parameters<typeof fakeAgent>[0]['on']) => fakeAgent({ card: { capabilities: {} }, on });
const sends = (agent: Awaited<ReturnType<typeof fakeAgent>>): number => agent.requests.filter(({ rpc }) => rpc?.startsWith('Send')).length;

describe('send', () => {
  excludes('A2ACLI_SEND_001', 'sends nothing if there is nothing to send', async () => {
    const agent = await silent({ SendMessage: () => DONE });
    expect(await run(['send', '-a', agent.url])).toMatchObject({ code: 2, out: '' });
    expect(agent.requests).toEqual([]);
    await agent.close();
  });

  excludes('A2ACLI_SEND_004', 'writes no bytes of a file to the terminal or the disk', async () => {
    const artifacts = [{ artifactId: 'a', parts: [{ raw: 'aGVsbG8=', filename: 'x.bin' }] }];
    const agent = await silent({ SendMessage: () => ({ result: { task: taskOf('COMPLETED', { artifacts }) } }) });
    const cwd = mkdtempSync(join(folder, 'cwd-'));
    const { out } = await run(['send', '-a', agent.url, 'hi'], { cwd });
    expect(out).toContain('File: x.bin (application/octet-stream, 5 bytes)');
    expect([out.includes('hello'), out.includes('aGVsbG8'), readdirSync(cwd)]).toEqual([false, false, []]);
    await agent.close();
  });

  excludes('A2ACLI_OUT_006', '--async that the agent refuses prints an error and no ids', async () => {
    const agent = await silent({ SendMessage: () => ({ error: { code: -32602, message: 'no' } }) });
    const ran = await run(['send', '-a', agent.url, '--async', '-o', 'json', 'hi']);
    expect([ran.code, jsonOf(ran)]).toMatchObject([1, { error: { code: 'InvalidParamsError', a2aCode: -32602 } }]);
    await agent.close();
  });
});

describe('ids', () => {
  excludes('A2ACLI_INTERACT_001', 'a context that the server refuses is not replaced by another', async () => {
    const agent = await fakeAgent({ on: { '*': () => ({ error: { code: -32602, message: 'no context c-9' } }) } });
    const ran = await run(['send', '-a', agent.url, '--context-id', 'c-9', '-o', 'json', 'hi']);
    expect([ran.code, sends(agent)]).toEqual([1, 1]);
    expect(jsonOf(ran)).toMatchObject({ error: { message: 'no context c-9', hint: expect.stringContaining('--debug') } });
    await agent.close();
  });

  excludes('A2ACLI_INTERACT_002', 'a message to a finished task is sent once, also where the agent streams', async () => {
    for (const error of [
      { code: -32004, message: 'the task is finished' },
      { code: -32001, message: 'no such task' },
    ]) {
      for (const more of [[], ['--stream']]) {
        const agent = await fakeAgent({ on: { '*': () => ({ error }) } });
        const ran = await run(['send', '-a', agent.url, '--task-id', 't-1', ...more, 'hi']);
        expect([ran.code, ran.out, sends(agent)]).toEqual([1, '', 1]);
        expect(ran.err).toContain('--debug');
        await agent.close();
      }
    }
  });

  excludes('A2ACLI_INTERACT_002', 'an empty id is a wrong call, not a new task', async () => {
    const agent = await silent({ '*': () => DONE });
    for (const args of [
      ['send', '--task-id', '', 'hi'],
      ['send', '--context-id=', 'hi'],
      ['task', 'get', ''],
      ['task', 'cancel', ''],
      ['task', 'push-config', 'get', '', 'p'],
    ]) {
      const ran = await run([...args, '-a', agent.url, '-o', 'json']);
      expect([ran.code, jsonOf(ran)], args.join(' ')).toMatchObject([2, { error: { code: 'A2ACLI_ERR_USAGE' } }]);
    }
    expect(agent.requests).toEqual([]);
    await agent.close();
  });

  excludes('A2ACLI_INTERACT_003', 'a context alone brings no task id, and ids of an answer are not used again', async () => {
    const agent = await silent({ SendMessage: () => DONE });
    await run(['send', '-a', agent.url, '--context-id', 'c-1', 'one']);
    await run(['send', '-a', agent.url, 'two']);
    const [first, second] = agent.calls('SendMessage').map(({ params }) => params['message'] as Record<string, unknown>);
    expect([first?.['contextId'], first?.['taskId'], second?.['contextId'], second?.['taskId']]).toEqual([
      'c-1',
      undefined,
      undefined,
      undefined,
    ]);
    expect(first?.['messageId']).not.toBe(second?.['messageId']);
    await agent.close();
  });

  verifies('A2ACLI_INTERACT_004', 'the printed command repeats transport, version and TLS flags', async () => {
    const agent = await fakeAgent({
      card: { capabilities: {} },
      on: { SendMessage: () => ({ result: { task: taskOf('INPUT_REQUIRED', { id: "t 1;rm -rf '" }) } }) },
    });
    const flags = ['--transport', 'jsonrpc', '--a2a-version', '1.0', '--insecure', '--extension', 'https://e.example/1'];
    const ran = await run(['send', '-a', agent.url, ...flags, '--bearer', 'tok-secret-1', 'hi']);
    expect(fieldOf(ran, 'Resume')).toBe(
      `parley send -a ${agent.url} --transport jsonrpc --a2a-version 1.0 --extension https://e.example/1 --insecure --task-id 't 1;rm -rf '\\''' "<reply>"`,
    );
    expect(ran.err).toContain('set A2ACLI_BEARER');
    await agent.close();
  });

  excludes('A2ACLI_INTERACT_004', 'a finished task has no command that continues it, and no command shows a secret', async () => {
    const done = await run(['send', '-a', script.url, 'hello']);
    expect([fieldOf(done, 'State'), fieldOf(done, 'Resume')]).toEqual(['COMPLETED', undefined]);
    const waiting = await run(['send', '-a', script.url, '--bearer', 'tok-secret-1', '--svc-param', 'X-Own: other-secret', 'ask']);
    expect(fieldOf(waiting, 'Resume')).not.toMatch(/secret/);
  });
});

describe('waiting', () => {
  excludes('A2ACLI_TASK_POLL_001', 'without --wait a running task is asked for once', async () => {
    const agent = await silent({ GetTask: () => ({ result: taskOf('WORKING') }) });
    const ran = await run(['task', 'get', '-a', agent.url, 't-1'], { env: { A2ACLI_WAIT: 'true' } });
    expect([ran.code, agent.calls('GetTask').length]).toEqual([0, 1]);
    await agent.close();
  });

  excludes('A2ACLI_TASK_POLL_002', 'an interval or a timeout that makes no sense is a wrong call, whatever the agent does', async () => {
    const agent = await silent({ GetTask: () => ({ result: taskOf('COMPLETED') }) });
    for (const flag of ['--poll-interval=soon', '--poll-interval=0', '--poll-interval=-1s', '--timeout=0s', '--timeout=never']) {
      const ran = await run(['task', 'get', '-a', agent.url, 't-1', '--wait', flag]);
      expect([ran.code, ran.err], flag).toEqual([2, expect.stringContaining('A2ACLI_ERR_USAGE')]);
    }
    expect(agent.requests).toEqual([]);
    await agent.close();
  });

  verifies('A2ACLI_TASK_POLL_002', 'an agent that can’t be reached is tried again, and the command says until when', async () => {
    const card = join(folder, 'dead.json');
    const { CARD } = await import('../../support/card.ts');
    const supportedInterfaces = [{ url: 'http://127.0.0.1:65001/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
    writeFileSync(card, JSON.stringify({ ...CARD, supportedInterfaces }));
    const waiting = start(['task', 'get', '-a', card, 't-1', '--wait']);
    expect(await waiting.until(/trying again until/, 'err')).toMatch(
      /127\.0\.0\.1:65001 can't be reached; trying again until \d\d:\d\d:\d\d UTC/,
    );
    waiting.child.kill('SIGINT');
    await waiting.ended;
  });

  excludes('A2ACLI_TASK_POLL_003', 'a state that is neither terminal nor interrupted does not end the wait', async () => {
    let asked = 0;
    const states = ['SUBMITTED', 'WORKING', 'UNSPECIFIED', 'COMPLETED'];
    const agent = await silent({ GetTask: () => ({ result: taskOf(states[asked++] ?? 'COMPLETED') }) });
    const ran = await run(['task', 'get', '-a', agent.url, 't-1', '--wait', '--poll-interval', '100ms']);
    expect([fieldOf(ran, 'State'), asked]).toEqual(['COMPLETED', 4]);
    await agent.close();
  });

  excludes('A2ACLI_TASK_POLL_004', '--stream does not give up where the agent refuses to be subscribed to', async () => {
    for (const code of [-32601, -32004]) {
      let asked = 0;
      const agent = await fakeAgent({
        on: {
          SendStreamingMessage: () => ({ frames: [{ task: taskOf('WORKING') }], cut: true }),
          SubscribeToTask: () => ({ error: { code, message: 'no subscriptions' } }),
          GetTask: () => ({ result: taskOf(asked++ < 2 ? 'WORKING' : 'COMPLETED') }),
        },
      });
      const ran = await run(['send', '-a', agent.url, '--stream', '-o', 'json', '--poll-interval', '100ms', 'hi']);
      expect([ran.code, asked], ran.err).toEqual([0, 3]);
      expect(linesOf(ran).at(-1)).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
      await agent.close();
    }
  });

  excludes('A2ACLI_TASK_SUBSCRIBE_001', 'a finished task ends alike with and without --stream; an unknown one is an error', async () => {
    const agent = await fakeAgent({
      on: {
        SubscribeToTask: ({ id }) => ({
          error: id === 't-1' ? { code: -32004, message: 'it is over' } : { code: -32001, message: 'unknown' },
        }),
        GetTask: () => ({ result: taskOf('COMPLETED') }),
      },
    });
    for (const more of [[], ['--stream']]) {
      const ran = await run(['task', 'subscribe', '-a', agent.url, 't-1', ...more]);
      expect([ran.code, fieldOf(ran, 'State')], ran.err).toEqual([0, 'COMPLETED']);
      expect(await run(['task', 'subscribe', '-a', agent.url, 't-404', ...more])).toMatchObject({ code: 1, out: '' });
    }
    await agent.close();
  });

  excludes('A2ACLI_TASK_SUBSCRIBE_002', 'a subscription that keeps breaking ends with the task, not in a loop', async () => {
    const agent = await fakeAgent({
      on: {
        SubscribeToTask: () => ({ frames: [{ task: taskOf('WORKING') }], cut: true }),
        GetTask: () => ({ result: taskOf('COMPLETED') }),
      },
    });
    const ran = await run(['task', 'subscribe', '-a', agent.url, 't-1', '--stream', '-o', 'json']);
    expect([ran.code, linesOf(ran).at(-1)]).toMatchObject([0, { task: { status: { state: 'TASK_STATE_COMPLETED' } } }]);
    expect(agent.calls('SubscribeToTask').length).toBeLessThan(8);
    await agent.close();
  });
});

describe('streamed events', () => {
  excludes('A2ACLI_OUT_003', 'no line is printed after the end, and none is indented', async () => {
    const agent = await fakeAgent({
      on: { SendStreamingMessage: () => ({ frames: [{ task: taskOf('WORKING') }, statusOf('COMPLETED'), statusOf('WORKING')] }) },
    });
    const ran = await run(['send', '-a', agent.url, '-o', 'json', '--stream', 'hi']);
    expect(linesOf(ran)).toEqual([{ task: taskOf('WORKING') }, statusOf('COMPLETED')]);
    expect(ran.out).not.toMatch(/^\s/m);
    await agent.close();
  });
});
