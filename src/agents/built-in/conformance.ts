import type { Agent, AgentOutput, Turn } from '#protocol';
import { createCard } from '../card.ts';
import { complete } from '../outputs.ts';
import type { Scenario } from './scenarios.ts';
import { ACTS_SCENARIOS, TCK_SCENARIOS } from './scenarios.ts';

/**
 * Profiles of the conformance agent. `full` declares streaming and webhooks, `basic` declares neither.
 * The other two are `full` with an extended card, or with an extension that callers must activate.
 */
export const CONFORMANCE_PROFILES = ['full', 'basic', 'extended-card', 'required-extension'] as const;
/** One of `CONFORMANCE_PROFILES`. */
export type ConformanceProfile = (typeof CONFORMANCE_PROFILES)[number];

/** Options of the conformance agent. */
export interface ConformanceOptions {
  /** Default `full`. */
  readonly profile?: ConformanceProfile;
  /**
   * Accepted besides text/plain: the official kit may send a type of its own and expects it to be
   * accepted.
   */
  readonly inputModes?: readonly string[];
}

const REQUIRED_EXTENSION = 'urn:a2a:tck:required-extension';

/**
 * The behaviour that conformance kits expect of an agent under test. The official kit selects it by the
 * messageId, the ACTS draft by the first word.
 */
export function createConformance({ profile = 'full', inputModes = [] }: ConformanceOptions = {}): Agent {
  const isOn = profile !== 'basic';
  const hasExtendedCard = profile === 'extended-card';
  const card = createCard({
    name: 'conformance',
    description: 'Behaves as conformance kits tell it to.',
    skills: [
      {
        id: 'conformance',
        name: 'Conformance scenarios',
        description: 'One scenario for each messageId prefix of the official kit, and for each first word of the ACTS draft.',
        tags: ['conformance', 'test'],
        examples: ['tck-complete-task'],
      },
    ],
    capabilities: {
      streaming: isOn,
      pushNotifications: isOn,
      extendedAgentCard: hasExtendedCard,
      ...(profile === 'required-extension' ? { extensions: [{ uri: REQUIRED_EXTENSION, required: true }] } : {}),
    },
    inputModes: ['text/plain', ...inputModes],
    outputModes: ['text/plain', 'application/json'],
  });
  return {
    card,
    recovery: 'retry',
    repeats: 'anew', // kits reuse the same few ids, and drop streams early
    run,
    ...(hasExtendedCard ? { extendedCard: async () => card } : {}),
  };
}

function run(turn: Turn): AsyncIterable<AgentOutput> {
  return (scenarioOf(turn) ?? otherwise)(turn);
}

/**
 * Uses the message's own text and id, then those of the message that started the task: a follow-up of
 * ACTS has no behaviour word, and one of the official kit has its own prefix.
 */
function scenarioOf(turn: Turn): Scenario | undefined {
  const [first = turn.message] = turn.history;
  for (const message of [turn.message, first]) {
    const word = message.parts[0]?.text?.trimStart().split(/\s/, 1)[0] ?? '';
    const found = ACTS_SCENARIOS.get(word) ?? byPrefix(message.messageId);
    if (found !== undefined) return found;
  }
  return undefined;
}

const LONGEST_FIRST = [...TCK_SCENARIOS].sort(([left], [right]) => right.length - left.length);

function byPrefix(messageId: string): Scenario | undefined {
  return LONGEST_FIRST.find(([prefix]) => messageId.startsWith(prefix))?.[1];
}

async function* otherwise(): AsyncGenerator<AgentOutput> {
  yield complete('Done.');
}
