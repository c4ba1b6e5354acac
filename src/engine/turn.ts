import type { Message, Task, Turn } from '#protocol';
import { A2AError, LET_GO } from '#protocol';
import type { Core } from './core.ts';
import { append } from './core.ts';
import type { Live, Run } from './live.ts';
import { signalOf } from './live.ts';
import { statusEvent } from './outputs.ts';
import type { Sight } from './read.ts';
import { foldStored } from './read.ts';
import type { Answered, Past } from './replay.ts';
import { isSameQuestion } from './replay.ts';
import { letGo } from './stopping.ts';

interface TurnOf {
  readonly past: Past;
  readonly sight: Sight;
  readonly conversation: unknown;
}

export function makeTurn(core: Core, live: Live, run: Run, { past, sight, conversation }: TurnOf): Turn {
  const { input } = past;
  const answers = [...past.answers];
  return {
    message: input.message,
    task: sight.task,
    contextId: live.row.contextId,
    history: sight.history,
    principal: input.principal,
    conversation,
    acceptedOutputModes: input.modes,
    attempt: live.row.attempt,
    get signal() {
      return signalOf(run);
    },
    ask: (question) => ask(core, live, run, { question, answers }),
    durable: () => core.writer.settled('run'),
    hasNext: () => run.queue.length > 0,
    before: () => taskBefore(core, live),
  };
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
}

/** The task waits as input-required while the run stays alive; the next message to the task is the answer. */
async function ask(core: Core, live: Live, run: Run, { question, answers }: Asking): Promise<Message> {
  if (live.run !== run || run.isOver) throw run.why ?? new A2AError('INVALID_AGENT_RESPONSE', 'the turn is over');
  if (run.answer !== undefined) throw new A2AError('INVALID_AGENT_RESPONSE', 'a run can ask one question at a time');
  // A repeated run that asks the same question again has its answer. Another question is another matter: a yes is never reused.
  const known = answers.shift();
  if (known !== undefined && isSameQuestion(known.question, question)) return known.answer;
  answers.length = 0;
  // It got this far: whatever ends the process from here on, this turn is not what kills it each time.
  live.row.attempt = 1;
  append(core, live, statusEvent(core, live, 'TASK_STATE_INPUT_REQUIRED', { message: question }));
  const answer = waitForAnswer(core, run);
  // The server is going down: the question stands, and whoever answers it after the next start starts the run again.
  if (core.phase === 'closed') letGo(core, live, LET_GO);
  return answer;
}

/** Somebody who waits for a person holds no place among those that work. */
function waitForAnswer(core: Core, run: Run): Promise<Message> {
  const signal = signalOf(run);
  run.askedAt = core.ticks();
  if (run.hasPlace) {
    run.hasPlace = false;
    core.slots.free();
  }
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    run.answer = (message) => {
      run.answer = undefined;
      signal.removeEventListener('abort', stop);
      run.startedAt += core.ticks() - run.askedAt;
      run.hasPlace = true;
      core.slots.retake();
      resolve(message);
    };
  });
}
