import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import type { Child } from '../process/child.ts';
import { objectIn } from '../process/json-line.ts';
import { linesOf } from '../process/output.ts';

/**
 * The SDK's stream over a program's pipes, split by our own splitter, so that banners between messages
 * and endless lines do no harm. `room` is awaited before more is read, so that a flood waits in the
 * program.
 */
export function messagesOf(child: Child, room: () => Promise<void>): Stream {
  const lines = linesOf(child.stdout);
  return {
    readable: new ReadableStream<AnyMessage>({
      pull: async (controller) => {
        for (let isQueued = false; !isQueued; ) {
          await room();
          const step = await lines.next();
          if (step.done === true) {
            controller.close();
            return;
          }
          for (const { text, dropped } of step.value) {
            const message = dropped > 0 ? undefined : objectIn(text);
            if (message?.['jsonrpc'] !== '2.0') continue;
            // The SDK checks the content.
            controller.enqueue(message as unknown as AnyMessage);
            isQueued = true;
          }
        }
      },
    }),
    writable: new WritableStream<AnyMessage>({ write: (message) => child.write(`${JSON.stringify(message)}\n`) }),
  };
}
