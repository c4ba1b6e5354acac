import type { ClientHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import type { TaskId } from '#protocol';
import type { ReplicaAddress } from '../../../engine/adapters/postgres.ts';
import type { DeliveryReports } from './delivery-reports.ts';
import type { AnsweredSend, LinkCall, SendLine } from './link-call.ts';
import { LineReader } from './link-call.ts';
import type { Links } from './link-client.ts';
import { SENDS } from './link-wire.ts';

/**
 * Sends to other replicas. All sends to one replica share a stream of HTTP/2, one line each: a stream of its own costs more than the rest of a
 * forwarded send, and lines that are written in the same turn of the event loop leave in one packet, so that their owner commits them together.
 */
export interface SendChannels {
  /** Rejects if there is no connection: then nothing was sent. */
  send(to: ReplicaAddress, call: LinkCall<'send'>, onAdmitted: (task: TaskId) => void): Promise<SentCall>;
}

/** A send that is on its way. */
export interface SentCall {
  /** Undefined: the connection broke, or the send was canceled. */
  readonly answer: Promise<AnsweredSend | undefined>;
  /** Tells the replica that nobody waits for the answer any more. */
  cancel(): void;
}

/** A canceled call waits, too: its answer names the task if the message has become one. */
interface Waiting {
  readonly onAdmitted: (task: TaskId) => void;
  readonly settle: (answer: AnsweredSend | undefined) => void;
}

export function createSendChannels(links: Pick<Links, 'request'>, reports: Pick<DeliveryReports, 'take'>): SendChannels {
  const channels = new Map<string, Channel>();
  const opening = new Map<string, Promise<Channel>>();
  const open = async (to: ReplicaAddress): Promise<Channel> => {
    const channel = new Channel(await links.request(to, { ':method': 'POST', ':path': '/', [SENDS]: '1' }));
    channels.set(to.publicKey, channel);
    channel.onClose(() => {
      if (channels.get(to.publicKey) === channel) channels.delete(to.publicKey);
    });
    return channel;
  };
  const channelTo = (to: ReplicaAddress): Channel | Promise<Channel> => {
    const key = to.publicKey;
    const known = channels.get(key);
    if (known?.isOpen === true) return known;
    const started = opening.get(key) ?? open(to).finally(() => opening.delete(key));
    opening.set(key, started);
    return started;
  };
  return {
    send: async (to, call, onAdmitted) => {
      const found = channelTo(to);
      const channel = found instanceof Promise ? await found : found;
      return channel.send(call, onAdmitted, reports.take(to));
    },
  };
}

class Channel {
  readonly #stream: ClientHttp2Stream;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  constructor(stream: ClientHttp2Stream) {
    this.#stream = stream;
    const lines = new LineReader<SendLine>();
    stream.on('data', (piece: Uint8Array) => {
      try {
        for (const line of lines.take(piece)) this.#take(line);
      } catch {
        stream.close(constants.NGHTTP2_INTERNAL_ERROR); // what is not answered counts as broken
      }
    });
    stream.on('error', () => {}); // seen as its end
    // The replica ends the stream when it ends itself, or when it refuses this one.
    stream.once('end', () => stream.close(constants.NGHTTP2_NO_ERROR));
    this.onClose(() => {
      for (const { settle } of this.#waiting.values()) settle(undefined);
      this.#waiting.clear();
    });
  }

  get isOpen(): boolean {
    return !this.#stream.closed && !this.#stream.destroyed && !this.#stream.readableEnded;
  }

  onClose(listener: () => void): void {
    this.#stream.once('close', listener);
  }

  send(call: LinkCall<'send'>, onAdmitted: Waiting['onAdmitted'], reached: readonly string[]): SentCall {
    this.#last += 1;
    const n = this.#last;
    const answer = new Promise<AnsweredSend | undefined>((settle) => {
      if (this.isOpen) this.#waiting.set(n, { onAdmitted, settle });
      else settle(undefined);
    });
    this.#write({ n, call, ...(reached.length > 0 ? { reached } : {}) });
    return { answer, cancel: () => this.#cancel(n) };
  }

  #cancel(n: number): void {
    const waiting = this.#waiting.get(n);
    if (waiting === undefined) return;
    waiting.settle(undefined);
    this.#write({ n, isCanceled: true });
  }

  #write(line: object): void {
    if (this.isOpen) this.#stream.write(`${JSON.stringify(line)}\n`);
  }

  #take({ n, admitted, answer }: SendLine): void {
    const waiting = this.#waiting.get(n);
    if (admitted !== undefined) waiting?.onAdmitted(admitted);
    if (answer === undefined) return;
    this.#waiting.delete(n);
    waiting?.settle(answer);
  }
}
