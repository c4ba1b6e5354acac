import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { grpcClient } from '../../support/grpc.ts';
import { chunksText, freshName, getTask, pause, textOf } from '../client.ts';
import type { Job } from '../ledger.ts';
import { newJob, seenOf, work } from '../ledger.ts';
import type { Caller } from './callers.ts';
import { answerQuestion, cancelRun, persist, Refused, sendByRpc, sendHooked, sendNamed, streamOld } from './callers.ts';
import { Journal } from './journal.ts';

/** What callers do. `send`, `stream` and `poll` are 1.0 over HTTP+JSON; `rpc` is 1.0 over JSON-RPC, `old` 0.3 and `named` 0.1. */
export type Kind = Job['kind'] | 'rpc' | 'named' | 'old' | 'ask' | 'cancel' | 'hook' | 'grpc';

export const MIXED: readonly Kind[] = ['send', 'stream', 'stream', 'poll', 'rpc', 'named', 'old', 'ask', 'cancel', 'hook', 'grpc'];

export interface LoadOptions {
  readonly front: () => string;
  /** A node that callers of gRPC reach: the nginx of the guide has no gRPC. Absent: nobody calls by gRPC. */
  readonly grpcPort?: () => number;
  readonly kinds?: readonly Kind[];
  /** Default: a minute. */
  readonly patienceMs?: number;
}

export interface Load {
  readonly journal: Journal;
  /** Resolves when this many more jobs are done. */
  more(jobs: number): Promise<void>;
  /** Resolves when all callers have ended. */
  stop(): Promise<void>;
}

/** A send, stream or poll of the ledger, continued after each fault, and read again when it is done. */
async function keepLedger(caller: Caller, kind: Job['kind']): Promise<void> {
  const job: Job = { ...newJob(kind), name: freshName(`job-${kind}`) };
  await persist(caller, async () => {
    await Promise.race([work(caller.front(), caller.journal.ledger, job), silence()]).catch((thrown: unknown) => {
      const text = String(thrown instanceof Error ? thrown.message : thrown);
      if (/^50[234] |ended before its task|reports an error.*(?:-31503|UNAVAILABLE|unavailable)/s.test(text))
        throw new Refused(text.slice(0, 60));
      throw thrown;
    });
  });
  if (job.taskId === undefined) return;
  const id = job.taskId;
  const read = await persist(caller, () => getTask(caller.front(), id).catch((thrown: unknown) => Promise.reject(refusedIf503(thrown))));
  seenOf(caller.journal.ledger, id).answers.push(read);
  if (read.status.state !== 'TASK_STATE_COMPLETED') throw new Error(`${id} was finished, and a get shows ${read.status.state}`);
}

const SILENT_MS_MAX = 20_000;

/** Rejects after a time in which every request should have been answered. */
async function silence(): Promise<never> {
  await sleep(SILENT_MS_MAX, undefined, { ref: false });
  throw new Refused('no answer');
}

function refusedIf503(thrown: unknown): unknown {
  return thrown instanceof Error && /^50[234] /.test(thrown.message) ? new Refused(thrown.message.slice(0, 60)) : thrown;
}

/** A blocking send by gRPC, straight to a node, without a key. */
async function sendByGrpc(caller: Caller, port: () => number): Promise<void> {
  const [name, chunks] = [freshName('job-grpc'), 1 + Math.floor(Math.random() * 5)];
  const message = { messageId: name, contextId: name, role: 'ROLE_USER', parts: [{ text: `chunks=${chunks}` }] };
  const task = await persist(caller, async () => {
    const client = grpcClient(port());
    try {
      return (await client.call('send', { message } as never, { timeoutMs: 20_000 })).task;
    } catch (thrown) {
      // UNAVAILABLE, CANCELLED and DEADLINE_EXCEEDED.
      const code = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined;
      if (code === 14 || code === 1 || code === 4) throw new Refused(`gRPC ${code}`);
      throw thrown;
    } finally {
      client.close();
    }
  });
  const text = task === undefined ? '' : textOf(task);
  if (task === undefined || text !== chunksText(chunks)) throw new Error(`${name}: gRPC answered ${text}`);
  caller.journal.facts.push({ id: task.id, state: task.status.state, text });
}

/** Callers that work until they are stopped. */
export function startLoad({ front, grpcPort, kinds = MIXED, patienceMs = 60_000 }: LoadOptions): Load {
  const journal = new Journal();
  const caller: Caller = { journal, front, patienceMs };
  const jobs: Readonly<Record<Exclude<Kind, Job['kind']>, (() => Promise<void>) | undefined>> = {
    rpc: () => sendByRpc(caller),
    named: () => sendNamed(caller),
    old: () => streamOld(caller),
    ask: () => answerQuestion(caller),
    cancel: () => cancelRun(caller),
    hook: () => sendHooked(caller),
    grpc: grpcPort === undefined ? undefined : () => sendByGrpc(caller, grpcPort),
  };
  const jobOf = (kind: Kind): (() => Promise<void>) | undefined =>
    kind === 'send' || kind === 'stream' || kind === 'poll' ? () => keepLedger(caller, kind) : jobs[kind];
  let isOver = false;
  const workOn = async (kind: Kind): Promise<void> => {
    const job = jobOf(kind);
    while (!isOver && job !== undefined) {
      await job().then(
        () => journal.finished(kind),
        (thrown: unknown) => void journal.broken.push(`${kind}: ${String(thrown)}`),
      );
      // Two cores run the database, the nodes, nginx and the callers.
      await pause(5);
    }
  };
  const working = Promise.all(kinds.map(workOn));
  return {
    journal,
    more: async (count) => {
      const before = journal.jobs + journal.broken.length;
      await eventually(() => journal.jobs + journal.broken.length >= before + count, 120_000);
    },
    stop: async () => {
      isOver = true;
      await working;
    },
  };
}
