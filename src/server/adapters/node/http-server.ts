import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { BlockList } from 'node:net';
import type { HttpResponse } from '#bindings';
import type { Handler } from '../../handler.ts';
import type { ServerLimits } from '../../limits.ts';
import type { Log } from '../../observability/log.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { checkHead } from './check-head.ts';
import { NodeHttpRequest } from './http-request.ts';
import type { TlsOptions } from './tls.ts';
import { httpsOptions } from './tls.ts';
import { writeAnswer } from './write-response.ts';

export interface HttpHostOptions {
  readonly handler: Handler;
  readonly limits: ServerLimits;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tls?: TlsOptions | undefined;
  readonly trusted?: BlockList | undefined;
}

export interface HttpHost {
  readonly server: Server;
  readonly isTls: boolean;
  /** Requests that have not been answered yet, streams aside. */
  readonly busy: () => number;
  /** From now on each connection ends with its answer. */
  stopKeeping(): void;
}

/**
 * After the answer to a body that is too large, so that its sender reads the answer before it runs into a closed door: without a byte, and
 * in all. How long it may take in all is what a request may take.
 */
const LINGER_MS = 500;
const LINGER_BYTES = 67_108_864;
/** Longer than proxies wait, so that it is they who close an idle connection and not we, just as they send the next request. */
const KEEP_ALIVE_MS = 65_000;

export interface Exchange {
  readonly handler: Handler;
  readonly limits: Pick<ServerLimits, 'headersMax' | 'streamIdleMsMax'>;
  /** The connection ends with its answer. */
  readonly isLast?: () => boolean;
  /** Proxies whose word on where a request came from is taken. */
  readonly trusted?: BlockList | undefined;
  readonly onCut?: () => void;
}

/** One request, from Node's objects to Node's objects. */
export async function exchange(incoming: IncomingMessage, outgoing: ServerResponse, options: Exchange): Promise<void> {
  const { handler, limits, isLast, onCut, trusted } = options;
  const request = new NodeHttpRequest(incoming, outgoing, trusted);
  const refused = checkHead(incoming, limits.headersMax);
  const answer = refused ?? (await handler.respond(request));
  const isUnread = isLeftUnread(incoming, answer);
  if (answer.body !== null && typeof answer.body !== 'string') request.handOver();
  writeAnswer(outgoing, answer, {
    idleMsMax: limits.streamIdleMsMax,
    isLast: isUnread || refused !== undefined || isLast?.() === true,
    onDelivered: request.delivered,
    onCut,
    hold: isUnread ? drained(incoming) : undefined,
  });
}

/** Node's HTTP server around a handler, with what Node by itself is too patient for (reference/faults H7 to H9). */
export function createHttpHost({ handler, limits, log, metrics, tls, trusted }: HttpHostOptions): HttpHost {
  let busy = 0;
  let isStopping = false;
  const cut = metrics.counter({ name: 'parley_streams_cut_total', help: 'Streams cut off because nobody read them.' });
  const dropped = metrics.counter({ name: 'parley_connections_dropped_total', help: 'Connections beyond the limit.' });
  const options: Exchange = { handler, limits, isLast: () => isStopping, onCut: () => cut.add([]), trusted };

  const take = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    busy += 1;
    exchange(incoming, outgoing, options)
      .catch((thrown: unknown) => {
        log.error('a request could not be answered', thrown);
        outgoing.destroy();
      })
      .finally(() => {
        busy -= 1;
      });
  };
  const settings = {
    headersTimeout: Math.min(limits.headerMsMax, limits.requestMsMax),
    requestTimeout: limits.requestMsMax,
    connectionsCheckingInterval: Math.min(500, limits.requestMsMax),
    keepAliveTimeout: KEEP_ALIVE_MS,
    noDelay: true,
  };
  const server =
    tls === undefined
      ? createServer(settings)
      : createTlsServer({ ...settings, ...httpsOptions(tls), handshakeTimeout: Math.min(limits.headerMsMax, limits.requestMsMax) });
  server.on('request', take);
  server.on('checkContinue', take); // Node would ask for the body at once; whether it is wanted is known later
  server.maxConnections = limits.connectionsMax;
  server.on('drop', () => dropped.add([]));
  return {
    server,
    isTls: tls !== undefined,
    busy: () => busy,
    stopKeeping: () => {
      isStopping = true;
    },
  };
}

/** The answer was made without the whole body: because it is too large, or because nobody wanted it. */
function isLeftUnread(incoming: IncomingMessage, { status }: HttpResponse): boolean {
  return status === 413 && !incoming.complete;
}

/**
 * What still comes is read and dropped for a moment: closing on unread bytes would take the answer back on its way. Node closes a
 * connection as soon as its last answer is at its end, so that one is held until then.
 */
function drained(incoming: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, LINGER_MS);
    incoming.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > LINGER_BYTES) done();
      else timer.refresh();
    });
    incoming.once('end', done).once('close', done);
  });
}
