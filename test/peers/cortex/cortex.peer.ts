import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { fieldOf, run } from '../../cli/run.ts';
import type { Conversation } from '../conversations.ts';
import { whole } from '../conversations.ts';
import { describeClient, describeLong, describeServer, nodeCommand } from '../suite.ts';
import { ALSO, cortexTalk, EXCEPT } from './client.ts';
import { player, sendDirective } from './player.ts';
import { denoCommand, isProgramThere, programApi } from './program.ts';
import { describeSwarm } from './swarm.ts';

describeClient({ title: 'CortexPrism 0c44657 (player)', talk: (url) => cortexTalk(url, player), except: EXCEPT, also: ALSO });

/** What CortexPrism's server can't do. */
const SERVER_EXCEPT: Readonly<Record<string, string>> = {
  memory: 'its tasks name no context',
  question: 'has no questions',
  approval: 'has no questions',
  parts: 'returns text only',
  cancel: 'does not stop the work',
  failure: 'a stream does not say why',
  restart: 'the send that keeps contexts names its task at its end only',
};

const SERVER_ALSO: readonly Conversation[] = [
  {
    id: 'cortex-memory',
    title: 'three turns in a context that the caller names; the last recalls the first',
    run: async (talk) => {
      const contextId = crypto.randomUUID();
      await talk.send({ text: 'remember blue', contextId });
      await talk.send({ text: 'hello again', contextId });
      assert.equal(whole(await talk.send({ text: 'recall', contextId })), 'blue');
    },
  },
  {
    id: 'cortex-failure',
    title: 'an agent that fails',
    run: async (talk) => assert.equal((await talk.send({ text: 'fail' })).state, 'failed'),
  },
  {
    id: 'cortex-command-line',
    title: 'parley send, task list, task get and task cancel read its tasks',
    run: async (_talk, { url = '' }) => {
      const sent = await run(['send', '-a', url, 'hello there']);
      assert.deepEqual([sent.code, fieldOf(sent, 'State')], [0, 'COMPLETED'], sent.err);
      assert.match(sent.out, /echo: hello there/);
      const id = fieldOf(sent, 'Task') ?? '';
      const listed = await run(['task', 'list', '-a', url]);
      assert.ok(listed.out.includes(id), listed.err);
      assert.match((await run(['task', 'get', '-a', url, id])).out, /echo: hello there/);
      // CortexPrism cancels finished tasks, too. A proxy of ours refuses that.
      const canceled = await run(['task', 'cancel', '-a', url, id]);
      assert.match(canceled.out + canceled.err, /CANCELED|TaskNotCancelable/);
    },
  },
];

describeServer({
  title: 'CortexPrism 0c44657 (player)',
  command: nodeCommand(fileURLToPath(new URL('server.ts', import.meta.url))),
  except: SERVER_EXCEPT,
  also: SERVER_ALSO,
});

if (isProgramThere()) {
  describeClient({
    title: 'CortexPrism, its own code under Deno',
    talk: (url) => cortexTalk(url, programApi()),
    except: EXCEPT,
    also: ALSO,
  });
  describeServer({
    title: 'CortexPrism, its own code under Deno',
    command: (port) => [...denoCommand('program-server.ts'), String(port)],
    except: SERVER_EXCEPT,
    also: SERVER_ALSO,
  });
  describeSwarm('CortexPrism, its own swarm under Deno', programApi);
}

describeSwarm('CortexPrism 0c44657, swarm (player)', () => ({ sendDirective }));
describeLong();
