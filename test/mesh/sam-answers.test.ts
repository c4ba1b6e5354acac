import { afterEach, expect, it } from 'vitest';
import type { Agent } from '#protocol';
import { builtInAgents, defineAgent, fail } from '../../src/agents/index.ts';
import { memoryObjects } from '../../src/mesh/adapters/objects-memory.ts';
import { createArtifactService } from '../../src/mesh/index.ts';
import { eventually } from '../support/eventually.ts';
import { BASE, closeSamClients, DOCUMENTED, propertiesTo, realRequest, samClient } from './sam-client.ts';
import { onEveryBroker } from './support.ts';

afterEach(closeSamClients);

const bytes = new Uint8Array(200_000).fill(7);
const base64 = Buffer.from(bytes).toString('base64');
const MB_11 = 'x'.repeat(11_000_000);
const MIB_50 = Buffer.alloc(50 * 1024 * 1024, 'parley');

/** Does what its message says. Its name has capital letters. */
const validator: Agent = defineAgent({
  name: 'OrderValidator',
  description: 'Does what the tests need.',
  inputModes: ['*/*'],
  outputModes: ['*/*'],
  async *run(turn) {
    if (turn.text.includes('file')) yield { kind: 'artifact', name: 'plan.pdf', parts: [{ raw: base64, filename: 'plan.pdf' }] };
    else if (turn.text.includes('huge'))
      yield { kind: 'artifact', name: 'all.bin', parts: [{ raw: MIB_50.toString('base64'), filename: 'all.bin' }] };
    else if (turn.text.includes('large')) yield MB_11;
    else if (turn.text.includes('wait')) await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
    else if (turn.text.includes('break')) yield fail('it broke');
    else
      yield turn.parts.some(({ data }) => data !== undefined) ? turn.parts.filter(({ data }) => data !== undefined) : `valid: ${turn.text}`;
  },
});
const agents = { ordervalidator: validator };
const FINAL = 'gateway/response/gw_123/t1';

