/**
 * The part of `@a2a-js/sdk` 1.x that an executor sees, declared structurally: the SDK is not needed to
 * run one, and any release with these shapes works. They are protobuf's: absent text is `''`, a oneof
 * is `{ $case, value }`, an enum is a number.
 */
export interface SdkExecutor {
  /** Answers one message. */
  execute(context: SdkRequestContext, bus: SdkEventBus): Promise<void>;
  /** Stops the work on a task. */
  cancelTask(taskId: string, bus: SdkEventBus): Promise<void>;
}

/** What an executor is called with. */
export interface SdkRequestContext {
  /** The request as a whole. */
  readonly request: SdkSendRequest;
  /** The message to answer. */
  readonly userMessage: SdkMessage;
  /** Id of the task. Chosen by the server also for the first message. */
  readonly taskId: string;
  /** Id of the conversation. */
  readonly contextId: string;
  /** Caller, tenant, extensions and version of the call. */
  readonly context: SdkCallContext;
  /** Present only if the message continues a task. */
  readonly task?: SdkTask;
  /** Tasks that the message refers to. Parley does not set it. */
  readonly referenceTasks?: SdkTask[];
}

export interface SdkSendRequest {
  tenant: string;
  message: SdkMessage | undefined;
  configuration: { acceptedOutputModes: string[]; historyLength?: number | undefined; returnImmediately: boolean } | undefined;
  metadata: SdkStruct | undefined;
}

export interface SdkCallContext {
  readonly tenant: string | undefined;
  readonly user: { readonly isAuthenticated: boolean; readonly userName: string } | undefined;
  readonly requestedExtensions: string[] | undefined;
  readonly activatedExtensions: string[] | undefined;
  readonly requestedVersion: string;
  readonly state: Map<string, unknown>;
  addActivatedExtension(uri: string): void;
  setRequestedExtensions(uris: string[] | undefined): void;
  setTenant(tenant: string): void;
}

/** An event that an executor publishes. */
export type SdkEvent =
  | { kind: 'message'; data: SdkMessage }
  | { kind: 'task'; data: SdkTask }
  | { kind: 'statusUpdate'; data: SdkStatusUpdate }
  | { kind: 'artifactUpdate'; data: SdkArtifactUpdate };

export type EventListener = (event: SdkEvent) => void;
export type FinishedListener = () => void;

/** Where an executor publishes its events. */
export interface SdkEventBus {
  /** Publishes one event. */
  publish(event: SdkEvent): void;
  /** Declares that no more events follow. */
  finished(): void;
  /** Adds a listener for published events, or for the end. */
  on(name: 'event', listener: EventListener): this;
  on(name: 'finished', listener: FinishedListener): this;
  /** Removes a listener. */
  off(name: 'event', listener: EventListener): this;
  off(name: 'finished', listener: FinishedListener): this;
  /** Adds a listener for one event. */
  once(name: 'event', listener: EventListener): this;
  once(name: 'finished', listener: FinishedListener): this;
  /** Removes all listeners of a kind, or of both. */
  removeAllListeners(name?: 'event' | 'finished'): this;
}

export interface SdkStruct {
  [key: string]: unknown;
}

export interface SdkTask {
  id: string;
  contextId: string;
  status: SdkStatus | undefined;
  artifacts: SdkArtifact[];
  history: SdkMessage[];
  metadata: SdkStruct | undefined;
}

export interface SdkStatus {
  state: number;
  message: SdkMessage | undefined;
  timestamp: string | undefined;
}

export interface SdkStatusUpdate {
  taskId: string;
  contextId: string;
  status: SdkStatus | undefined;
  metadata: SdkStruct | undefined;
}

export interface SdkArtifactUpdate {
  taskId: string;
  contextId: string;
  artifact: SdkArtifact | undefined;
  append: boolean;
  lastChunk: boolean;
  metadata: SdkStruct | undefined;
}

export interface SdkArtifact {
  artifactId: string;
  name: string;
  description: string;
  parts: SdkPart[];
  metadata: SdkStruct | undefined;
  extensions: string[];
}

export interface SdkMessage {
  messageId: string;
  contextId: string;
  taskId: string;
  role: number;
  parts: SdkPart[];
  metadata: SdkStruct | undefined;
  extensions: string[];
  referenceTaskIds: string[];
}

export interface SdkPart {
  content?: SdkContent | undefined;
  metadata: SdkStruct | undefined;
  filename: string;
  mediaType: string;
}

export type SdkContent =
  | { $case: 'text'; value: string }
  | { $case: 'raw'; value: Uint8Array }
  | { $case: 'url'; value: string }
  | { $case: 'data'; value: unknown };

/** The members that the SDK's card and ours have in common. The rest is checked when it is read. */
export interface SdkCard {
  /** Name of the agent. */
  readonly name: string;
  /** What the agent does. */
  readonly description: string;
  /** Version of the agent. */
  readonly version: string;
  /** Its skills. They are checked when the card is read. */
  readonly skills: readonly object[];
}
