import assert from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import { listen } from '../support/listen.ts';
import type { Conversation } from './conversations.ts';
import { must } from './conversations.ts';
import type { SdkTalk } from './driver.ts';

const SUBSCRIBE: Conversation<SdkTalk> = {
  id: 'subscribe',
  title: 'a subscription to a task that another stream began',
  run: async (talk) => {
    const begun = await talk.begin({ text: 'work' });
    const id = must(begun.taskId, 'the stream names its task');
    const seen = await talk.subscribe(id);
    assert.equal(seen.taskId, id);
    assert.match(seen.texts.join(''), /\d/);
    assert.equal((await talk.cancel(id)).state, 'canceled');
  },
};

const PUSH: Conversation<SdkTalk> = {
  id: 'push',
  title: 'a notification at an address that the client has given',
  run: async (talk) => {
    const heard: string[] = [];
    const hook = await listen(async (request) => {
      heard.push(await request.text());
      return new Response(null, { status: 204 });
    });
    try {
      const asked = await talk.send({ text: 'question' });
      const taskId = must(asked.taskId, 'the question is a task');
      await talk.push(taskId, hook.url);
      await talk.send({ text: 'green', taskId, contextId: must(asked.contextId, 'the question has a context') });
      await eventually(() =>
        assert.ok(
          heard.some((body) => body.includes(taskId) && /completed/i.test(body)),
          'no notification',
        ),
      );
    } finally {
      await hook.close();
    }
  },
};

/** What SDKs have, and the clients of products and frameworks do not. */
export const SDK_CONVERSATIONS: readonly Conversation<SdkTalk>[] = [SUBSCRIBE, PUSH];
