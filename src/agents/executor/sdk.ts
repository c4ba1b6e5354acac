/**
 * The part of `@a2a-js/sdk` 1.x that an executor sees, declared structurally: the SDK is not needed to run one, and any release with these
 * shapes works. They are protobuf's: absent text is `''`, a oneof is `{ $case, value }`, an enum is a number.
 */
export interface SdkExecutor {
  execute(context: SdkRequestContext, bus: SdkEventBus): Promise<void>;
  cancelTask(taskId: string, bus: SdkEventBus): Promise<void>;
}

export interface SdkRequestContext {
  readonly request: SdkSendRequest;
  readonly userMessage: SdkMessage;
  readonly taskId: string;
  readonly contextId: string;
  readonly context: SdkCallContext;
  /** Only when the message continues a task. */
  readonly task?: SdkTask;
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

export type SdkEvent =
  | { kind: 'message'; data: SdkMessage }
  | { kind: 'task'; data: SdkTask }
  | { kind: 'statusUpdate'; data: SdkStatusUpdate }
  | { kind: 'artifactUpdate'; data: SdkArtifactUpdate };

export type EventListener = (event: SdkEvent) => void;
export type FinishedListener = () => void;

export interface SdkEventBus {
  publish(event: SdkEvent): void;
  finished(): void;
  on(name: 'event', listener: EventListener): this;
  on(name: 'finished', listener: FinishedListener): this;
  off(name: 'event', listener: EventListener): this;
  off(name: 'finished', listener: FinishedListener): this;
  once(name: 'event', listener: EventListener): this;
  once(name: 'finished', listener: FinishedListener): this;
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
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly skills: readonly object[];
}
