import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask, defineAgent, status } from '#agents';
import type { NodeServer } from '../../../src/server/adapters/node.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteNeeding } from '../../support/needs.ts';
import type { Child } from '../../support/processes.ts';
import { startNode } from '../../support/processes.ts';
import { jsonRequest, startServer } from '../../support/server.ts';
import type { WireEvent } from '../ag-ui/front-end.ts';
import { eventsIn, runBody } from '../ag-ui/front-end.ts';
import { copilotKitFolder } from './install.ts';

const EXAMPLE = fileURLToPath(new URL('../../../examples/ag-ui/copilotkit.mjs', import.meta.url));
const folder = copilotKitFolder();

const seen: string[] = [];
const helper = defineAgent({
  name: 'helper',
  description: 'Helps.',
  async *run(turn) {
    seen.push(turn.principal.id);
    if (turn.text === 'wait') {
      yield 'Waiting';
      await new Promise<void>((resolve) => turn.signal.addEventListener('abort', () => resolve()));
      return undefined;
    }
    if (turn.history.length > 0) return `You chose ${turn.option ?? turn.text}`;
    if (turn.text === 'deploy') return ask('Deploy?', { options: ['yes', 'no'] });
    yield status('Looking');
    yield status([{ text: 'Using tool: read' }, { data: { type: 'tool_use', id: 't', tool: 'read', input: { path: 'a' } } }], {
      event: 'tool_use',
    });
    yield status([{ text: 'Tool result' }, { data: { type: 'tool_result', id: 't', output: 'x' } }], { event: 'tool_result' });
    return `Hello ${turn.text}`;
  },
});

suiteNeeding('@copilotkit/runtime (npm)', folder !== undefined, "CopilotKit's runtime in front of a node", () => {
  let server: NodeServer;
  let runtime: Child;
  let base = '';
  beforeAll(async () => {
    server = await startServer({
      agents: [helper],
      agUi: { onHangUp: 'cancel' },
      authenticate: (request) => ({ principal: { id: request.header('authorization') ?? 'nobody', scopes: ['*'] } }),
    });
    // The example finds the runtime in the folder that it is in.
    const program = join(folder ?? '', 'copilotkit.mjs');
    copyFileSync(EXAMPLE, program);
    runtime = startNode([program, `${server.url}/ag-ui`, '0'], { env: { DO_NOT_TRACK: '1', COPILOTKIT_TELEMETRY_DISABLED: 'true' } });
    await runtime.said('ready');
    base =
      runtime
        .lines()
        .find((line) => line.startsWith('ready '))
        ?.slice(6) ?? '';
  });
  afterAll(async () => {
    runtime.process.kill();
    await server.close();
  });

  const call = (path: string, body: object): Promise<Response> =>
    fetch(jsonRequest(`${base}${path}`, body, { Authorization: 'Bearer ann' }));
  /** CopilotKit's clients send no protocol version. */
  const run = async (threadId: string, more: object): Promise<readonly WireEvent[]> => {
    const { protocolVersion: _, ...body } = runBody(threadId, more);
    return eventsIn(await (await call('/agent/rooms/run', body)).text());
  };
  const user = (id: string, content: string): object => ({ id: `copilot-message-${id}`, role: 'user', content });

  it('passes text, tool calls, state and activities on, with the credential of the caller', async () => {
    const events = await run('copilot-1', { messages: [user('1', 'Ada')] });
    const types = events.map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining(['RUN_STARTED', 'STATE_SNAPSHOT', 'ACTIVITY_SNAPSHOT', 'TOOL_CALL_START', 'TOOL_CALL_RESULT']),
    );
    expect(events.flatMap(({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? [delta] : []))).toEqual(['Hello Ada']);
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(seen).toContain('Bearer ann');
  });

  it('passes an interrupt on, and its answer back', async () => {
    const messages = [user('2', 'deploy')];
    const asked = (await run('copilot-2', { messages })).at(-1) as unknown as {
      outcome: { interrupts: readonly { id: string; responseSchema: object }[] };
    };
    const [interrupt] = asked.outcome.interrupts;
    expect(interrupt).toMatchObject({ responseSchema: { properties: { optionId: { enum: ['yes', 'no'] } } } });
    const resume = [{ interruptId: interrupt?.id, status: 'resolved', payload: { optionId: 'no' } }];
    const done = await run('copilot-2', { messages, resume });
    expect(done.flatMap(({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? [delta] : []))).toEqual(['You chose no']);
  });

  it('stops a run with its Stop button', async () => {
    const running = run('copilot-3', { messages: [user('3', 'wait')] });
    await eventually(async () => {
      const { tasks } = (await (
        await fetch(`${server.url}/tasks?contextId=copilot-3`, { headers: { Authorization: 'Bearer ann' } })
      ).json()) as { tasks: unknown[] };
      expect(tasks).toHaveLength(1);
    });
    await call('/agent/rooms/stop/copilot-3', {});
    await running;
    await eventually(async () => {
      const found = (await (
        await fetch(`${server.url}/tasks?contextId=copilot-3`, { headers: { Authorization: 'Bearer ann' } })
      ).json()) as {
        tasks: { status: { state: string } }[];
      };
      expect(found.tasks[0]?.status.state).toBe('TASK_STATE_CANCELED');
    });
  });
});
