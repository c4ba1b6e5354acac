import type { ReadLimits } from '#protocol';

/** What a server takes of its callers. Names end in their unit; docs/config.md lists them all. */
export interface ServerLimits extends ReadLimits {
  readonly bodyBytesMax: number;
  readonly jsonMembersMax: number;
  readonly headersMax: number;
  /** From the first byte of a request to the end of its headers, and of its body. */
  readonly headerMsMax: number;
  readonly requestMsMax: number;
  /** A stream whose reader takes nothing for this long is cut off; it can be resumed. */
  readonly streamIdleMsMax: number;
  /** The longest silence of a stream. */
  readonly keepAliveMs: number;
  /** What the readers of streams are told: how soon to come back when one is cut off. */
  readonly reconnectMs: number;
  /** 0: as many as the process may have files open, less a reserve. */
  readonly connectionsMax: number;
  /** 0: nine in ten of the connections. */
  readonly streamsMax: number;
  /** Requests of one caller: so many a second in the long run, so many at once. 0: not counted. `local` is never counted. */
  readonly requestsPerSecondMax: number;
  readonly requestsBurstMax: number;
  /** What one caller may send, and have at a time. 0: not counted. */
  readonly callerBytesPerMinuteMax: number;
  readonly callerStreamsMax: number;
  readonly callerTasksMax: number;
  /** Of stopping, from the signal to the exit. */
  readonly drainMsMax: number;
  /** Of one attempt to deliver to a webhook. */
  readonly webhookMsMax: number;
  /** How long a card may be kept by whoever fetched it. */
  readonly cardAgeMsMax: number;
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  bodyBytesMax: 1_048_576,
  jsonDepthMax: 64,
  jsonMembersMax: 50_000,
  messagePartsMax: 100,
  idCharsMax: 128,
  headersMax: 100,
  headerMsMax: 5000,
  requestMsMax: 10_000,
  streamIdleMsMax: 60_000,
  keepAliveMs: 15_000,
  reconnectMs: 1000,
  connectionsMax: 0,
  streamsMax: 0,
  requestsPerSecondMax: 20,
  requestsBurstMax: 40,
  callerBytesPerMinuteMax: 67_108_864,
  callerStreamsMax: 100,
  callerTasksMax: 50,
  drainMsMax: 10_000,
  webhookMsMax: 15_000,
  cardAgeMsMax: 300_000,
};
