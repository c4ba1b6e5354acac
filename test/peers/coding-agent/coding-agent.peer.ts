import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Conversation } from '../conversations.ts';
import { must, whole } from '../conversations.ts';
import { describeClient, describeLong, describeServer, nodeCommand } from '../suite.ts';
import { ALSO, curlTalk } from './client.ts';

describeClient({
  title: 'coding-agent-a2a 0.1.0, curl (player)',
  talk: hasCurl() ? curlTalk : undefined,
  except: { approval: 'its reference has the stream open at an approval' },
  also: ALSO,
  agent: fileURLToPath(new URL('agent.ts', import.meta.url)),
});

/** What coding-agent-a2a's server can't do. */
const SERVER_EXCEPT: Readonly<Record<string, string>> = {
  approval: 'its stream stays open at an approval',
  parts: 'reads text only',
  list: 'not in A2A 0.3',
};

const SERVER_ALSO: readonly Conversation[] = [
  {
    id: 'coding-chunks',
    title: 'an answer of 20 chunks with artifact ids of their own is one text without a stream, too',
    run: async (talk) => {
      const reply = await talk.send({ text: 'chunks 20' });
      assert.deepEqual(reply.texts, [Array.from({ length: 20 }, (_, at) => `${at + 1} `).join('')]);
    },
  },
  {
    id: 'coding-approval',
    title: 'an approval in the middle of a stream that stays open, answered by task id',
    run: async (talk) => {
      const asked = await talk.begin({ text: 'approve' });
      const taskId = must(asked.taskId, 'the stream names its task');
      const context = must(asked.contextId, 'the stream names its context');
      for (;;) if ((await talk.get(taskId)).state === 'input-required') break;
      await talk.send({ text: 'allow', taskId, contextId: context });
      const done = await talk.get(taskId);
      assert.equal(done.state, 'completed');
      assert.match(whole(done), /before after allow/);
    },
  },
];

describeServer({
  title: 'coding-agent-a2a 0.1.0 (player)',
  command: nodeCommand(fileURLToPath(new URL('server.ts', import.meta.url))),
  except: SERVER_EXCEPT,
  also: SERVER_ALSO,
});

describeLong();

function hasCurl(): boolean {
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
