import fc from 'fast-check';
import type {
  Artifact,
  ListRequest,
  Message,
  Part,
  PushConfig,
  SendRequest,
  Shape,
  Task,
  TaskArtifactUpdate,
  TaskEvent,
  TaskStatus,
  TaskStatusUpdate,
} from '#protocol';
import {
  BASE64,
  FILENAME,
  ID,
  JSON_VALUE,
  MEDIA_TYPE,
  METADATA,
  STATE,
  shaped,
  some,
  TIMESTAMP,
  URL_TEXT,
  WORDS,
} from './arbitrary-values.ts';

/** Every member of a type. A member that is missing here is an error of the compiler, so that the properties test each one. */
type MembersOf<T> = Readonly<Record<keyof T, fc.Arbitrary<unknown>>>;

const CONTENTS: readonly Record<string, fc.Arbitrary<unknown>>[] = [
  { text: WORDS },
  { raw: BASE64 },
  { url: URL_TEXT },
  { data: JSON_VALUE },
];
export const part: fc.Arbitrary<Part> = fc.oneof(
  ...CONTENTS.map((content) => {
    const members: Record<string, fc.Arbitrary<unknown>> = { ...content, metadata: METADATA, filename: FILENAME, mediaType: MEDIA_TYPE };
    return shaped<Part>(fc.record(members, { requiredKeys: Object.keys(content) }));
  }),
);

const messageMembers = {
  messageId: ID,
  role: fc.constantFrom('ROLE_USER', 'ROLE_AGENT'),
  parts: some(part),
  contextId: ID,
  taskId: ID,
  metadata: METADATA,
  extensions: some(fc.constant('https://x.example/ext/v1'), 2),
  referenceTaskIds: some(ID, 2),
} satisfies MembersOf<Message>;
export const message: fc.Arbitrary<Message> = shaped(fc.record(messageMembers, { requiredKeys: ['messageId', 'role', 'parts'] }));
const userMessage = shaped<Message>(
  fc.record({ ...messageMembers, role: fc.constant('ROLE_USER') }, { requiredKeys: ['messageId', 'role', 'parts'] }),
);

/** A status message, and a message instead of a task, has the role of the agent: some dialects have no role there. */
const agentMessage = shaped<Message>(
  fc.record({ ...messageMembers, role: fc.constant('ROLE_AGENT') }, { requiredKeys: ['messageId', 'role', 'parts'] }),
);

const status: fc.Arbitrary<TaskStatus> = shaped(
  fc.record({ state: STATE, message: agentMessage, timestamp: TIMESTAMP } satisfies MembersOf<TaskStatus>, { requiredKeys: ['state'] }),
);
export const artifact: fc.Arbitrary<Artifact> = shaped(
  fc.record(
    {
      artifactId: ID,
      parts: some(part),
      name: WORDS,
      description: WORDS,
      metadata: METADATA,
      extensions: some(fc.constant('urn:e'), 2),
    } satisfies MembersOf<Artifact>,
    { requiredKeys: ['artifactId', 'parts'] },
  ),
);
export const task: fc.Arbitrary<Task> = shaped(
  fc.record(
    {
      id: ID,
      contextId: ID,
      status,
      artifacts: fc.uniqueArray(artifact, { minLength: 1, maxLength: 3, selector: (item) => item.artifactId }),
      history: some(message),
      metadata: METADATA,
      generation: fc.integer({ min: 1, max: 1000 }),
    } satisfies MembersOf<Task>,
    { requiredKeys: ['id', 'status'] },
  ),
);

const statusUpdate: fc.Arbitrary<TaskStatusUpdate> = shaped(
  fc.record(
    { taskId: ID, contextId: ID, status, metadata: METADATA, generation: fc.integer({ min: 1 }) } satisfies MembersOf<TaskStatusUpdate>,
    { requiredKeys: ['taskId', 'contextId', 'status'] },
  ),
);
const artifactUpdate: fc.Arbitrary<TaskArtifactUpdate> = shaped(
  fc.record(
    {
      taskId: ID,
      contextId: ID,
      artifact,
      append: fc.constant(true),
      lastChunk: fc.constant(true),
      metadata: METADATA,
      generation: fc.integer({ min: 1 }),
    } satisfies MembersOf<TaskArtifactUpdate>,
    { requiredKeys: ['taskId', 'contextId', 'artifact'] },
  ),
);
export const event: fc.Arbitrary<TaskEvent> = shaped(
  fc.oneof(fc.record({ task }), fc.record({ message: agentMessage }), fc.record({ statusUpdate }), fc.record({ artifactUpdate })),
);

