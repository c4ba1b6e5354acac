import type { ReplicaAddress } from '../../../engine/adapters/postgres.ts';
import type { Links } from './link-client.ts';
import { REACHED } from './link-wire.ts';

/** Reports to the owners of forwarded sends that their callers have got the responses. A report that is lost is harmless: a repetition gets the same task. */
export interface DeliveryReports {
  /** The caller has the whole response to the request of this key. */
  add(owner: ReplicaAddress, key: string): void;
  /** The keys that the next request to the owner has to report. */
  take(owner: ReplicaAddress): readonly string[];
  /** The same as headers. */
  headers(owner: ReplicaAddress): Readonly<Record<string, string>>;
}

/** A report without a request costs both replicas as much as a small request, so it waits this long for one. */
const WAIT_MS = 20;
/** Keys in one report: about 4 kB. */
const KEYS_MAX = 100;

interface Waiting {
  readonly keys: string[];
  readonly timer: NodeJS.Timeout;
}

export function createDeliveryReports(links: Pick<Links, 'request'>): DeliveryReports {
  const waiting = new Map<string, Waiting>();
  const take = ({ publicKey }: ReplicaAddress): readonly string[] => {
    const found = waiting.get(publicKey);
    if (found === undefined) return [];
    waiting.delete(publicKey);
    clearTimeout(found.timer);
    return found.keys;
  };
  const headers = (owner: ReplicaAddress): Readonly<Record<string, string>> => {
    const keys = take(owner);
    return keys.length === 0 ? {} : { [REACHED]: keys.join() };
  };
  const send = async (owner: ReplicaAddress): Promise<void> => {
    const head = { ':method': 'POST', ':path': '/', ':authority': 'replica', ':scheme': 'http', ...headers(owner) };
    const stream = await links.request(owner, head);
    stream.on('error', () => {}).resume();
    stream.end();
  };
  const sendNow = (owner: ReplicaAddress): void => void send(owner).catch(() => {});
  return {
    take,
    headers,
    add: (owner, key) => {
      const known = waiting.get(owner.publicKey);
      const keys = known?.keys ?? [];
      keys.push(key);
      if (known === undefined) waiting.set(owner.publicKey, { keys, timer: setTimeout(() => sendNow(owner), WAIT_MS).unref() });
      else if (keys.length >= KEYS_MAX) sendNow(owner);
    },
  };
}
