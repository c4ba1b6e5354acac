import type { Frame, StreamWriter, Task, TaskId } from '#protocol';

/** What a binding provides for a stream of events. */
export interface EventWire {
  readonly writer: StreamWriter;
  readonly keepAliveMs: number;
  /** How long a client should wait before it reconnects, in milliseconds. Undefined: the client's own default. */
  readonly retryMs: number | undefined;
  /** See `Waiter`. */
  readonly needsListener?: boolean;
  /** The client asked to resume from another position of the log than the stream begins at. */
  readonly isReset: boolean;
  /** Writes an error that happens after the first event, when it is too late for an error response. */
  errorFrame(thrown: unknown): Frame;
  /** Frames that come last when the server ends the stream, for wires whose readers need an end. */
  lastFrames?(): readonly Frame[];
  /** Gets the task at the end of the stream. Called only if the writer has `endsWithTask`. */
  taskAtEnd(id: TaskId): Promise<Task | undefined>;
  /** Called when the client disconnects or the stream fails. */
  left(): void;
  /** Called once when the stream has ended, for any reason. */
  ended(): void;
}
