import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('card-probe.ts', import.meta.url));

/** Requests the agent card of a server, from a process of its own. */
export interface CardProbe {
  /** Returns how long each response took, in milliseconds. */
  stop(): Promise<readonly number[]>;
}

/** Resolves when the first card has come. */
export async function startCardProbe(url: string): Promise<CardProbe> {
  const child = fork(PROGRAM, [`${url}/.well-known/agent-card.json`]);
  await messageOf(child);
  return {
    stop: () => {
      child.send('stop');
      return messageOf(child);
    },
  };
}

async function messageOf(child: ChildProcess): Promise<readonly number[]> {
  const [message] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the probe ended'))),
  ]);
  return message;
}
