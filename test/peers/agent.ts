import { type Agent, ask, auth, defineAgent, fail } from 'parley-a2a/agents';

/** The word that each context asked the agent to remember. The process lives as long as the conversation. */
const remembered = new Map<string, string>();

/**
 * The agent that every peer talks to. The first word of a message says what it does; the peers' own servers
 * (`test/peers/<peer>/`) answer to the same words.
 */
const agent: Agent = defineAgent({
  name: 'peer-test',
  description: 'Does what the conversations of test/peers need.',
  recovery: 'retry',
  inputModes: ['*/*'],
  outputModes: ['*/*'],
  async *run(turn) {
    // A language model that delegates puts its instructions before the task.
    const said = turn.text.trim().split('\n').at(-1) ?? '';
    const [word = '', rest = ''] = said.split(/\s+(.*)/s);
    switch (word) {
      case 'chunks':
        for (let at = 1; at <= Number(rest); at += 1) yield `${at} `;
        return;
      case 'remember':
        remembered.set(turn.contextId, rest);
        return yield `I will remember ${rest}.`;
      case 'recall':
        return yield remembered.get(turn.contextId) ?? 'nothing';
      case 'question':
        return yield ask('Which color?');
      case 'sign-in':
        return yield auth('Sign in first.');
      case 'approve': {
        yield 'before ';
        const { option } = await turn.ask('Delete 3 files?', { options: OPTIONS });
        return yield `after ${option}`;
      }
      case 'parts':
        return yield turn.parts.filter((part) => part.text === undefined);
      case 'slow':
        await wait(Number(rest) * 1000, turn.signal);
        return yield `waited ${rest} s`;
      case 'work':
        for (let at = 1; at <= 600; at += 1) {
          yield `${at} `;
          await wait(100, turn.signal);
        }
        return;
      case 'fail':
        return yield fail('it broke');
      default:
        return yield turn.history.length > 0 ? `You chose ${said}.` : `echo: ${said}`;
    }
  },
});

const OPTIONS = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'deny', name: 'Deny', kind: 'reject_once' },
] as const;

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

export default agent;
