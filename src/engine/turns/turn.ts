import type { Message, Mutable, Task, Turn } from '#protocol';
import { A2AError, LET_GO } from '#protocol';
import type { Sight } from '../read/fold.ts';
import { foldStored } from '../read/fold.ts';
import type { Answered, Past } from '../read/replay.ts';
import { isSameQuestion } from '../read/replay.ts';
import type { Core } from '../tasks/core.ts';
import { append } from '../tasks/core.ts';
import type { Live, Run } from '../tasks/live-task.ts';
import { signalOf } from '../tasks/live-task.ts';
import { statusEvent } from './outputs.ts';
import { letGo } from './stop.ts';

interface TurnOf {
  readonly past: Past;
  readonly sight: Sight;
  readonly conversation: unknown;
}

export function makeTurn(core: Core, live: Live, run: Run, { past, sight, conversation }: TurnOf): Turn {
  const { input } = past;
  const answers = [...past.answers];
  const turn: Mutable<Turn> = {
    message: input.message,
    task: sight.task,
    contextId: live.row.contextId,
    history: sight.history,
    principal: input.principal,
    conversation,
    acceptedOutputModes: input.modes,
    attempt: live.row.attempt,
    // Not made when it is looked at: a member that has to be computed costs ten times what a signal does.
    signal: signalOf(run),
    ask: (question, options) => ask(core, live, run, { question, answers, withdrawal: options?.signal }),
    durable: () => core.writer.settled('run'),
    hasNext: () => run.queue.length > 0,
    before: () => taskBefore(core, live),
  };
  if (input.trace !== undefined) turn.trace = input.trace;
  return turn;
}

async function taskBefore(core: Core, { row }: Live): Promise<Task | undefined> {
  const { owner, agent, contextId, key } = row;
  const newest = await core.store.list({ owner, agent, contextId, limit: 2 });
  const earlier = newest.find((other) => other.key !== key);
  return earlier === undefined ? undefined : await foldStored(core, { key: earlier.key, last: earlier.last, only: 'words' });
}

interface Asking {
  readonly question: Message;
  readonly answers: Answered[];
  readonly withdrawal: AbortSignal | undefined;
}

/** The task waits as input-required while the run stays alive; the next message to the task is the answer. */
async function ask(core: Core, live: Live, run: Run, { question, answers, withdrawal }: Asking): Promise<Message> {
  withdrawal?.throwIfAborted();
  if (live.run !== run || run.isOver) throw run.why ?? new A2AError('INVALID_AGENT_RESPONSE', 'the turn is over');
  if (run.answer !== undefined) throw new A2AError('INVALID_AGENT_RESPONSE', 'a run can ask one question at a time');
  // A repeated run that asks the same question again has its answer. Another question is another matter: a yes is never reused.
  const known = answers.shift();
  if (known !== undefined && isSameQuestion(known.question, question)) return known.answer;
  answers.length = 0;
  // It got this far: whatever ends the process from here on, this turn is not what kills it each time.
  live.row.attempt = 1;
  append(core, live, statusEvent(core, live, 'TASK_STATE_INPUT_REQUIRED', { message: question }));
  const answer = waitForAnswer(core, live, run, withdrawal);
  // The server is going down: the question stands, and whoever answers it after the next start starts the run again.
  if (core.phase === 'closed') letGo(core, live, LET_GO);
  return answer;
}

/** Somebody who waits for a person holds no place among those that work. */
function waitForAnswer(core: Core, live: Live, run: Run, withdrawal: AbortSignal | undefined): Promise<Message> {
  const signal = signalOf(run);
  run.askedAt = core.ticks();
  core.quotas.remove(live, run);
  if (run.hasPlace) {
    run.hasPlace = false;
    core.slots.free();
  }
  return new Promise((resolve, reject) => {
    const goOn = (): void => {
      run.answer = undefined;
      signal.removeEventListener('abort', stop);
      withdrawal?.removeEventListener('abort', withdraw);
      run.startedAt += core.ticks() - run.askedAt;
      run.hasPlace = true;
      core.slots.retake();
      core.quotas.add(live, run);
    };
    const stop = (): void => {
      withdrawal?.removeEventListener('abort', withdraw);
      reject(signal.reason);
    };
    const withdraw = (): void => {
      goOn();
      append(core, live, statusEvent(core, live, 'TASK_STATE_WORKING'));
      core.writer.touch(live);
      reject(withdrawal?.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    withdrawal?.addEventListener('abort', withdraw, { once: true });
    run.answer = (message) => {
      goOn();
      resolve(message);
    };
  });
}
