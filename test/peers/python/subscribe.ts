import assert from 'node:assert/strict';
import { run } from '../../cli/run.ts';
import type { Conversation } from '../conversations.ts';
import { must } from '../conversations.ts';

/** Its server refuses to subscribe to a finished task with -32602. */
export const CANCELED: Conversation = {
  id: 'subscribe-canceled',
  title: '`parley task subscribe` shows a canceled task',
  run: async (talk, { url = '' }) => {
    const { taskId } = await talk.begin({ text: 'work' });
    const id = must(taskId, 'the stream names its task');
    await talk.cancel(id);
    const { code, out, err } = await run(['task', 'subscribe', '-a', url, id, '--a2a-version', '0.3']);
    assert.equal(code, 0, err);
    assert.match(out, /^State: CANCELED$/m);
  },
};
