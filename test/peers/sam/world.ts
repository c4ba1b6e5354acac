import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { ReceivedMessage } from '#mesh';
import { connectMqtt } from '../../../src/mesh/adapters/mqtt.ts';
import type { RunningBroker } from '../../support/brokers.ts';
import { startMosquitto } from '../../support/brokers.ts';
import { eventually } from '../../support/eventually.ts';
import type { FakeModel } from '../../support/fake-model/server.ts';
import { startFakeModel } from '../../support/fake-model/server.ts';
import { freePort } from '../../support/free-port.ts';
import type { Parley } from '../../support/parley.ts';
import { parleyServe } from '../../support/parley.ts';
import { samGatewayTalk } from './gateway-talk.ts';

const HERE = new URL('.', import.meta.url).pathname;
export const NAMESPACE = 'peers/sam';
/** SAM imports some thousand modules before it starts. */
const START_MS_MAX = 300_000;

/** SAM with an agent, an orchestrator, a workflow and a gateway, and our nodes, on one Mosquitto. */
export interface SamWorld {
  /** SAM's HTTP gateway. */
  readonly samGateway: string;
  /** Our gateway. Its agents are at `/agents/NAME`. */
  readonly ourGateway: string;
  readonly broker: RunningBroker;
  readonly model: FakeModel;
  /** The messages on a topic below `{namespace}/a2a/v1/`, as they come. */
  listen(filter: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

export async function startSamWorld(python: string, folder: string): Promise<SamWorld> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const broker = await startMosquitto();
    stops.push(() => broker.stop());
    const model = await startFakeModel();
    stops.push(() => model.close());
    const sam = await startSam(python, { folder, broker: broker.url, model: model.url });
    stops.push(sam.stop);
    const onMesh = ['--memory', '--namespace', NAMESPACE, '--artifacts', join(folder, 'artifacts'), '--artifacts-layout', 'sam'];
    const agents = [new URL('../agent.ts', import.meta.url).pathname, join(HERE, 'validator.ts')];
    const node: Parley = await parleyServe({ args: [...agents, ...onMesh, '--mesh', broker.url] });
    stops.push(() => node.stop());
    const gateway: Parley = await parleyServe({ command: ['mesh', 'gateway'], args: [...onMesh, '--broker', broker.url] });
    stops.push(() => gateway.stop());
    await eventually(async () => {
      for (const name of ['peer_test', 'OrderValidator', 'SamWorker', 'SamOrchestrator', 'SamWorkflow']) {
        if (!(await namesAt(`${sam.url}/api/v1/agentCards`)).includes(name)) throw new Error(`SAM does not see ${name}: ${sam.errors()}`);
        if (!(await fetch(`${gateway.url}/agents/${name}/.well-known/agent-card.json`)).ok) throw new Error(`we do not see ${name}`);
      }
    }, START_MS_MAX);
    await eventually(async () => {
      if (!(await orchestratorKnows('peer_test', { gateway: sam.url, model }))) throw new Error(`no tool for our agent: ${sam.errors()}`);
    }, START_MS_MAX);
    const listen = async (filter: string): Promise<readonly string[]> => {
      const connection = await connectMqtt({ url: broker.url, sessionSeconds: 0 });
      stops.push(() => connection.close());
      const heard: string[] = [];
      const handle = ({ payload }: ReceivedMessage): void => void heard.push(new TextDecoder().decode(payload));
      await connection.subscribe({ filter: `${NAMESPACE}/a2a/v1/${filter}`, handle });
      return heard;
    };
    return { samGateway: sam.url, ourGateway: gateway.url, broker, model, listen, stop };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

/**
 * True if SAM's orchestrator offers an agent to its model as a tool. Its list of agents is not that of SAM's gateway: a card
 * published before it listened is missing until the next announcement.
 */
async function orchestratorKnows(
  name: string,
  { gateway, model }: { readonly gateway: string; readonly model: FakeModel },
): Promise<boolean> {
  const before = model.bodies.length;
  await samGatewayTalk(gateway, 'SamOrchestrator').send({ text: 'Do [[say ready]]' });
  return model.bodies.slice(before).some((body) => JSON.stringify(body['tools'] ?? []).includes(`"peer_${name}"`));
}

async function namesAt(url: string): Promise<readonly string[]> {
  const response = await fetch(url);
  return ((await response.json()) as readonly { readonly name: string }[]).map(({ name }) => name);
}

interface SamProcess {
  readonly url: string;
  errors(): string;
  stop(): Promise<void>;
}

interface SamOptions {
  readonly folder: string;
  readonly broker: string;
  readonly model: string;
}

/** One process with all of SAM. Telemetry of the libraries below it is off. */
async function startSam(python: string, { folder, broker, model }: SamOptions): Promise<SamProcess> {
  const port = await freePort();
  const child = spawn(python, [join(HERE, 'run.py'), join(HERE, 'mesh.yaml')], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      PEER_BROKER: new URL(broker).host,
      PEER_MODEL: model,
      PEER_FOLDER: folder,
      PEER_NAMESPACE: NAMESPACE,
      PEER_PORT: String(port),
      LITELLM_TELEMETRY: 'False',
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      OTEL_SDK_DISABLED: 'true',
    },
  });
  let said = '';
  const keep = (chunk: Buffer): void => {
    said = (said + chunk.toString()).slice(-4000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  return {
    url: `http://127.0.0.1:${port}`,
    errors: () => said,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
