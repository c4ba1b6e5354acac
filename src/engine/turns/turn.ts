import type { Message, Mutable, Task, Turn } from '#protocol';
import { A2AError, LET_GO } from '#protocol';
import { readConversation } from '../read/conversation.ts';
import type { TurnView } from '../read/fold.ts';
import { foldStored } from '../read/fold.ts';
import type { AnsweredQuestion, InterruptedTurn } from '../read/replay.ts';
import { isSameQuestion } from '../read/replay.ts';
import type { LiveTask } from '../tasks/live-task.ts';
import type { AgentRun } from './agent-run.ts';
import { freeSlot, signalOf } from './agent-run.ts';
import type { TurnParts } from './parts.ts';
import { detachRun } from './stop.ts';
import { patiently } from './store-patience.ts';

interface TurnContent {
  readonly past: InterruptedTurn;
  readonly view: TurnView;
  readonly opened: unknown;
}

/** The turn as the agent gets it. */
export function makeTurn(parts: TurnParts, task: LiveTask, run: AgentRun, { past, view, opened }: TurnContent): Turn {
  const { input } = past;
  const answers = [...past.answers];
  const turn: Mutable<Turn> = {
    message: input.message,
    task: view.task,
    contextId: task.row.contextId,
    history: view.history,
    principal: input.principal,
    opened,
    acceptedOutputModes: input.modes,
    attempt: task.row.attempt,
    // Not a getter: a computed member costs ten times as much as the signal itself.
    signal: signalOf(run),
    ask: (question, options) => ask(parts, task, run, { question, answers, withdrawal: options?.signal }),
    durable: () => durable(parts, run),
    hasNext: () => run.queue.length > 0,
    before: async () => patiently(parts, { task, run }, () => taskBefore(parts, task)),
    conversation: async (range) => patiently(parts, { task, run }, () => readConversation(parts, { ...task.row, current: task }, range)),
  };
  if (input.trace !== undefined) turn.trace = input.trace;
  return turn;
}

/** Rejects as soon as the run is stopped: another run may work on the turn by then, and this one must not act. */
async function durable({ commits }: TurnParts, run: AgentRun): Promise<void> {
  const signal = signalOf(run);
  signal.throwIfAborted();
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([commits.settled('run'), stopped.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function taskBefore(parts: TurnParts, { row }: LiveTask): Promise<Task | undefined> {
  const { owner, agent, contextId, key } = row;
  const newest = await parts.store.list({ owner, agent, contextId, limit: 2 });
  const earlier = newest.find((other) => other.key !== key);
  return earlier === undefined
    ? undefined
    : await foldStored(parts, { key: earlier.key, last: earlier.last, bytes: earlier.bytes, only: 'words' });
}

interface Question {
  readonly question: Message;
  readonly answers: AnsweredQuestion[];
  readonly withdrawal: AbortSignal | undefined;
}

/** The task becomes input-required while the run stays alive. The next message to the task is the answer. */
async function ask(parts: TurnParts, task: LiveTask, run: AgentRun, { question, answers, withdrawal }: Question): Promise<Message> {
  withdrawal?.throwIfAborted();
  if (task.run !== run || run.isOver) throw run.stopReason ?? new A2AError('INVALID_AGENT_RESPONSE', 'the turn is over');
  if (run.answer !== undefined) throw new A2AError('INVALID_AGENT_RESPONSE', 'a run can ask one question at a time');
  // A repeated run that asks the same question gets the recorded answer. A different question needs a new answer: an approval is never reused.
  const known = answers.shift();
  if (known !== undefined && isSameQuestion(known.question, question)) return known.answer;
  answers.length = 0;
  // The run reached a question, so this turn does not crash the process each time: count its attempts anew.
  task.setAttempt(1);
  task.appendStatus('TASK_STATE_INPUT_REQUIRED', { message: question });
  const answer = waitForAnswer(parts, task, { run, withdrawal });
  // During shutdown the question stays open. The answer after the next start starts the run again.
  if (parts.lifecycle.phase === 'closed') detachRun(parts, task, LET_GO);
  return answer;
}

interface Asking {
  readonly run: AgentRun;
  readonly withdrawal: AbortSignal | undefined;
}

/** A run that waits for its caller occupies no slot and does not count against the caller's quota. */
function waitForAnswer({ clock, quotas, slots }: TurnParts, task: LiveTask, { run, withdrawal }: Asking): Promise<Message> {
  const signal = signalOf(run);
  run.askedAt = clock.ticks();
  quotas.remove(task, run);
  freeSlot(slots, run);
  return new Promise((resolve, reject) => {
    const goOn = (): void => {
      run.answer = undefined;
      signal.removeEventListener('abort', stop);
      withdrawal?.removeEventListener('abort', withdraw);
      run.startedAt += clock.ticks() - run.askedAt;
      run.hasSlot = true;
      slots.retake();
      quotas.add(task, run);
    };
    const stop = (): void => {
      withdrawal?.removeEventListener('abort', withdraw);
      reject(signal.reason);
    };
    const withdraw = (): void => {
      goOn();
      task.appendStatus('TASK_STATE_WORKING');
      reject(withdrawal?.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    withdrawal?.addEventListener('abort', withdraw, { once: true });
    const answer = (message: Message): void => {
      goOn();
      resolve(message);
    };
    run.answer = answer;
  });
}
