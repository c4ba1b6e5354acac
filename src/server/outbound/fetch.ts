import type { Fetch, Linked } from '#protocol';
import { linkSignals } from '#protocol';
import { OutboundError } from './errors.ts';
import type { Policy } from './policy.ts';
import type { OutboundLimits } from './port.ts';

interface GuardedFetchOptions {
  /** Sends the request over a guarded connection. Follows no redirects and decompresses nothing. */
  readonly send: (request: Request, signal: AbortSignal) => Promise<Response>;
  readonly policy: Policy;
  readonly limits: OutboundLimits;
}

/**
 * A fetch that checks the URL, refuses redirects, and limits the size and the duration of a response.
 */
export function guardedFetch({ send, policy, limits }: GuardedFetchOptions): Fetch {
  return async (request) => {
    const url = new URL(request.url);
    policy.checkUrl(url);
    const deadline = linkSignals([request.signal], limits.msMax);
    const response = await send(request, deadline.signal).catch((thrown: unknown) => {
      deadline.release();
      throw explained(thrown, deadline);
    });
    const isRedirect = response.status >= 300 && response.status < 400 && response.status !== 304;
    if (isRedirect && request.redirect !== 'manual') {
      deadline.release();
      void response.body?.cancel().catch(() => undefined);
      throw new OutboundError('redirect', `${url.host} responded with a redirect (${response.status}); redirects are not followed`);
    }
    return limited(response, limits.bytesMax, deadline);
  };
}

/** The response, with a body that fails when it is too large. The deadline ends when the body is read or dropped. */
function limited(response: Response, bytesMax: number, deadline: Linked): Response {
  if (response.body === null) {
    deadline.release();
    return response;
  }
  const reader = response.body.getReader();
  const { headers, status } = response;
  let length = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull: async (controller) => {
        try {
          checkHead(headers, bytesMax);
          const { done, value } = await reader.read();
          length += value?.length ?? 0;
          if (length > bytesMax) throw tooLarge(bytesMax);
          if (!done) return controller.enqueue(value);
          deadline.release();
          controller.close();
        } catch (thrown) {
          deadline.release();
          void reader.cancel().catch(() => undefined); // closes the connection of a refused response
          controller.error(explained(thrown, deadline));
        }
      },
      cancel: async (reason) => {
        deadline.release();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status, headers });
}

function checkHead(headers: Headers, bytesMax: number): void {
  const coding = headers.get('content-encoding');
  if (coding !== null && coding !== 'identity')
    throw new OutboundError('encoding', `the response is compressed (${coding}), which is not accepted`);
  if (Number(headers.get('content-length') ?? 0) > bytesMax) throw tooLarge(bytesMax);
}

function tooLarge(bytesMax: number): OutboundError {
  return new OutboundError('size', `the response is larger than ${bytesMax} bytes`);
}

function explained(thrown: unknown, deadline: Linked): unknown {
  if (thrown instanceof OutboundError) return thrown;
  if (deadline.isLate) return new OutboundError('timeout', 'the response did not arrive in time', { cause: thrown });
  // The caller aborted the request, so it gets its own error back.
  if (thrown instanceof Error && thrown.name === 'AbortError') return thrown;
  return new OutboundError('network', thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
}
