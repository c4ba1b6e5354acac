import { fileURLToPath } from 'node:url';
import { driverTalk } from '../driver.ts';
import { rustProgram } from '../install.ts';
import { describeClient, describeLong, describeServer, onlyOver } from '../suite.ts';

/** What the test agent does not do on their server. */
const SERVER_EXCEPT = { approval: 'their executor can’t ask in the middle of a run', list: 'needs a user' };

const program = rustProgram('a2a-rust', fileURLToPath(new URL('.', import.meta.url)));

for (const binding of ['JSONRPC', 'HTTP+JSON', 'GRPC']) {
  const talk = program === undefined ? undefined : (url: string) => driverTalk([program, 'client', url, binding], { hasList: true });
  describeClient({ title: `a2a-client-lf 0.2.9 (Rust), ${binding}`, talk });
  const command = program === undefined ? undefined : (port: number): readonly string[] => [program, 'server', String(port)];
  describeServer({ title: `a2a-server-lf 0.5.3 (Rust), ${binding}`, command, except: SERVER_EXCEPT, ...onlyOver(binding) });
}

describeLong();
