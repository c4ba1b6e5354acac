import { eventually } from '../../support/eventually.ts';
import { pause, sendTask } from '../client.ts';
import { followTask, Refused, reach } from './callers.ts';
import type { Fleet, FleetNode } from './fleet.ts';

const CHUNKS = 'chunks=6000 delay=50';

/** A task of a node that is about to die, followed through another node. */
export interface Watched {
  /** Resolves when the next event arrives after now. Returns how long that took, in milliseconds. */
  next(): Promise<number>;
}

/** Starts a long task at `owner`, and a stream of it at another node that is opened again whenever it breaks. */
export async function watchTakeover(fleet: Fleet, owner: FleetNode): Promise<Watched> {
  const { id } = await sendTask(owner.url, CHUNKS, { returnImmediately: true });
  const { url } = fleet.other(owner);
  let [last, isOver]: [number, boolean] = [1, false];
  const follow = async (): Promise<void> => {
    while (!isOver) {
      try {
        for await (const seq of followTask(url, id, last)) {
          last = seq;
          if (isOver) return;
        }
        await pause(20);
      } catch (thrown) {
        if (!(thrown instanceof Refused) && !(thrown instanceof TypeError) && !(thrown instanceof DOMException)) throw thrown;
        await pause(20);
      }
    }
  };
  const following = follow();
  await eventually(() => last >= 3);
  return {
    next: async () => {
      const [began, before] = [performance.now(), last];
      await eventually(() => last > before + 1);
      const took = performance.now() - began;
      isOver = true;
      await following;
      await eventually(() => cancelTask(url, id));
      return took;
    },
  };
}

async function cancelTask(url: string, id: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await reach(`${url}/tasks/${id}:cancel`, { method: 'POST', headers, body: '{}' });
  if (!response.ok) throw new Error(`a cancel was answered with ${response.status} ${await response.text()}`);
}
