import { fileURLToPath } from 'node:url';
import { describeClient, describeLong, describeServer, nodeCommand } from '../suite.ts';
import { talkV02, talkV03 } from './client-v0x.ts';
import { talkV10 } from './client-v10.ts';

/** The three generations of the official SDK, which are development dependencies under names of their own (package.json). */
const SERVER = fileURLToPath(new URL('server.ts', import.meta.url));
const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;

/** What the test agent does not do on their server. */
const SERVER_EXCEPT = { approval: 'their executor can’t ask in the middle of a run', list: 'not in every version' };

for (const binding of BINDINGS) {
  describeClient({ title: `@a2a-js/sdk 1.3.0, ${binding}`, talk: (url) => talkV10(url, binding) });
  describeClient({ title: `@a2a-js/sdk 0.3.13, ${binding}`, talk: (url) => talkV03(url, binding) });
}
describeClient({ title: '@a2a-js/sdk 0.2.5, JSONRPC', talk: talkV02 });

for (const version of ['1.3.0', '0.3.13', '0.2.5']) {
  describeServer({ title: `@a2a-js/sdk ${version}`, command: nodeCommand(SERVER, version), except: SERVER_EXCEPT });
}

describeLong();
