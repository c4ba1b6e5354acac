/** One request of this console and its response, as sent. */
export interface ConsoleExchange {
  readonly n: number;
  readonly to: string;
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  status: number;
  /** How a call over gRPC ended. */
  grpcStatus?: string;
  answerHeaders: readonly (readonly [string, string])[];
  /** The response, or the frames of a stream so far. */
  answer: string;
  frames: { readonly atMs: number; readonly text: string }[];
  isStream: boolean;
  endedMs: number | undefined;
  problem: string;
  /** A note about the exchange. */
  note: string;
}
