import { fileURLToPath } from 'node:url';
import type { AuthClient } from '../auth.ts';
import { describeAuth, describeDemanding } from '../auth.ts';
import { describeCards } from '../cards.ts';
import { driverTalk } from '../driver.ts';
import { goProgram } from '../install.ts';
import { SDK_CONVERSATIONS, SIGN_IN_WANTED } from '../sdk-conversations.ts';
import { describeClient, describeLong, describeServer, OVER_GRPC } from '../suite.ts';

interface GoRelease {
  readonly version: string;
  readonly module: string;
  /** The folder with the program for this generation, beside `shared`. */
  readonly folder: string;
  readonly bindings: readonly string[];
}

const RELEASES: readonly GoRelease[] = [
  { version: '2.4.0', module: 'github.com/a2aproject/a2a-go/v2', folder: 'v2', bindings: ['JSONRPC', 'HTTP+JSON', 'GRPC'] },
  { version: '0.3.15', module: 'github.com/a2aproject/a2a-go', folder: 'v03', bindings: ['JSONRPC'] },
];

/** What the test agent does not do on their server. */
const SERVER_EXCEPT = { approval: 'their executor can’t ask in the middle of a run', list: 'needs a user' };

const withAuth: AuthClient[] = [];

for (const { version, module, folder, bindings } of RELEASES) {
  const sources = ['shared', folder].map((name) => fileURLToPath(new URL(name, import.meta.url)));
  const program = goProgram(`a2a-go-${version}`, { module: `${module}@v${version}`, sources });
  for (const binding of bindings) {
    const title = `a2a-go ${version}, ${binding}`;
    const talk =
      program === undefined
        ? undefined
        : (url: string, credential?: string) => driverTalk([program, 'client', url, binding], { hasList: true, credential });
    describeClient({ title, talk, also: SDK_CONVERSATIONS });
    withAuth.push({ title, talk, ...(folder === 'v2' ? { cardForm: 'scope-lists' } : {}) });
  }
  const command = program === undefined ? undefined : (port: number): readonly string[] => [program, 'server', String(port)];
  describeServer({ title: `a2a-go ${version}`, command, except: SERVER_EXCEPT, also: [SIGN_IN_WANTED] });
  describeDemanding({ title: `a2a-go ${version}`, command });
  if (folder === 'v2') {
    const card = program === undefined ? undefined : (url: string, form: string): readonly string[] => [program, 'card', url, form];
    describeCards({ title: `a2a-go ${version}`, command: card, form: 'scope-lists' });
  }
  if (bindings.includes('GRPC')) {
    describeServer({
      title: `a2a-go ${version}, GRPC`,
      command,
      except: SERVER_EXCEPT,
      also: [SIGN_IN_WANTED],
      ...OVER_GRPC,
    });
    describeDemanding({ title: `a2a-go ${version}, GRPC`, command, ...OVER_GRPC });
  }
}

describeAuth(withAuth);
describeLong();
