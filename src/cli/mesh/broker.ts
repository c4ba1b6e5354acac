import type { Broker, BrokerOptions } from '#mesh';
import { BrokerError } from '#mesh';
import type { Log } from '#server';
import { memoryHub } from '../../mesh/adapters/memory.ts';
import { S3Error } from '../../server/adapters/s3.ts';
import { CliError } from '../command.ts';

/** How to connect to a broker. */
export interface ConnectOptions extends Pick<BrokerOptions, 'clientId' | 'lastWill'> {
  readonly log?: Log;
  /** How long an MQTT broker keeps messages for the client id while nobody is connected with it. Default: not at all. */
  readonly sessionSeconds?: number;
}

/** One for the process: all connections to `memory` share it. */
const hub = memoryHub();

/** Connects to a broker. User and password come from the address, or else from PARLEY_MESH_USERNAME and PARLEY_MESH_PASSWORD. */
export async function connectBroker(address: string, { log, sessionSeconds = 0, ...own }: ConnectOptions = {}): Promise<Broker> {
  if (address === 'memory') return hub.connect(own);
  const url = URL.parse(address);
  const options: BrokerOptions = {
    ...own,
    onProblem: (problem, cause) => log?.warn(problem, cause instanceof Error ? { reason: cause.message } : {}),
  };
  const username =
    url?.username === undefined || url.username === '' ? process.env['PARLEY_MESH_USERNAME'] : decodeURIComponent(url.username);
  const password =
    url?.password === undefined || url.password === '' ? process.env['PARLEY_MESH_PASSWORD'] : decodeURIComponent(url.password);
  const bare = url === null ? '' : withoutCredentials(url);
  try {
    switch (url?.protocol) {
      case 'mqtt:':
      case 'mqtts:':
      case 'ws:':
      case 'wss:': {
        const { connectMqtt } = await import('../../mesh/adapters/mqtt.ts');
        return await connectMqtt({ ...options, url: bare, sessionSeconds, ...given({ username, password }) });
      }
      case 'nats:':
      case 'tls:': {
        const { connectNats } = await import('../../mesh/adapters/nats.ts');
        return await connectNats({ ...options, servers: bare, ...given({ user: username, pass: password }) });
      }
      default:
        throw new CliError(`${address} is not the address of a broker`, {
          hint: 'as mqtt://127.0.0.1:1883, mqtts://…, ws://…, nats://127.0.0.1:4222, or memory',
          exit: 2,
        });
    }
  } catch (thrown) {
    throw asCliError(thrown);
  }
}

/** Turns an error of a broker or an artifact store into one that a command reports with its hint. */
export function asCliError(thrown: unknown): unknown {
  return thrown instanceof BrokerError || thrown instanceof S3Error
    ? new CliError(thrown.message, { hint: thrown.hint, cause: thrown })
    : thrown;
}

/** The broker's address for logs. */
function withoutCredentials(url: URL): string {
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return bare.href.replace(/\/$/, '');
}

function given<T extends Readonly<Record<string, string | undefined>>>(members: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: string };
}
