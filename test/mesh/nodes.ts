import { describe } from 'vitest';
import type { MeshCaller, MeshParticipant } from '#mesh';
import { joinMesh } from '#mesh';
import type { CallContext, SendRequest, Task } from '#protocol';
import { createUserMessage } from '#protocol';
import { connectMqtt } from '../../src/mesh/adapters/mqtt.ts';
import { connectNats } from '../../src/mesh/adapters/nats.ts';
import { programOf, type RunningBroker, startMosquitto, startNats } from '../support/brokers.ts';
import { type Parley, parleyServe } from '../support/parley.ts';
import { callContext } from './support.ts';

/** Brokers and nodes that run as processes, stopped after each test. */
const open: (() => Promise<unknown>)[] = [];

export async function stopAll(): Promise<void> {
  for (const stop of open.splice(0).reverse()) await stop();
}

export type StartBroker = () => Promise<RunningBroker>;

export function onRealBrokers(name: string, body: (start: StartBroker, broker: 'Mosquitto' | 'NATS') => void): void {
  const kinds = [
    { broker: 'Mosquitto', program: 'mosquitto', launch: startMosquitto },
    { broker: 'NATS', program: 'nats-server', launch: startNats },
  ] as const;
  for (const { broker, program, launch } of kinds) {
    const isThere = programOf(program) !== undefined;
    describe.skipIf(!isThere)(`${name} on ${broker}${isThere ? '' : ` [needs ${program}]`}`, () => {
      const start = async (): Promise<RunningBroker> => {
        const running = await launch();
        open.push(() => running.stop());
        return running;
      };
      body(start, broker);
    });
  }
}

export const NODE_NAMESPACE = 'test/nodes';

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly command?: readonly string[];
}

/** Starts `parley serve` on the mesh. */
export async function start(broker: string, agents: readonly string[], options: StartOptions = {}): Promise<Parley> {
  const { env = {}, args = ['--memory'], command } = options;
  const running = await parleyServe({
    args: [...agents, ...args],
    env: { ...env, PARLEY_MESH: broker, PARLEY_NAMESPACE: NODE_NAMESPACE },
    ...(command === undefined ? {} : { command }),
  });
  open.push(async () => {
    running.process.kill('SIGKILL');
    await running.ended;
  });
  return running;
}

export function onStop(stop: () => Promise<unknown>): void {
  open.push(stop);
}

export interface Connected extends MeshCaller {
  readonly ctx: CallContext;
  request(text: string): SendRequest;
}

export async function connectMesh(url: string, self: MeshParticipant): Promise<Connected> {
  const broker = url.startsWith('nats') ? await connectNats({ servers: url }) : await connectMqtt({ url, sessionSeconds: 0 });
  const mesh = joinMesh({ broker, namespace: NODE_NAMESPACE });
  open.push(() => mesh.close());
  const caller = await mesh.call(self);
  return { ...caller, ctx: callContext(), request: (text) => ({ message: createUserMessage(text) }) };
}

let messages = 0;
export async function send({ url }: { readonly url: string }, text: string, more: object = {}, configuration: object = {}): Promise<Task> {
  messages += 1;
  const message = { messageId: `m${process.pid}-${messages}`, role: 'ROLE_USER', parts: [{ text }], ...more };
  const response = await fetch(`${url}/message:send`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ message, configuration }),
  });
  const body = (await response.json()) as { task?: Task };
  if (body.task === undefined) throw new Error(`no task: ${JSON.stringify(body)}`);
  return body.task;
}

export async function taskAt({ url }: { readonly url: string }, id: string): Promise<Task> {
  return (await (await fetch(`${url}/tasks/${id}`)).json()) as Task;
}

export async function stateOf(node: { readonly url: string }, id: string): Promise<string> {
  return (await taskAt(node, id)).status.state;
}
