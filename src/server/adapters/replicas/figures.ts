import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminReplica } from '#protocol';
import { isObject } from '#protocol';
import type { ReplicaAddress } from '../../../engine/adapters/postgres.ts';
import { METRICS } from '../../observability/metric-table.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Links } from './link-client.ts';
import { FIGURES } from './link-wire.ts';

/** The counts that operators see. */
type ShownFigures = Required<Pick<AdminReplica, 'forwards' | 'takeovers'>>;

/** What a replica counts about itself, for metrics and for operators. */
export interface ReplicaFigures {
  /** Counts a request that another replica was to answer. */
  readonly forwarded: (outcome: string) => void;
  readonly takenOver: () => void;
  shown(): ShownFigures;
}

export function replicaFigures(metrics: Metrics): ReplicaFigures {
  const [forwarded, takenOver] = [metrics.counter(METRICS.replicaForwards), metrics.counter(METRICS.replicaTakeovers)];
  let [forwards, takeovers] = [0, 0];
  return {
    forwarded: (outcome) => {
      forwards += 1;
      forwarded.add([outcome]);
    },
    takenOver: () => {
      takeovers += 1;
      takenOver.add([]);
    },
    shown: () => ({ forwards, takeovers }),
  };
}

/** A replica that does not answer in this time is shown without its figures. */
const ASK_MS_MAX = 1000;

/** Asks another replica for its figures. Undefined: it does not answer. */
export async function figuresOf(links: Pick<Links, 'request'>, to: ReplicaAddress): Promise<ShownFigures | undefined> {
  return await Promise.race([asked(links, to).catch(() => undefined), sleep(ASK_MS_MAX, undefined, { ref: false })]);
}

async function asked(links: Pick<Links, 'request'>, to: ReplicaAddress): Promise<ShownFigures | undefined> {
  const stream = await links.request(to, { ':method': 'GET', ':path': '/', [FIGURES]: '1' });
  const signal = AbortSignal.timeout(ASK_MS_MAX);
  const [headers] = (await once(stream.end(), 'response', { signal })) as [Record<string, unknown>];
  stream.close();
  const told: unknown = JSON.parse(String(headers[FIGURES]));
  if (!isObject(told)) return undefined;
  const { forwards, takeovers } = told;
  return typeof forwards === 'number' && typeof takeovers === 'number' ? { forwards, takeovers } : undefined;
}