const pushMembers = {
  url: fc.constantFrom('https://hook.example/a2a', 'http://127.0.0.1:9/hook'),
  id: ID,
  taskId: ID,
  token: WORDS.filter((words) => words.trim() !== ''),
  authentication: fc.record({ scheme: fc.constantFrom('Bearer', 'Basic'), credentials: ID }, { requiredKeys: ['scheme'] }),
};
const pushConfig: fc.Arbitrary<PushConfig> = shaped(fc.record({ ...pushMembers, tenant: ID }, { requiredKeys: ['url', 'taskId'] }));
const inlinePush: fc.Arbitrary<PushConfig> = shaped(
  fc.record(
    { url: pushMembers.url, id: ID, token: pushMembers.token, authentication: pushMembers.authentication },
    { requiredKeys: ['url'] },
  ),
);

const COUNT = fc.integer({ min: 0, max: 50 });
const sendRequest: fc.Arbitrary<SendRequest> = shaped(
  fc.record(
    {
      message: userMessage,
      configuration: fc.record(
        {
          acceptedOutputModes: some(MEDIA_TYPE, 2),
          taskPushNotificationConfig: inlinePush,
          historyLength: COUNT,
          returnImmediately: fc.boolean(),
          ifGenerationMatch: fc.integer({ min: 1, max: 99 }),
        },
        { requiredKeys: [] },
      ),
      metadata: METADATA,
      tenant: ID,
      alias: ID,
    },
    { requiredKeys: ['message'] },
  ),
);
const listRequest: fc.Arbitrary<ListRequest> = shaped(
  fc.record(
    {
      contextId: ID,
      status: STATE.filter((state) => state !== 'TASK_STATE_UNSPECIFIED'),
      pageSize: fc.integer({ min: 1, max: 100 }),
      pageToken: ID,
      historyLength: COUNT,
      statusTimestampAfter: TIMESTAMP,
      includeArtifacts: fc.boolean(),
      tenant: ID,
    },
    { requiredKeys: [] },
  ),
);

const tenanted = <T>(members: Record<string, fc.Arbitrary<unknown>>, required: string[]): fc.Arbitrary<T> =>
  shaped(fc.record({ ...members, tenant: ID }, { requiredKeys: required as never[] }));

/** One arbitrary for every shape that a dialect can have. */
export const SHAPES: Readonly<Partial<Record<Shape, fc.Arbitrary<unknown>>>> = {
  'send.request': sendRequest,
  'stream.request': sendRequest,
  'get.request': tenanted({ id: ID, historyLength: COUNT, currentGeneration: fc.integer({ min: 1, max: 99 }) }, ['id']),
  'list.request': listRequest,
  'cancel.request': tenanted({ id: ID, metadata: METADATA }, ['id']),
  'subscribe.request': tenanted({ id: ID }, ['id']),
  'push.create.request': pushConfig,
  'push.get.request': tenanted({ taskId: ID, id: ID }, ['taskId', 'id']),
  'push.list.request': tenanted({ taskId: ID, pageSize: fc.integer({ min: 1, max: 50 }), pageToken: ID }, ['taskId']),
  'push.delete.request': tenanted({ taskId: ID, id: ID }, ['taskId', 'id']),
  'extendedCard.request': tenanted({}, []),
  'send.result': fc.oneof(fc.record({ task }), fc.record({ message: agentMessage })),
  'get.result': task,
  'cancel.result': task,
  'list.result': fc.record({
    tasks: fc.array(task, { maxLength: 2 }),
    nextPageToken: fc.oneof(fc.constant(''), ID),
    pageSize: COUNT,
    totalSize: COUNT,
  }),
  'push.create.result': pushConfig,
  'push.get.result': pushConfig,
  'push.list.result': fc.record({ configs: some(pushConfig, 2), nextPageToken: ID }, { requiredKeys: ['configs'] }),
  'push.delete.result': fc.constant(null),
  event,
};
