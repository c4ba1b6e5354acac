import type { AuthClient } from '../auth.ts';
import { describeAuth, describeDemanding } from '../auth.ts';
import { driverTalk } from '../driver.ts';
import { pythonWith } from '../install.ts';
import { SDK_CONVERSATIONS, SIGN_IN_WANTED } from '../sdk-conversations.ts';
import { describeClient, describeLong, describeServer, OVER_GRPC } from '../suite.ts';
import { CANCELED } from './subscribe.ts';

const HERE = new URL('.', import.meta.url).pathname;

interface Release {
  readonly version: string;
  readonly client: string;
  readonly server: string;
  readonly bindings: readonly string[];
  /** The SDK's package for gRPC is installed too, and its server offers it. */
  readonly hasGrpc?: true;
  readonly hasList: boolean;
  /** What its server can't do, beside SERVER_EXCEPT. */
  readonly serverExcept?: Readonly<Record<string, string>>;
}

const RELEASES: readonly Release[] = [
  {
    version: '1.3.0',
    client: 'client_v10.py',
    server: 'server_v10.py',
    bindings: ['JSONRPC', 'HTTP+JSON', 'GRPC'],
    hasGrpc: true,
    hasList: true,
  },
  {
    version: '0.3.26',
    client: 'client_v03.py',
    server: 'server_v03.py',
    bindings: ['JSONRPC', 'HTTP+JSON', 'GRPC'],
    hasGrpc: true,
    hasList: false,
  },
  { version: '0.3.22', client: 'client_v03.py', server: 'server_v03.py', bindings: ['JSONRPC', 'HTTP+JSON'], hasList: false },
  {
    version: '0.2.16',
    client: 'client_v02.py',
    server: 'server_v03.py',
    bindings: ['JSONRPC'],
    hasList: false,
    serverExcept: { restart: 'leaves a task in working for ever when the reader of its stream disconnects' },
  },
];

/** What the test agent does not do on their server. */
const SERVER_EXCEPT = { approval: 'their executor can’t ask in the middle of a run', list: 'not in every version' };

const withAuth: AuthClient[] = [];

for (const { version, client, server, bindings, hasGrpc, hasList, serverExcept } of RELEASES) {
  const [name, extras] = hasGrpc === true ? ['a2a-sdk-grpc', 'http-server,grpc'] : ['a2a-sdk', 'http-server'];
  const python = pythonWith(`${name}-${version}`, [`a2a-sdk[${extras}]==${version}`, 'uvicorn']);
  for (const binding of bindings) {
    const command = (url: string) => [python ?? '', `${HERE}${client}`, url, ...(bindings.length > 1 ? [binding] : [])];
    const talk = python === undefined ? undefined : (url: string, credential?: string) => driverTalk(command(url), { hasList, credential });
    const except = {
      ...(binding === 'GRPC' && !hasList ? { unknown: 'it shows only the status of gRPC' } : {}),
      ...(bindings.length === 1 ? { subscribe: 'its client has no subscription' } : {}),
    };
    const title = `Python a2a-sdk ${version}, ${binding}`;
    describeClient({ title, talk, except, also: SDK_CONVERSATIONS });
    withAuth.push({ title, talk, ...(version === '0.2.16' ? { hides: { stream: /text\/event-stream/ } } : {}) });
  }
  const serve = python === undefined ? undefined : (port: number) => [python, `${HERE}${server}`, String(port)];
  const common = { command: serve, except: { ...SERVER_EXCEPT, ...serverExcept } };
  describeServer({
    title: `Python a2a-sdk ${version}`,
    ...common,
    also: version === '0.3.26' ? [SIGN_IN_WANTED, CANCELED] : [SIGN_IN_WANTED],
  });
  describeDemanding({ title: `Python a2a-sdk ${version}`, command: serve });
  if (hasGrpc !== true) continue;
  describeServer({ title: `Python a2a-sdk ${version}, GRPC`, ...common, also: [SIGN_IN_WANTED], ...OVER_GRPC });
  describeDemanding({ title: `Python a2a-sdk ${version}, GRPC`, command: serve, ...OVER_GRPC });
}

describeAuth(withAuth);
describeLong();
