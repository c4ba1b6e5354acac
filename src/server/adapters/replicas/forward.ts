import type { ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import { constants } from 'node:http2';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { trailersFrame } from '#bindings';
import type { ReplicaRow } from '../../../engine/adapters/postgres.ts';
import type { ServerLimits } from '../../limits.ts';
import { refusal, retryAfter } from '../../routes/responses.ts';
import { isCutOff } from '../node/cut-off.ts';
import type { DeliveryReports } from './delivery-reports.ts';
import { unavailableTrailers } from './grpc-status.ts';
import type { Links } from './link-client.ts';
import { AWAY, CELL, DELIVERED, FACTS, LACKS, writeFacts } from './link-wire.ts';
import type { Ownership } from './members.ts';
import type { OutsideRequest } from './outside.ts';
import { answerOutside } from './outside.ts';
import type { Passed } from './passing.ts';
import { cancelWith, Passing } from './passing.ts';
import { canRepeat } from './repeatable.ts';
import type { WantCell } from './want-cell.ts';
import { notTooOften } from './want-cell.ts';

/** Options of `createForwarder`. */
export interface ForwarderOptions {
  readonly ownership: Ownership;
  readonly links: Links;
  readonly limits: Pick<ServerLimits, 'streamIdleMsMax'>;
  /** Called for each request that was forwarded, with its outcome. */
  readonly onForwarded: (outcome: string) => void;
  /** Aborted when this replica is about to end: streams are ended, so that their callers go elsewhere. */
  readonly leaving: AbortSignal;
  readonly reports: DeliveryReports;
  readonly want: WantCell;
  /** `plain`: each attempt has another key. For tests only. */
  readonly repeats?: 'keyed' | 'plain' | undefined;
  /** How long a request waits for an owner: while nobody owns its cell, or the owner does not answer. */
  readonly holdMs: number;
}

/** Lets the owner of a request's cell answer it. */
export interface Forwarder {
  /** Never rejects. */
  forward(request: OutsideRequest): Promise<void>;
}

/** How often an owner that does not answer is asked again. */
const AGAIN_MS = 100;

export function createForwarder(options: ForwarderOptions): Forwarder {
  return { forward: (request) => new Forwarding(request, options).run() };
}

/** One request, until it is answered. */
class Forwarding {
  readonly #request: OutsideRequest;
  readonly #options: ForwarderOptions;
  readonly #passing: Passing;
  #giveUpAt = Number.POSITIVE_INFINITY;
  #attempts = 0;
  #cell: number;
  /** The owner does not serve the agent of the request. */
  #lacksAgent = false;
  readonly #want: WantCell;

  constructor(request: OutsideRequest, options: ForwarderOptions) {
    this.#request = request;
    this.#options = options;
    this.#cell = request.cell;
    this.#want = notTooOften(options.want);
    this.#passing = new Passing(request, options.limits.streamIdleMsMax);
  }

  async run(): Promise<void> {
    const { ownership, holdMs, leaving } = this.#options;
    const { out } = this.#request.reply;
    this.#giveUpAt = performance.now() + holdMs;
    for (;;) {
      const owner = ownership.owner(this.#cell);
      const passed = owner === undefined ? 'away' : await this.#ask(owner);
      if (passed === 'done' || out.destroyed) return this.#count(this.#outcome());
      // Callers of streams go elsewhere. Others get their response while this replica still listens.
      if (leaving.aborted && this.#passing.isEvents) return this.#leave();
      if (this.#passing.takeProgress()) this.#giveUpAt = performance.now() + holdMs;
      if (passed === 'unknown' && !canRepeat(this.#request)) return this.#fail('unknown', UNKNOWN);
      if (performance.now() > this.#giveUpAt) return this.#fail('no_owner', noOwner(owner, this.#attempts, this.#lacksAgent));
      await this.#pause(owner);
    }
  }

  async #pause(owner: ReplicaRow | undefined): Promise<void> {
    if (owner !== undefined && this.#lacksAgent) await this.#want(owner, this.#cell, this.#request.facts.agent);
    await pauseFor(this.#options.ownership, this.#cell, owner);
  }

  async #ask(owner: ReplicaRow): Promise<Passed> {
    const { links, leaving, reports } = this.#options;
    const { reply, body } = this.#request;
    const stream = await links.request(owner, { ...this.#head(), ...reports.headers(owner) }).catch(() => undefined);
    if (stream === undefined) return 'away';
    this.#attempts += 1;
    stream.on('error', () => {}); // seen as the end of the response
    const keep = cancelWith(reply, stream);
    const leave = (): void => {
      if (this.#passing.isEvents) stream.close(constants.NGHTTP2_CANCEL);
    };
    leaving.addEventListener('abort', leave);
    try {
      if (body instanceof Readable) body.pipe(stream);
      else stream.end(body);
      const headers = await headOf(stream);
      if (headers === undefined) return 'unknown';
      if (headers[AWAY] !== undefined) return this.#away(headers);
      if (headers[DELIVERED] !== undefined) this.#tellDelivery(owner);
      return await this.#passing.pass(stream, headers);
    } finally {
      keep();
      leaving.removeEventListener('abort', leave);
      // A complete exchange closes by itself. Canceling it would look like a caller that left.
      if (!stream.closed && !(stream.readableEnded && stream.writableEnded)) stream.close(constants.NGHTTP2_CANCEL);
    }
  }

  /** A replica that does not own the request's cell says which one it is. */
  #away(headers: IncomingHttpHeaders): Passed {
    const cell = Number(headers[CELL] ?? Number.NaN);
    if (cell >= 0) this.#cell = cell;
    this.#lacksAgent = headers[LACKS] !== undefined;
    return 'away';
  }

  #head(): OutgoingHttpHeaders {
    const { method, target, host, headers, facts } = this.#request;
    const told = this.#options.repeats === 'plain' ? { ...facts, key: `${facts.key} ${this.#attempts}` } : facts;
    return {
      ...headers,
      ...{ ':method': method, ':path': target, ':authority': host, ':scheme': 'http', [FACTS]: writeFacts(told) },
    };
  }

  /** The owner counts a send as delivered when its caller outside has the response, and not when this replica has. */
  #tellDelivery(owner: ReplicaRow): void {
    const { reply, facts } = this.#request;
    reply.onSent(() => {
      if (this.#passing.isComplete) this.#options.reports.add(owner, facts.key);
    });
  }

  #outcome(): string {
    const { out } = this.#request.reply;
    if (out.destroyed && isCutOff(out)) return 'left';
    return this.#attempts > 1 ? 'repeated' : 'ok';
  }

  async #fail(outcome: string, message: string): Promise<void> {
    const { reply, headers } = this.#request;
    const { isBegun } = this.#passing;
    this.#count(outcome);
    const type = String(headers['content-type']);
    if (/^application\/grpc(?:[+;]|$)/i.test(type)) {
      if (!isBegun) reply.head(200, { 'content-type': 'application/grpc' });
      reply.end(await unavailableTrailers(message));
    } else if (isBegun) reply.cut();
    else if (/^application\/grpc-web/i.test(type)) {
      reply.whole(200, { 'content-type': type }, trailersFrame(Object.entries(await unavailableTrailers(message))));
    } else answerOutside(reply, refusal(503, message, retryAfter(1000)));
  }

  async #leave(): Promise<void> {
    this.#count('left');
    await this.#passing.leave();
  }

  #count(outcome: string): void {
    this.#options.onForwarded(outcome);
  }
}

/** Waits until the cell may have another owner. Goes on at once if it has one now. */
export async function pauseFor(ownership: Ownership, cell: number, before: ReplicaRow | undefined): Promise<void> {
  await ownership.refresh();
  if (ownership.owner(cell)?.publicKey === before?.publicKey) await sleep(AGAIN_MS, undefined, { ref: false });
}

/** Why nobody has taken a request until its time was over. */
export function noOwner(owner: ReplicaRow | undefined, attempts: number, lacksAgent: boolean): string {
  if (lacksAgent) return NO_AGENT;
  return owner !== undefined && attempts === 0 ? UNREACHED : NOBODY;
}

const UNREACHED = "the node that owns this conversation can't be reached from this one now; try again";
const NOBODY = 'no node serves the tasks of this database now; try again';
const NO_AGENT = 'the node that owns this conversation does not serve its agent: start all nodes with the same agents, and try again';
const UNKNOWN = 'the node that worked on this request has ended; look whether it has done it, and try again';

/** Undefined: the connection broke before a response came. */
export function headOf(stream: ClientHttp2Stream): Promise<IncomingHttpHeaders | undefined> {
  return new Promise((resolve) => {
    stream.once('response', (headers) => resolve(headers)).once('close', () => resolve(undefined));
  });
}
