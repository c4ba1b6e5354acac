import { runLoad, startIdsAt } from '../load.ts';
import type { ChildLoad } from './load-process.ts';

// A client process: it runs the load that it is sent, and sends back what it measured.
process.on('message', ({ firstId, ...load }: ChildLoad) => {
  startIdsAt(firstId);
  runLoad(load).then(
    (loaded) => process.send?.(loaded),
    (thrown: unknown) => process.send?.({ error: thrown instanceof Error ? thrown.message : String(thrown) }),
  );
});
process.send?.('ready');
