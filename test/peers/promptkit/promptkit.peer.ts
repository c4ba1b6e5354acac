import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import type { Conversation } from '../conversations.ts';
import { must, whole } from '../conversations.ts';
import { describeClient, describeLong, describeServer, nodeCommand } from '../suite.ts';
import { ALSO, promptKitTalk } from './client.ts';
import { PromptKitClient } from './player.ts';
import { isProgramThere, PROGRAM, programClient } from './program.ts';
import { playerTools } from './tools.ts';

describeClient({
  title: 'PromptKit 86d9f367 (player)',
  talk: (url) => promptKitTalk(url, new PromptKitClient(url), playerTools(url)),
  also: ALSO,
});
if (isProgramThere) {
  const open = (url: string) => {
    const client = programClient(url);
    return promptKitTalk(url, client, client.tools);
  };
  describeClient({
    title: 'PromptKit, its own code',
    talk: open,
    except: { 'promptkit-subscribe': 'its client has no subscribe' },
    also: ALSO,
  });
}

/** What PromptKit's server can't do. */
const SERVER_EXCEPT: Readonly<Record<string, string>> = {
  question: 'its questions are calls of client tools',
  approval: 'its questions are calls of client tools',
  chunks: 'keeps no artifacts of a streamed task',
  parts: 'skips data parts',
  restart: 'stops a streamed task whose reader leaves',
};

const SERVER_ALSO: readonly Conversation[] = [
  {
    id: 'promptkit-chunks',
    title: 'chunks with artifact ids of their own read as one text',
    run: async (talk) => {
      const events = await talk.stream({ text: 'chunks 20' });
      assert.equal(events.map(whole).join(''), Array.from({ length: 20 }, (_, at) => `${at + 1} `).join(''));
      assert.equal(events.at(-1)?.state, 'completed');
    },
  },
  {
    id: 'promptkit-question',
    title: 'a client tool that waits is a question, answered by context',
    run: async (talk) => {
      const asked = await talk.send({ text: 'question' });
      assert.equal(asked.state, 'input-required');
      const done = await talk.send({ text: 'green', contextId: must(asked.contextId, 'the question has a context') });
      assert.equal(done.state, 'completed');
      assert.match(whole(done), /You chose green\.$/);
    },
  },
];

/** The mock has rules for texts and one method, and keeps no tasks. */
const MOCK: readonly Conversation[] = [
  {
    id: 'answer',
    title: 'an answer by a rule, and a failure by another',
    run: async (talk) => {
      assert.equal(whole(await talk.send({ text: 'hello there' })), 'echo: hello there');
      const failed = await talk.send({ text: 'something else' });
      assert.deepEqual([failed.state, failed.note], ['failed', 'it broke']);
    },
  },
];

describeServer({
  title: 'PromptKit 86d9f367 (player)',
  command: nodeCommand(fileURLToPath(new URL('server.ts', import.meta.url))),
  except: SERVER_EXCEPT,
  also: SERVER_ALSO,
});

if (isProgramThere) {
  describeServer({
    title: 'PromptKit, its own code',
    command: (port) => [PROGRAM, 'server', String(port)],
    except: SERVER_EXCEPT,
    also: SERVER_ALSO,
  });
  describeServer({
    title: 'PromptKit, its own mock',
    command: (port) => [PROGRAM, 'mock', String(port)],
    conversations: MOCK,
    except: { slow: 'answers at once' },
  });
}

describeLong();
