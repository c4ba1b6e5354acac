import { setTimeout as sleep } from 'node:timers/promises';

/** What the test agent can say; each generation of the SDK writes it in its own types. */
export interface Out {
  text(chunk: string, isFirst: boolean): void;
  ask(question: string): void;
  /** Asks the caller to sign in somewhere. Absent: the product can't. */
  signIn?(request: string): void;
  /** Asks in the middle of the run, and resolves with the answer. Absent: the product can't. */
  approve?(question: string): Promise<string>;
  fail(reason: string): void;
  /** Sends the file and data parts of the message back. */
  echo(): void;
  complete(): void;
  canceled(): void;
}

export interface Wanted {
  readonly text: string;
  readonly contextId: string;
  readonly taskId: string;
  readonly isCanceled: () => boolean;
}

const remembered = new Map<string, string>();
const asked = new Set<string>();

/** What the test agent does with a message; `test/peers/agent.ts` answers to the same words. */
export async function behave({ text, contextId, taskId, isCanceled }: Wanted, out: Out): Promise<void> {
  const [word = '', rest = ''] = text.trim().split(/\s+(.*)/s);
  if (asked.delete(taskId)) out.text(`You chose ${text}.`, true);
  else if (word === 'chunks') for (let at = 1; at <= Number(rest); at += 1) out.text(`${at} `, at === 1);
  else if (word === 'remember') {
    remembered.set(contextId, rest);
    out.text(`I will remember ${rest}.`, true);
  } else if (word === 'recall') out.text(remembered.get(contextId) ?? 'nothing', true);
  else if (asksFor(word, out)) {
    asked.add(taskId);
    return;
  } else if (word === 'approve' && out.approve !== undefined) {
    out.text('before ', true);
    out.text(`after ${await out.approve('Delete 3 files?')}`, false);
  } else if (word === 'parts') out.echo();
  else if (word === 'fail') return out.fail('it broke');
  else if (word === 'slow') {
    await sleep(Number(rest) * 1000);
    out.text(`waited ${rest} s`, true);
  } else if (word === 'work') {
    for (let at = 1; at <= 600 && !isCanceled(); at += 1) {
      out.text(`${at} `, at === 1);
      await sleep(100);
    }
    if (isCanceled()) return out.canceled();
  } else out.text(`echo: ${text}`, true);
  out.complete();
}

/** Asks the caller for something, if the word says so. The task then waits for its next message. */
function asksFor(word: string, out: Out): boolean {
  if (word === 'question') out.ask('Which color?');
  else if (word === 'sign-in') out.signIn?.('Sign in first.');
  else return false;
  return true;
}
