/** What one side of a conversation can do. A peer's own client implements it, and so does ours: the conversations do not know which one talks. */
export interface Talk {
  send(message: Say): Promise<Reply>;
  /** Reads the stream to its end and returns every step of it, in order. */
  stream(message: Say): Promise<readonly Reply[]>;
  /** Begins a stream and resolves after its first event that names a task, without reading on. */
  begin(message: Say): Promise<Reply>;
  get(taskId: string): Promise<Reply>;
  /** Ids of the tasks that the agent lists. Absent: this version has no list. */
  list?(contextId?: string): Promise<readonly string[]>;
  cancel(taskId: string): Promise<Reply>;
  close(): Promise<void>;
  /** The agent keeps a streamed text as one part. Ours do; the official SDKs keep a part for each chunk. */
  readonly joinsText: boolean;
  /** The peer's own client drops the names of files. */
  readonly losesFileNames?: true;
}

export interface Say {
  readonly text: string;
  readonly contextId?: string;
  readonly taskId?: string;
  /** Sent beside the text. */
  readonly file?: { readonly name: string; readonly mediaType: string; readonly base64: string };
  readonly data?: Readonly<Record<string, unknown>>;
}

/** One answer, or one event of a stream, reduced to what the conversations compare. */
export interface Reply {
  readonly taskId?: string;
  readonly contextId?: string;
  /** In kebab case, whatever the version spells: `completed`, `input-required`. */
  readonly state?: string;
  /** Each text part on its own, in order. */
  readonly texts: readonly string[];
  readonly files: readonly { readonly name?: string; readonly mediaType?: string; readonly base64?: string }[];
  readonly data: readonly unknown[];
  /** Text of the status message: a question, a reason. */
  readonly note?: string;
}

/** A refused call, as the peer's own client raises it. */
export class PeerError extends Error {
  override readonly name = 'PeerError';
  readonly code: number | undefined;
  constructor(message: string, code?: number) {
    super(message);
    this.code = code;
  }
}
