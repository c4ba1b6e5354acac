import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeClient, describeLong, describeServer, nodeCommand } from '../suite.ts';
import { ALSO, EXCEPT, SLOW_THREAD, societyTalk } from './client.ts';
import { society } from './player.ts';

const registry = (): string => join(mkdtempSync(join(tmpdir(), 'society-')), 'registry.json');

describeClient({
  title: 'Society 0.3.0 (player)',
  talk: (url) => {
    const file = registry();
    return societyTalk(url, (args, input) => society(file, args, input));
  },
  except: EXCEPT,
  also: ALSO,
  slow: SLOW_THREAD,
});

/** What Society's server can't do. */
const SERVER_EXCEPT: Readonly<Record<string, string>> = {
  chunks: 'has no streams',
  question: 'has no questions',
  approval: 'has no questions',
  parts: 'returns text only',
  cancel: 'has no cancel',
  unknown: 'has no get',
  list: 'has no list',
  restart: 'has no get',
};

describeServer({
  title: 'Society 0.3.0 (player)',
  command: nodeCommand(fileURLToPath(new URL('server.ts', import.meta.url))),
  except: SERVER_EXCEPT,
});

describeLong();
