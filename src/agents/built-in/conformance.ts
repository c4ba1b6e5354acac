import type { Agent, AgentOutput, Turn } from '#protocol';
import { createCard } from '../card.ts';
import { ask, complete } from '../outputs.ts';
import type { Scenario } from './scenarios.ts';
import { ACTS_SCENARIOS, TCK_SCENARIOS } from './scenarios.ts';

/**
 * Profiles of the conformance agent. `full` declares streaming and webhooks, and takes text only, as the ACTS draft expects. `basic` declares
 * neither. The others are `full` with a difference: `tck` takes the media type that the official kit calls unsupported and expects to be
 * accepted, `tck-0.3` takes data and leaves tasks open that the kit for 0.3 continues and cancels, `extended-card` has an extended card, and
 * `required-extension` an extension that callers must activate.
 */
export const CONFORMANCE_PROFILES = ['full', 'basic', 'tck', 'tck-0.3', 'extended-card', 'required-extension'] as const;
/** One of `CONFORMANCE_PROFILES`. */
export type ConformanceProfile = (typeof CONFORMANCE_PROFILES)[number];

/** Options of the conformance agent. */
export interface ConformanceOptions {
  /** Default `full`. */
  readonly profile?: ConformanceProfile;
  /** Accepted besides the media types of the profile. */
  readonly inputModes?: readonly string[];
}

/** What a profile accepts besides text/plain. */
const MORE_MODES: Readonly<Partial<Record<ConformanceProfile, readonly string[]>>> = {
  tck: ['application/x-unsupported-tck-type'],
  'tck-0.3': ['application/json', '*/*'],
};

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
    inputModes: ['text/plain', ...(MORE_MODES[profile] ?? []), ...inputModes],
    outputModes: ['text/plain', 'application/json'],
  });
  return {
    card,
    recovery: 'retry',
    repeats: 'anew', // kits reuse the same few ids, and drop streams early
    run: (turn) => (scenarioOf(turn) ?? (profile === 'tck-0.3' ? staysOpen : otherwise))(turn),
    // Kits send no credentials.
    ...(hasExtendedCard ? { extendedCard: async () => card, extendedCardForAll: true as const } : {}),
  };
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

/** The kit for 0.3 continues and cancels tasks that it made with any message. */
async function* staysOpen(): AsyncGenerator<AgentOutput> {
  yield ask('What next?');
}

async function* otherwise(): AsyncGenerator<AgentOutput> {
  yield complete('Done.');
}
