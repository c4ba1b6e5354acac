import { fileURLToPath } from 'node:url';
import type { AuthClient } from '../auth.ts';
import { describeAuth } from '../auth.ts';
import { driverTalk } from '../driver.ts';
import { rustProgram } from '../install.ts';
import { SDK_CONVERSATIONS, SIGN_IN } from '../sdk-conversations.ts';
import { describeClient, describeLong, describeServer, onlyOver } from '../suite.ts';

/** What the test agent does not do on their server. */
const SERVER_EXCEPT = { approval: 'their executor can’t ask in the middle of a run', list: 'needs a user' };

const program = rustProgram('a2a-rust', fileURLToPath(new URL('.', import.meta.url)));

const withAuth: AuthClient[] = [];

for (const binding of ['JSONRPC', 'HTTP+JSON', 'GRPC']) {
  const title = `a2a-client-lf 0.2.9 (Rust), ${binding}`;
  const talk =
    program === undefined
      ? undefined
      : (url: string, credential?: string) => driverTalk([program, 'client', url, binding], { hasList: true, credential });
  describeClient({ title, talk, also: SDK_CONVERSATIONS });
  withAuth.push({ title, talk });
  const command = program === undefined ? undefined : (port: number): readonly string[] => [program, 'server', String(port)];
  const server = { title: `a2a-server-lf 0.5.3 (Rust), ${binding}`, command, except: SERVER_EXCEPT, also: [SIGN_IN] };
  describeServer({ ...server, ...onlyOver(binding) });
}

describeAuth(withAuth);
describeLong();
