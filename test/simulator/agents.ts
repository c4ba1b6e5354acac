import type { Agent, AgentCard, AgentOutput, Turn } from '#protocol';
import { createAgentTextMessage, getTextFromMessage, messageId } from '#protocol';
import type { SimulatedProcess } from './process.ts';
import { LEASE_MS } from './settings.ts';
import type { SimulatedWorld } from './world.ts';

export const AGENTS = ['resume', 'retry', 'fail'] as const;
export type AgentName = (typeof AGENTS)[number];

const CARD: AgentCard = {
  name: 'simulated',
  description: 'Follows the script in its message.',
  version: '1',
  supportedInterfaces: [],
  capabilities: { streaming: true, pushNotifications: true },
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
};

/** Runs notice the end of their lease within this time, unless their process is paused. */
const MARGIN_MS = LEASE_MS / 8;

/** The agents of one process, by their recovery. */
export function simulatedAgents(world: SimulatedWorld, process: SimulatedProcess): Readonly<Record<AgentName, Agent>> {
  const agentOf = (recovery: AgentName): Agent => ({ card: CARD, recovery, run: (turn) => run(world, process, { turn, recovery }) });
  return { resume: agentOf('resume'), retry: agentOf('retry'), fail: agentOf('fail') };
}

interface ScriptedTurn {
  readonly turn: Turn;
  readonly recovery: AgentName;
}

/**
 * The message is the script, one letter a step: `c` writes a chunk, `w` works for a long time, `d` waits until all is durable and acts, `q` asks
 * a question, `f` fails, `x` throws.
 */
async function* run(world: SimulatedWorld, process: SimulatedProcess, { turn, recovery }: ScriptedTurn): AsyncGenerator<AgentOutput> {
  const { scheduler, random, checker } = world;
  const { message, task, signal, attempt } = turn;
  const run = checker.runStarted({ process: process.n, task: task.id, message: message.messageId, attempt, recovery });
  const mark = `[${message.messageId} run ${run}]`;
  for (const [at, step] of [...getTextFromMessage(message)].entries()) {
    await scheduler.sleep(process, step === 'w' ? random.whole(100, 2500) : random.whole(0, 40), `step ${step} of run ${run}`);
    if (signal.aborted) throw signal.reason;
    checkLease(world, process, run);
    if (step === 'c') yield { kind: 'text', text: `${mark} ${at}` };
    else if (step === 'd') await durably(world, process, turn);
    else if (step === 'q')
      await turn.ask(createAgentTextMessage(`question ${at}`, { messageId: messageId(`q-${message.messageId}-${at}`) }));
    else if (step === 'f') {
      yield { kind: 'fail', reason: createAgentTextMessage('failed', { messageId: messageId(`f-${message.messageId}`) }) };
      return;
    } else if (step === 'x') throw new Error('the agent throws');
  }
  yield { kind: 'complete' };
}

async function durably({ checker }: SimulatedWorld, process: SimulatedProcess, turn: Turn): Promise<void> {
  const before = checker.heldCount(process.n);
  await turn.durable();
  const isFenced = checker.heldCount(process.n) > before;
  checker.findings.check('no-act-without-lease', isFenced, () => `durable() of task ${turn.task.id} returned without a round trip`);
}

function checkLease({ checker, scheduler }: SimulatedWorld, process: SimulatedProcess, run: number): void {
  const late = scheduler.now - Math.max(checker.leaseEnd(process.n), process.awakeSince);
  checker.findings.check('no-act-without-lease', late <= MARGIN_MS, () => `run ${run} works ${late.toFixed()} ms after its lease`);
}
