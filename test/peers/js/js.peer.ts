import { fileURLToPath } from 'node:url';
import type { AuthClient } from '../auth.ts';
import { describeAuth } from '../auth.ts';
import { SIGN_IN } from '../sdk-conversations.ts';
import { describeClient, describeLong, describeServer, nodeCommand, OVER_GRPC } from '../suite.ts';
import { talkV02, talkV03 } from './client-v0x.ts';
import { talkV10 } from './client-v10.ts';

/** The three generations of the official SDK, which are development dependencies under names of their own (package.json). */
const SERVER = fileURLToPath(new URL('server.ts', import.meta.url));
const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;

/** What the test agent does not do on their server. */
const SERVER_EXCEPT = { approval: 'their executor can’t ask in the middle of a run', list: 'not in every version' };

const CLIENTS: readonly AuthClient[] = [
  ...BINDINGS.flatMap((binding): readonly AuthClient[] => [
    { title: `@a2a-js/sdk 1.3.0, ${binding}`, talk: (url, credential) => talkV10(url, binding, credential) },
    { title: `@a2a-js/sdk 0.3.13, ${binding}`, talk: (url, credential) => talkV03(url, binding, credential) },
  ]),
  { title: '@a2a-js/sdk 1.3.0, GRPC', talk: (url, credential) => talkV10(url, 'GRPC', credential) },
  { title: '@a2a-js/sdk 0.2.5, JSONRPC', talk: talkV02, hides: { send: /Body has already been read/ } },
];
for (const { title, talk } of CLIENTS) describeClient({ title, talk, also: [SIGN_IN] });
describeAuth(CLIENTS);

for (const version of ['1.3.0', '0.3.13', '0.2.5']) {
  describeServer({ title: `@a2a-js/sdk ${version}`, command: nodeCommand(SERVER, version), except: SERVER_EXCEPT, also: [SIGN_IN] });
}
describeServer({
  title: '@a2a-js/sdk 1.3.0, GRPC',
  command: nodeCommand(SERVER, '1.3.0'),
  except: SERVER_EXCEPT,
  also: [SIGN_IN],
  ...OVER_GRPC,
});

describeLong();
