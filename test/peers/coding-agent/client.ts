import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Conversation } from '../conversations.ts';
import { BY_CONTEXT, must, whole } from '../conversations.ts';
import type { KindResult } from '../js/replies.ts';
import { kindMessage, kindReply } from '../js/replies.ts';
import type { Reply, Say, Talk } from '../talk.ts';
import { PeerError } from '../talk.ts';

/** A person with curl, who types what coding-agent-a2a's reference shows (A2A 0.3 with `taskId`). */
export interface CurlTalk extends Talk {
  readonly card: () => Promise<Readonly<Record<string, unknown>>>;
  /** Reads a stream event by event, and stops reading with `close`. */
  readonly follow: (message: Say, on: (reply: Reply) => void) => Promise<void>;
}

export function curlTalk(base: string): CurlTalk {
  const running = new Set<ChildProcess>();
  const url = `${base}/a2a/jsonrpc`;
  const curl = (...args: readonly string[]): ChildProcess => {
    const child = spawn('curl', ['-s', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    running.add(child);
    child.on('close', () => running.delete(child));
    return child;
  };
  const post = (method: string, params: object): readonly string[] => [
    ...['-X', 'POST', url, '-H', 'Content-Type: application/json'],
    ...['-d', JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })],
  ];
  const call = async (method: string, params: object): Promise<KindResult> => resultOf(await textOf(curl(...post(method, params))));
  const follow = async (say: Say, on: (reply: Reply, child: ChildProcess) => void): Promise<void> => {
    const child = curl('-N', ...post('message/stream', paramsOf(say)), '-H', 'Accept: text/event-stream');
    if (child.stdout === null) throw new Error('curl has no output');
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('data: ')) on(kindReply(resultOf(line.slice('data: '.length))), child);
    }
  };
  return {
    joinsText: true,
    card: async () => JSON.parse(await textOf(curl(`${base}/.well-known/agent-card.json`))) as Readonly<Record<string, unknown>>,
    follow,
    send: async (say) => kindReply(await call('message/send', { ...paramsOf(say), configuration: { blocking: true } })),
    stream: async (say) => {
      const seen: Reply[] = [];
      await follow(say, (reply) => seen.push(reply));
      return seen;
    },
    begin: (say) =>
      new Promise<Reply>((resolve, reject) => {
        follow(say, (reply, child) => {
          if (reply.taskId === undefined) return;
          resolve(reply);
          child.kill();
        }).catch(reject);
      }),
    get: async (taskId) => kindReply(await call('tasks/get', { taskId })),
    cancel: async (taskId) => kindReply(await call('tasks/cancel', { taskId })),
    close: async () => {
      for (const child of running) child.kill();
    },
  };
}

function paramsOf(say: Say): { readonly message: object } {
  return kindMessage(say) as { readonly message: object };
}

async function textOf(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout ?? []) text += String(chunk);
  return text;
}

function resultOf(text: string): KindResult {
  const { result, error } = JSON.parse(text) as { result: KindResult; error?: { message: string; code: number } };
  if (error !== undefined) throw new PeerError(error.message, error.code);
  return result;
}

export const ALSO: readonly Conversation<CurlTalk>[] = [
  BY_CONTEXT,
  {
    id: 'coding-card',
    title: 'the card names the address of its JSON-RPC calls and streams',
    run: async (talk) => {
      const card = await talk.card();
      assert.deepEqual([card['protocolVersion'], (card['capabilities'] as { streaming?: boolean }).streaming], ['0.3.0', true]);
    },
  },
  {
    id: 'coding-cancel-twice',
    title: 'a cancel of a finished task changes nothing',
    run: async (talk) => {
      const done = await talk.send({ text: 'hello' });
      assert.equal((await talk.cancel(must(done.taskId, 'the answer is a task'))).state, 'completed');
    },
  },
  {
    id: 'coding-approval',
    title: 'an approval answered by context alone, in the middle of a stream that stays open until the work is done',
    run: async (talk) => {
      const seen: Reply[] = [];
      let answered: Promise<Reply> | undefined;
      await talk.follow({ text: 'approve' }, (reply) => {
        seen.push(reply);
        if (reply.state !== 'input-required') return;
        answered ??= talk.send({ text: 'allow', contextId: must(reply.contextId, 'the question has a context') });
      });
      assert.equal((await must(answered, 'the stream shows the question')).state, 'completed');
      assert.match(seen.map(whole).join(''), /before after allow$/);
      assert.equal(seen.at(-1)?.state, 'completed');
    },
  },
];
