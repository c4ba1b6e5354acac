import fc from 'fast-check';
import type {
  AgentCard,
  Artifact,
  Json,
  ListRequest,
  Message,
  Metadata,
  Part,
  PushConfig,
  SecurityScheme,
  SendRequest,
  Shape,
  Task,
  TaskArtifactUpdate,
  TaskEvent,
  TaskState,
  TaskStatus,
  TaskStatusUpdate,
} from '#protocol';
import { TASK_STATES } from '#protocol';

/**
 * Canonical values in normal form: what our readers produce. Empty optional strings and false flags are left out, as proto3
 * leaves them out; numbers are such as JSON can say.
 */
const ID = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,20}$/);
const WORDS = fc.oneof(
  fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' }),
  fc.constantFrom('hi', 'y', 'line\nbreak', '{"a":1}', ' '),
);
const KEY = fc
  .oneof(fc.stringMatching(/^[a-z_][a-zA-Z_]{0,12}$/), fc.constantFrom('agent_name', 'tool_call_id', 'constructor', 'toString'))
  .filter((key) => key !== '__proto__');
const NUMBER = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })).map((number) => (number === 0 ? 0 : number));
const LEAF = fc.oneof(fc.string({ maxLength: 10 }), NUMBER, fc.boolean(), fc.constant(null));
const { json: JSON_VALUE } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof({ depthSize: 'small' }, LEAF, fc.array(tie('json'), { maxLength: 3 }), fc.dictionary(KEY, tie('json'), { maxKeys: 3 })),
}));
const METADATA = fc.dictionary(KEY, JSON_VALUE, { minKeys: 1, maxKeys: 3 }) as fc.Arbitrary<Metadata>;
const TIMESTAMP = fc
  .date({ min: new Date('2000-01-01T00:00:00Z'), max: new Date('2100-01-01T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
const MEDIA_TYPE = fc.constantFrom('text/plain', 'application/json', 'image/png', 'audio/wav', 'application/pdf');
const FILENAME = fc.constantFrom('report.pdf', 'a b.txt', 'ünï.bin');
const BASE64 = fc.uint8Array({ minLength: 1, maxLength: 24 }).map((bytes) => Buffer.from(bytes).toString('base64'));
const URL_TEXT = fc.constantFrom('https://files.example/a.pdf', 'artifact://session/file.pdf', 'https://x.example/?q=1&r=ü');
const STATE = fc.constantFrom(...(Object.keys(TASK_STATES) as TaskState[]));

/** fast-check makes optional members absent; branding and readonly are types only. */
const shaped = <T>(arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<T> => arbitrary as fc.Arbitrary<T>;
const some = <T>(arbitrary: fc.Arbitrary<T>, maxLength = 3): fc.Arbitrary<T[]> => fc.array(arbitrary, { minLength: 1, maxLength });

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
};
export const message: fc.Arbitrary<Message> = shaped(fc.record(messageMembers, { requiredKeys: ['messageId', 'role', 'parts'] }));
const userMessage = shaped<Message>(
  fc.record({ ...messageMembers, role: fc.constant('ROLE_USER') }, { requiredKeys: ['messageId', 'role', 'parts'] }),
);

/** What is said with a status, or instead of a task, is the agent's: some dialects have no role there. */
const agentMessage = shaped<Message>(
  fc.record({ ...messageMembers, role: fc.constant('ROLE_AGENT') }, { requiredKeys: ['messageId', 'role', 'parts'] }),
);

const status: fc.Arbitrary<TaskStatus> = shaped(
  fc.record({ state: STATE, message: agentMessage, timestamp: TIMESTAMP }, { requiredKeys: ['state'] }),
);
export const artifact: fc.Arbitrary<Artifact> = shaped(
  fc.record(
    { artifactId: ID, parts: some(part), name: WORDS, description: WORDS, metadata: METADATA, extensions: some(fc.constant('urn:e'), 2) },
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
    },
    { requiredKeys: ['id', 'status'] },
  ),
);

const statusUpdate: fc.Arbitrary<TaskStatusUpdate> = shaped(
  fc.record(
    { taskId: ID, contextId: ID, status, metadata: METADATA, generation: fc.integer({ min: 1 }) },
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
    },
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

const scopes = fc.dictionary(KEY, WORDS, { maxKeys: 2 });
const URLS = fc.constantFrom('https://auth.example/a', 'https://auth.example/b');
const scheme: fc.Arbitrary<SecurityScheme> = shaped(
  fc.oneof(
    fc.record({
      apiKeySecurityScheme: fc.record(
        { location: fc.constantFrom('query', 'header', 'cookie'), name: ID, description: WORDS },
        { requiredKeys: ['location', 'name'] },
      ),
    }),
    fc.record({
      httpAuthSecurityScheme: fc.record({ scheme: fc.constantFrom('Bearer', 'Basic'), bearerFormat: ID }, { requiredKeys: ['scheme'] }),
    }),
    fc.record({ openIdConnectSecurityScheme: fc.record({ openIdConnectUrl: URLS }) }),
    fc.record({ mtlsSecurityScheme: fc.record({ description: WORDS }, { requiredKeys: [] }) }),
    fc.record({
      oauth2SecurityScheme: fc.record(
        {
          flows: fc.oneof(
            fc.record({
              authorizationCode: fc.record(
                { authorizationUrl: URLS, tokenUrl: URLS, refreshUrl: URLS, scopes, pkceRequired: fc.constant(true) },
                { requiredKeys: ['authorizationUrl', 'tokenUrl', 'scopes'] },
              ),
            }),
            fc.record({ clientCredentials: fc.record({ tokenUrl: URLS, scopes }) }),
            fc.record({ deviceCode: fc.record({ deviceAuthorizationUrl: URLS, tokenUrl: URLS, scopes }) }),
            fc.record({ implicit: fc.record({ authorizationUrl: URLS, scopes }) }),
            fc.record({ password: fc.record({ tokenUrl: URLS, scopes }) }),
          ),
          oauth2MetadataUrl: URLS,
        },
        { requiredKeys: ['flows'] },
      ),
    }),
  ),
);
const MODES = some(MEDIA_TYPE, 2);
const requirement = fc.record({
  schemes: fc.dictionary(ID, fc.record({ list: some(KEY, 2) }, { requiredKeys: [] }), { minKeys: 1, maxKeys: 2 }),
});
export const card: fc.Arbitrary<AgentCard> = shaped(
  fc.record(
    {
      name: WORDS,
      description: WORDS,
      version: fc.constantFrom('1.0.0', '0.3.1'),
      supportedInterfaces: some(
        fc.record(
          {
            url: fc.constantFrom('https://a.example/a2a', 'https://a.example/rest', 'https://b.example/'),
            protocolBinding: fc.constantFrom('JSONRPC', 'HTTP+JSON', 'GRPC'),
            protocolVersion: fc.constantFrom('1.0', '0.3'),
            tenant: ID,
          },
          { requiredKeys: ['url', 'protocolBinding', 'protocolVersion'] },
        ),
      ),
      capabilities: fc.record(
        {
          streaming: fc.boolean(),
          pushNotifications: fc.boolean(),
          extendedAgentCard: fc.boolean(),
          extensions: some(
            fc.record(
              { uri: fc.constantFrom('urn:x', 'https://x.example/v1'), description: WORDS, required: fc.constant(true), params: METADATA },
              { requiredKeys: ['uri'] },
            ),
            2,
          ),
        },
        { requiredKeys: [] },
      ),
      defaultInputModes: MODES,
      defaultOutputModes: MODES,
      skills: some(
        fc.record(
          {
            id: ID,
            name: WORDS,
            description: WORDS,
            tags: some(ID, 2),
            examples: some(WORDS, 2),
            inputModes: MODES,
            outputModes: MODES,
            securityRequirements: some(requirement, 2),
          },
          { requiredKeys: ['id', 'name', 'description', 'tags'] },
        ),
        2,
      ),
      provider: fc.record({ organization: WORDS, url: URLS }),
      documentationUrl: URLS,
      iconUrl: URLS,
      securitySchemes: fc.dictionary(ID, scheme, { minKeys: 1, maxKeys: 3 }),
      securityRequirements: some(requirement, 2),
      signatures: some(fc.record({ protected: ID, signature: ID, header: METADATA }, { requiredKeys: ['protected', 'signature'] }), 2),
    },
    {
      requiredKeys: [
        'name',
        'description',
        'version',
        'supportedInterfaces',
        'capabilities',
        'defaultInputModes',
        'defaultOutputModes',
        'skills',
      ],
    },
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