onEveryBroker('an answer to a SAM client', (start) => {
  const store = () => createArtifactService({ objects: memoryObjects(), scope: 'namespace' });

  it('is in the status message, names the agent, and reaches an agent whose name has capital letters', async () => {
    const { ask, on } = await samClient(start, { agents });
    await ask(realRequest('t1', 'order 7'), propertiesTo('t1'), 'OrderValidator');
    await eventually(() => expect(on(FINAL)).toHaveLength(1));
    expect(on(FINAL)[0]?.body.result).toMatchObject({
      status: { state: 'completed', message: { role: 'agent', parts: [{ kind: 'text', text: 'valid: order 7' }] } },
      metadata: { agent_name: 'OrderValidator', produced_artifacts: [] },
    });
    const progress = on('gateway/status/gw_123/t1').map(({ body }) => body.result?.status?.message?.parts[0]?.['text']);
    expect(progress.at(-1)).toBe('valid: order 7');
  });

  it('lists its files, which are stored once', async () => {
    const artifacts = store();
    const { ask, on } = await samClient(start, { agents, mesh: { artifacts } });
    await ask(realRequest('t1', 'file'), propertiesTo('t1'), 'OrderValidator');
    await eventually(() => expect(on(FINAL)).toHaveLength(1));
    expect(on(FINAL)[0]?.body.result?.['metadata']).toMatchObject({ produced_artifacts: [{ filename: 'plan.pdf', version: 0 }] });
    const owner = { app: 'OrderValidator', user: 'ann', session: 'gdk-session-1' };
    expect(await artifacts.versions(owner, 'plan.pdf')).toEqual([0]);
    expect((await artifacts.load(owner, 'plan.pdf'))?.content).toEqual(bytes);
  });

  it('has a file of 50 MiB, which is stored whole', async () => {
    const artifacts = store();
    const { ask, on } = await samClient(start, { agents, mesh: { artifacts } });
    await ask(realRequest('t1', 'huge'), propertiesTo('t1'), 'OrderValidator');
    await eventually(() => expect(on(FINAL)).toHaveLength(1));
    expect(on(FINAL)[0]?.body.result?.['metadata']).toMatchObject({ produced_artifacts: [{ filename: 'all.bin', version: 0 }] });
    const kept = await artifacts.load({ app: 'OrderValidator', user: 'ann', session: 'gdk-session-1' }, 'all.bin');
    // `toEqual` compares each byte as a value of its own, which takes minutes.
    expect(Buffer.compare(kept?.content ?? new Uint8Array(), MIB_50)).toBe(0);
  });

  it('above the limit of the broker is a clear failure', async () => {
    const { ask, on } = await samClient(start, { agents });
    await ask(realRequest('t1', 'large'), propertiesTo('t1'), 'OrderValidator');
    await eventually(() => expect(on(FINAL)).toHaveLength(1));
    expect(on(FINAL)[0]?.body.error).toMatchObject({ code: -32603, message: expect.stringContaining('the maximum over a broker is') });
  });

  it('keeps the spelling of the request, also after a cancel', async () => {
    const { ask, on } = await samClient(start, { agents });
    const { message } = DOCUMENTED.params;
    await ask({ ...DOCUMENTED, params: { message: { ...message, parts: [{ text: 'wait' }] } } }, propertiesTo('t1'), 'OrderValidator');
    await eventually(() => expect(on('gateway/status/gw_123/t1')).not.toHaveLength(0));
    const cancel = { jsonrpc: '2.0', id: 'c1', method: 'tasks/cancel', params: { id: 't1' } };
    await ask(cancel, { clientId: 'gw_123', replyTo: `${BASE}/gateway/response/gw_123/c1` }, 'OrderValidator');
    await eventually(() => expect([on(FINAL).length, on('gateway/response/gw_123/c1').length]).toEqual([1, 1]));
    for (const topic of [FINAL, 'gateway/response/gw_123/c1']) {
      expect(on(topic)[0]?.body.result).toMatchObject({ context_id: 'session_456', status: { state: 'canceled' } });
    }
  });

  it('to a cancel with a client id and no user: the client that sent the task may cancel it, another may not', async () => {
    const { ask, on } = await samClient(start, { agents });
    // A workflow names no client in its request: its response topic names it.
    const properties = { userId: 'ann', replyTo: `${BASE}/agent/response/Flow/t1`, a2aStatusTopic: `${BASE}/gateway/status/gw_123/t1` };
    await ask(realRequest('t1', 'wait'), properties, 'OrderValidator');
    await eventually(() => expect(on('gateway/status/gw_123/t1')).not.toHaveLength(0));
    const cancel = (id: string) => ({ jsonrpc: '2.0', id, method: 'tasks/cancel', params: { id: 't1' } });
    await ask(cancel('c1'), { clientId: 'eve' }, 'OrderValidator');
    await eventually(() => expect(on('client/response/eve')[0]?.body.error?.code).toBe(-32001));
    await ask(cancel('c2'), { clientId: 'Flow' }, 'OrderValidator');
    await eventually(() => expect(on('agent/response/Flow/t1')[0]?.body.result?.status?.state).toBe('canceled'));
  });

  it('to a node of a workflow is a file in the store, or the reason of the failure', async () => {
    const artifacts = store();
    const { ask, on } = await samClient(start, { agents, mesh: { artifacts } });
    const owner = { app: 'Flow', user: 'ann', session: 'gdk-session-1' };
    const input = await artifacts.save(owner, {
      name: 'input.json',
      content: new TextEncoder().encode('{"order":"A1"}'),
      mediaType: 'application/json',
    });
    const invocation = (id: string, text: string) =>
      realRequest(id, '', {
        parts: [
          {
            data: { type: 'structured_invocation_request', workflow_name: 'Flow', node_id: 'check', suggested_output_filename: 'out.json' },
          },
          { kind: 'text', text },
          { kind: 'file', file: { uri: input.uri, name: 'input.json', mimeType: 'application/json' } },
          { kind: 'text', text: 'REMINDER: end with «result:artifact=… status=success»' },
        ],
      });
    await ask(invocation('t1', 'validate'), propertiesTo('t1'), 'OrderValidator');
    await ask(invocation('t2', 'break'), propertiesTo('t2'), 'OrderValidator');
    await eventually(() => expect([on(FINAL).length, on('gateway/response/gw_123/t2').length]).toEqual([1, 1]));
    const result = { type: 'structured_invocation_result', status: 'success', output_artifact_ref: { name: 'out.json', version: 0 } };
    expect(on(FINAL)[0]?.body.result).toMatchObject({
      status: { state: 'completed', message: { parts: [{ kind: 'data', data: result }] } },
      metadata: { workflow_node_id: 'check' },
    });
    const stored = await artifacts.load({ ...owner, app: 'OrderValidator' }, 'out.json');
    expect(JSON.parse(new TextDecoder().decode(stored?.content))).toEqual({ order: 'A1' });
    expect(on('gateway/response/gw_123/t2')[0]?.body.result?.status).toMatchObject({
      state: 'failed',
      message: { parts: [{ data: { status: 'error', error_message: 'it broke' } }] },
    });
  });

  it('is an error if the request does not name an extension which the card requires', async () => {
    const agent = builtInAgents.get('conformance')?.create({ profile: 'required-extension' });
    const { ask, on } = await samClient(start, agent === undefined ? {} : { agents: { conformance: agent } });
    const extensions = ['urn:a2a:tck:required-extension'];
    await ask(realRequest('t1', 'hi'), propertiesTo('t1'), 'conformance');
    await ask(realRequest('t2', 'hi', { extensions }), propertiesTo('t2'), 'conformance');
    await ask(realRequest('t3', 'hi'), propertiesTo('t3', { 'A2A-Extensions': extensions.join(',') }), 'conformance');
    const errors = (): unknown[] => ['t1', 't2', 't3'].map((id) => on(`gateway/response/gw_123/${id}`)[0]?.body.error?.code);
    await eventually(() => expect(['t1', 't2', 't3'].map((id) => on(`gateway/response/gw_123/${id}`).length)).toEqual([1, 1, 1]));
    expect(errors()).toEqual([-32008, undefined, undefined]);
  });
});
