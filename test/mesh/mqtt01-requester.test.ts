import { expect, it } from 'vitest';
import { artifact, defineAgent } from '#agents';
import type { Broker, Mesh, MqttGrammarOptions, ReceivedMessage } from '#mesh';
import { joinMesh, mqttGrammar } from '#mesh';
import type { A2AService, Logged, Task } from '#protocol';
import { createUserMessage } from '#protocol';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { jsonOf, onMosquitto, PLACE, QUICK, serveAgent } from './mqtt01-support.ts';
import { callContext } from './support.ts';

const request = (text: string) => ({ message: createUserMessage(text) });

/** A responder that a test controls. */
interface Played {
  readonly broker: Broker;
  readonly asked: { readonly message: ReceivedMessage; readonly method: string; readonly task: string; readonly context: string }[];
  say(at: number, result: unknown, properties?: Record<string, string>, correlation?: Uint8Array): Promise<void>;
}

onMosquitto('a requester of A2A over MQTT 0.1', (suite) => {
  const { open } = suite;

  async function linkTo(agent: string, options: MqttGrammarOptions = {}): Promise<{ link: A2AService; mesh: Mesh }> {
    const mesh = joinMesh({
      broker: await connectMqtt({ url: suite.running.url, sessionSeconds: 0 }),
      namespace: PLACE,
      grammar: mqttGrammar(options),
    });
    open.push(() => mesh.close());
    const caller = await mesh.call({ kind: 'gateway', id: 'desk-7' });
    return { link: caller.link({ agent }), mesh };
  }

  async function play(agent: string, topic = `$a2a/v1/request/${PLACE}/${agent}`): Promise<Played> {
    const broker = await connectMqtt({ url: suite.running.url, sessionSeconds: 0 });
    open.push(() => broker.close());
    const asked: Played['asked'] = [];
    await broker.subscribe({
      filter: topic,
      handle: (message) => {
        const { method, params } = jsonOf(message) as {
          method: string;
          params: { id?: string; message?: { taskId: string; contextId: string } };
        };
        asked.push({ message, method, task: params.message?.taskId ?? params.id ?? '', context: params.message?.contextId ?? '' });
      },
    });
    const say: Played['say'] = async (at, result, properties = {}, correlation) => {
      await expect.poll(() => asked.length, { interval: 5 }).toBeGreaterThan(at);
      const { message } = asked[at] ?? { message: undefined };
      await broker.publish({
        topic: message?.responseTopic ?? '',
        payload: Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 'x', ...(result as object) })),
        correlation: correlation ?? message?.correlation ?? new Uint8Array(),
        properties,
      });
    };
    return { broker, asked, say };
  }
  const status = (played: Played, state: string, at = 0) => ({
    result: { statusUpdate: { taskId: played.asked[at]?.task, contextId: played.asked[at]?.context, status: { state } } },
  });
  const chunk = (played: Played, text: string) => ({
    result: {
      artifactUpdate: {
        taskId: played.asked[0]?.task,
        contextId: played.asked[0]?.context,
        append: true,
        artifact: { artifactId: 'a', parts: [{ text }] },
      },
    },
  });
  const asked = async (played: Played, count: number): Promise<void> => {
    await expect.poll(() => played.asked.length, { interval: 5 }).toBeGreaterThanOrEqual(count);
  };
  it('sends, streams, answers a question, gets and cancels at an agent of ours', async () => {
    const served = await serveAgent(suite.running.url, 'scheduler');
    open.push(() => served.close());
    const { link } = await linkTo('scheduler');
    const first = await link.send(request('ask'), callContext());
    expect(first.task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const taskId = first.task?.id as Task['id'];
    const second = await link.send({ message: createUserMessage('blue', { taskId }) }, callContext());
    expect([second.task?.id, second.task?.status.state]).toEqual([taskId, 'TASK_STATE_COMPLETED']);
    const events: Logged[] = [];
    for await (const batch of link.stream(request('chunks=30'), callContext())) events.push(...batch);
    expect(events.filter(({ event }) => event.artifactUpdate !== undefined)).toHaveLength(30);
    const long = await link.send({ ...request('sleep=60000'), configuration: { returnImmediately: true } }, callContext());
    const id = long.task?.id as Task['id'];
    expect((await link.get({ id }, callContext())).status.state).toBe('TASK_STATE_WORKING');
    expect((await link.cancel({ id }, callContext())).status.state).toBe('TASK_STATE_CANCELED');
    await expect(link.get({ id: 'nobody' as never }, callContext())).rejects.toMatchObject({ kind: 'TASK_NOT_FOUND' });
  });

  it('repeats a request with a new correlation and the same task, and accepts the response to the first', async () => {
    const played = await play('slow');
    // The third attempt would come after as long as the second one. The responses must come before it, on a busy machine too.
    const { link } = await linkTo('slow', { profile: { ...QUICK, replyFirstTimeoutMs: 2000 } });
    const sent = link.send(request('hello'), callContext());
    await asked(played, 2);
    const [one, two] = played.asked;
    expect(two?.task).toBe(one?.task);
    expect(Buffer.from(two?.message.correlation ?? [])).not.toEqual(Buffer.from(one?.message.correlation ?? []));
    await played.say(0, status(played, 'TASK_STATE_WORKING'));
    await played.say(1, status(played, 'TASK_STATE_FAILED')); // a repeat under the second correlation is ignored
    await played.say(0, status(played, 'completed'));
    expect((await sent).task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(played.asked.filter(({ method }) => method !== 'GetTask')).toHaveLength(2);
  });

  it('fails after the attempts of the profile, and without waiting when nobody subscribes', async () => {
    const played = await play('mute');
    const { link } = await linkTo('mute', { profile: QUICK });
    await expect(link.send(request('hello'), callContext())).rejects.toThrow('after 3 attempts');
    await asked(played, 3);
    expect(played.asked).toHaveLength(3);
    const { link: nobody } = await linkTo('nobody', { profile: { retryBackoffMs: [10] } });
    await expect(nobody.send(request('hello'), callContext())).rejects.toThrow('nobody subscribes');
  });

  it('never repeats a request after the first response: it gets the task', async () => {
    const played = await play('stalls');
    const { link } = await linkTo('stalls', { profile: { streamIdleTimeoutMs: QUICK.streamIdleTimeoutMs } });
    const sent = link.send(request('hello'), callContext());
    await asked(played, 1);
    await played.say(0, status(played, 'TASK_STATE_WORKING'));
    await asked(played, 2);
    expect(played.asked[1]).toMatchObject({ method: 'GetTask', task: played.asked[0]?.task });
    await played.say(1, { result: { id: played.asked[0]?.task, status: { state: 'TASK_STATE_COMPLETED' } } });
    expect((await sent).task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(played.asked.filter(({ method }) => method === 'SendStreamingMessage')).toHaveLength(1);
  });

  it('ignores unknown correlations and repeated events', async () => {
    const played = await play('chatty');
    const { link, mesh } = await linkTo('chatty');
    const events: Logged[] = [];
    const done = (async () => {
      for await (const batch of link.stream(request('hello'), callContext())) events.push(...batch);
    })();
    await asked(played, 1);
    await played.say(0, status(played, 'TASK_STATE_FAILED'), {}, Buffer.from('another'));
    await played.say(0, status(played, 'TASK_STATE_WORKING'), { 'a2a-seq': '1' });
    for (const [seq, text] of [
      ['2', 'a'],
      ['2', 'a'],
      ['3', 'b'],
      ['1', 'x'],
      ['4', 'c'],
    ] as const)
      await played.say(0, chunk(played, text), { 'a2a-seq': seq });
    await played.say(0, status(played, 'TASK_STATE_COMPLETED'), { 'a2a-seq': '5' });
    await done;
    expect(events.flatMap(({ event }) => event.artifactUpdate?.artifact.parts.map(({ text }) => text) ?? [])).toEqual(['a', 'b', 'c']);
    expect(mesh.counts.ignored).toBe(1);
  });

  it('reads an error’s name before its code', async () => {
    const played = await play('busy');
    const { link } = await linkTo('busy');
    const busy = expect(link.send(request('hello'), callContext())).rejects.toMatchObject({ kind: 'UNAVAILABLE', message: 'queue full' });
    await played.say(0, { error: { code: -32_004, message: 'queue full', data: { a2a_error: 'responder_unavailable' } } });
    await busy;
    const unsupported = expect(link.send(request('hello'), callContext())).rejects.toMatchObject({ kind: 'UNSUPPORTED_OPERATION' });
    await played.say(1, { error: { code: -32_004, message: 'no' } });
    await unsupported;
  });

  it('reports an encrypted response as an error', async () => {
    const played = await play('sealed');
    const { link } = await linkTo('sealed');
    const sealed = expect(link.send(request('hello'), callContext())).rejects.toMatchObject({
      kind: 'INVALID_AGENT_RESPONSE',
      message: expect.stringContaining('encrypted with ubsp-v1'),
    });
    await played.say(0, { result: {} }, { 'a2a-security-profile': 'ubsp-v1' });
    await sealed;
  });

  it('sends follow-ups to the agent that has the task, and requires pool members to name themselves', async () => {
    const pool = await play('solvers', `$a2a/v1/request/${PLACE}/pool/solvers`);
    const member = await play('member-2');
    const next = await play('member-3');
    const { link } = await linkTo('pool/solvers');
    const first = link.send(request('hello'), callContext());
    await asked(pool, 1);
    await pool.say(0, status(pool, 'TASK_STATE_WORKING'), { 'a2a-responder-agent-id': 'member-2' });
    await pool.say(0, status(pool, 'TASK_STATE_INPUT_REQUIRED'), { 'a2a-responder-agent-id': 'member-2' });
    const taskId = (await first).task?.id as Task['id'];
    const second = link.send({ message: createUserMessage('blue', { taskId }) }, callContext());
    await asked(member, 1);
    expect(member.asked[0]?.task).toBe(taskId);
    await member.say(
      0,
      { result: { statusUpdate: { taskId, contextId: 'c', status: { state: 'TASK_STATE_INPUT_REQUIRED' } } } },
      { 'a2a-responder-agent-id': 'member-3' },
    );
    await second;
    const third = link.get({ id: taskId }, callContext());
    await next.say(0, { result: { id: taskId, status: { state: 'TASK_STATE_COMPLETED' } } });
    expect((await third).status.state).toBe('TASK_STATE_COMPLETED');
    const silent = expect(link.send(request('hello'), callContext())).rejects.toMatchObject({ kind: 'INVALID_AGENT_RESPONSE' });
    await asked(pool, 2);
    await pool.say(1, status(pool, 'TASK_STATE_WORKING', 1));
    await silent;
  });

  it('joins binary files whose chunks come in any order', async () => {
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => at % 251));
    const agent = defineAgent({
      name: 'draws',
      description: 'draws',
      run: function* () {
        yield artifact({ id: 'img1', parts: [{ raw: bytes.toString('base64'), mediaType: 'image/png' }] } as never);
      },
    });
    const served = await serveAgent(suite.running.url, 'draws', { agent });
    open.push(() => served.close());
    const { link } = await linkTo('draws', { artifactMode: 'binary' });
    const { task } = await link.send(request('draw'), callContext());
    const [part] = task?.artifacts?.[0]?.parts ?? [];
    expect([part?.mediaType, Buffer.from(part?.raw ?? '', 'base64').equals(bytes)]).toEqual(['image/png', true]);
    const played = await play('parts');
    const { link: toParts } = await linkTo('parts', { artifactMode: 'binary' });
    const sent = toParts.send(request('draw'), callContext());
    await asked(played, 1);
    await played.say(0, status(played, 'TASK_STATE_WORKING'));
    for (const [seqno, text] of [
      ['2', 'c'],
      ['0', 'a'],
      ['0', 'a'],
      ['1', 'b'],
    ] as const) {
      const { message, task: id, context } = played.asked[0] as Played['asked'][number];
      await played.broker.publish({
        topic: message.responseTopic ?? '',
        payload: Buffer.from(text),
        correlation: message.correlation ?? new Uint8Array(),
        contentType: 'text/plain',
        properties: {
          'a2a-artifact-mode': 'binary',
          'a2a-event-type': 'task-artifact-update',
          'a2a-task-id': id,
          'a2a-context-id': context,
          'a2a-artifact-id': 'x',
          'a2a-chunk-seqno': seqno,
          'a2a-last-chunk': String(seqno === '2'),
        },
      });
    }
    await played.say(0, status(played, 'TASK_STATE_COMPLETED'));
    const [whole] = (await sent).task?.artifacts?.[0]?.parts ?? [];
    expect(Buffer.from(whole?.raw ?? '', 'base64').toString()).toBe('abc');
  });
});
