import assert from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import { listen } from '../support/listen.ts';
import type { Conversation } from './conversations.ts';
import { must, whole } from './conversations.ts';
import type { SdkTalk } from './driver.ts';
import type { Talk } from './talk.ts';

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

/** Every SDK can pass on that an agent needs a credential of another service. */
export const SIGN_IN: Conversation = {
  id: 'sign-in',
  title: 'a task that waits until its caller has signed in, and then continues',
  run: async (talk) => {
    const { taskId, contextId } = await toldToSignIn(talk);
    const done = await talk.send({ text: 'done', taskId, contextId });
    assert.equal(done.state, 'completed');
    assert.equal(done.taskId, taskId);
    assert.match(whole(done), /You chose done\.$/);
  },
};

/** For servers that take no message until the agent has got the credential another way. */
export const SIGN_IN_WANTED: Conversation = {
  id: 'sign-in-wanted',
  title: 'a task that waits until its caller has signed in',
  run: async (talk) => {
    const { taskId } = await toldToSignIn(talk);
    assert.equal((await talk.get(taskId)).state, 'auth-required');
  },
};

async function toldToSignIn(talk: Talk): Promise<{ readonly taskId: string; readonly contextId: string }> {
  const asked = await talk.send({ text: 'sign-in' });
  assert.equal(asked.state, 'auth-required');
  assert.equal(asked.note, 'Sign in first.');
  return { taskId: must(asked.taskId, 'the answer is a task'), contextId: must(asked.contextId, 'the task has a context') };
}

/** What SDKs have, and the clients of products and frameworks do not. */
export const SDK_CONVERSATIONS: readonly Conversation<SdkTalk>[] = [SUBSCRIBE, PUSH, SIGN_IN];
