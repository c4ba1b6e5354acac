import type { DeliveryOutcome, WebhookSender } from '#engine';
import type { SimulatedProcess } from './process.ts';
import { WORLD } from './scheduler.ts';
import type { SimulatedWorld } from './world.ts';

/** The receiver of all webhooks. */
export class SimulatedReceiver {
  readonly #world: SimulatedWorld;
  /** Events that arrived, by task: their sequence numbers. */
  readonly received: Map<string, Set<number>> = new Map();
  /** Deliveries that were refused once. */
  readonly #failed = new Set<string>();

  constructor(world: SimulatedWorld) {
    this.#world = world;
  }

  senderOf(process: SimulatedProcess): WebhookSender {
    const { scheduler, random, checker } = this.#world;
    return {
      check: async () => {},
      send: async ({ id }, signal) => {
        const [, task = '', , seq = ''] = id.split('_');
        const isStored = (checker.histories.get(task)?.entries.length ?? 0) >= Number(seq);
        checker.findings.check(
          'durable-before-shown',
          isStored,
          () => `event ${seq} of task ${task} went to its webhook, and is not stored`,
        );
        const outcome = await new Promise<DeliveryOutcome>((resolve) => {
          scheduler.later(WORLD, random.whole(1, 20), `webhook ${id}`, () => {
            const answer = this.#receive(id, task, Number(seq));
            scheduler.later(process, random.whole(1, 20), 'webhook answer', () => resolve(answer));
          });
        });
        signal.throwIfAborted();
        return outcome;
      },
    };
  }

  #receive(id: string, task: string, seq: number): DeliveryOutcome {
    if (!this.#failed.has(id) && this.#world.random.chance(0.1)) {
      this.#failed.add(id);
      return { kind: 'failed', problem: 'HTTP 503' };
    }
    const events = this.received.get(task) ?? new Set();
    this.received.set(task, events.add(seq));
    return { kind: 'delivered' };
  }
}
