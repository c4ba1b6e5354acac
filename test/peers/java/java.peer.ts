import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AuthClient } from '../auth.ts';
import { describeAuth } from '../auth.ts';
import { describeCards } from '../cards.ts';
import { driverTalk } from '../driver.ts';
import { javaProgram } from '../install.ts';
import { SDK_CONVERSATIONS, SIGN_IN } from '../sdk-conversations.ts';
import { describeClient, describeLong, describeServer, onlyOver } from '../suite.ts';
import type { Talk } from '../talk.ts';

interface JavaRelease {
  readonly version: string;
  /** The folder with the program for this generation, beside `shared`. */
  readonly folder: string;
  readonly bindings: readonly string[];
  readonly hasList: boolean;
  readonly hasServer: boolean;
  /** Where Maven puts the classes of the program and its libraries. */
  readonly classes: readonly string[];
}

const RELEASES: readonly JavaRelease[] = [
  {
    version: '0.3.3.Final',
    folder: 'v03',
    bindings: ['JSONRPC', 'HTTP+JSON', 'GRPC'],
    hasList: false,
    hasServer: true,
    classes: ['classes', 'quarkus-app/lib/main/*', 'quarkus-app/lib/boot/*'],
  },
  // Its gRPC is of a draft: the service has the name of 0.3, with messages of neither version. Its servers are on no registry.
  {
    version: '1.0.0.Alpha3',
    folder: 'v10',
    bindings: ['JSONRPC', 'HTTP+JSON'],
    hasList: true,
    hasServer: false,
    classes: ['classes', 'lib/*'],
  },
];

/** What their client can't do, by release and binding. docs/interop.md has the exchanges. */
const CLIENT_EXCEPT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '0.3.3.Final, HTTP+JSON': { unknown: 'it looks for the name of a Java class in the error' },
  '1.0.0.Alpha3, JSONRPC': { list: 'it refuses a page that is not full', push: 'its request is of a draft' },
  '1.0.0.Alpha3, HTTP+JSON': { unknown: 'it takes the error, an object in A2A 1.0, for a text', push: 'its request is of a draft' },
};

/** What the test agent does not do on their server. */
const SERVER_EXCEPT = { approval: 'their executor can’t ask in the middle of a run', list: 'not in this version' };

/** What their server can't do, by binding. */
const BINDING_EXCEPT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'HTTP+JSON': { parts: 'refuses the name of a file' },
};

/**
 * Its server refuses a card with gRPC if the reference server for gRPC, which is on no registry, is not installed. By default it has five
 * threads, which four slow agents block, and it forgets an answer that a caller has waited 30 s for.
 */
const SERVER_OPTIONS = [
  '-Dquarkus.http.host=127.0.0.1',
  '-Dquarkus.grpc.server.use-separate-server=false',
  '-Dio.a2a.transport.skipValidation=true',
  '-Da2a.executor.core-pool-size=50',
  '-Da2a.blocking.agent.timeout.seconds=120',
];

const withAuth: AuthClient[] = [];

for (const { version, folder, bindings, hasList, hasServer, classes } of RELEASES) {
  const sources = ['shared', folder].map((name) => fileURLToPath(new URL(name, import.meta.url)));
  const built = javaProgram(`a2a-java-${version}`, sources);
  const java = (main: string, ...args: readonly string[]): readonly string[] => {
    const path = classes.map((part) => join(built ?? '', part)).join(':');
    return ['java', '-cp', path, `peer.${main}`, ...args];
  };
  for (const binding of bindings) {
    const title = `a2a-java ${version}, ${binding}`;
    // Release 0.3 writes and reads only the bytes of a file in the forms of protobuf.
    const loss: Pick<Talk, 'losesFileNames'> = folder === 'v03' && binding !== 'JSONRPC' ? { losesFileNames: true } : {};
    const talk =
      built === undefined
        ? undefined
        : (url: string, credential?: string) => driverTalk(java('Client', url, binding), { hasList, credential, ...loss });
    describeClient({ title, talk, except: CLIENT_EXCEPT[`${version}, ${binding}`] ?? {}, also: SDK_CONVERSATIONS });
    withAuth.push({ title, talk });
    if (!hasServer) continue;
    const server = join(built ?? '', 'quarkus-app/quarkus-run.jar');
    const command =
      built === undefined ? undefined : (port: number) => ['java', `-Dquarkus.http.port=${port}`, ...SERVER_OPTIONS, '-jar', server];
    const except = { ...SERVER_EXCEPT, ...BINDING_EXCEPT[binding] };
    describeServer({ title, command, except, also: [SIGN_IN], ...onlyOver(binding), ...loss });
  }
  if (folder === 'v10') {
    const command = built === undefined ? undefined : (url: string, form: string) => java('Cards', url, form);
    describeCards({ title: `a2a-java ${version}`, command, form: 'strict' });
  }
}

describeAuth(withAuth);
describeLong();
