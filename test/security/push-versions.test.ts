import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeServer } from '../../src/server/adapters/node.ts';
import { eventually } from '../support/eventually.ts';
import type { Hit, Receiver } from '../support/receiver.ts';
import { checkSigned, startReceiver } from '../support/receiver.ts';
import { startServer } from '../support/server.ts';

let node: NodeServer;
let hook: Receiver;
beforeAll(async () => {
  node = await startServer({ allowLoopbackTargets: true });
  hook = await startReceiver();
});
afterAll(async () => {
  await node.close();
  await hook.close();
});

type Json = Record<string, unknown>;
const SECRET = 'canary-credentials';
const TOKEN = 'canary-token';

async function call(
  path: string,
  body: unknown,
  { method = 'POST', headers = {} }: { method?: string; headers?: Json } = {},
): Promise<Json> {
  const response = await fetch(`${node.url}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...(headers as Record<string, string>) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect(text).not.toContain(SECRET);
  const answer = (text === '' ? {} : JSON.parse(text)) as Json;
  if (!response.ok || answer['error'] !== undefined) throw new Error(`${path}: ${response.status} ${text}`);
  return answer;
}
const rpcAt =
  (at: string) =>
  async (method: string, params: Json): Promise<Json> =>
    (await call(at, { jsonrpc: '2.0', id: 1, method, params }))['result'] as Json;
const rpc = rpcAt('/a2a/jsonrpc');
/** A 0.1 get request looks like one of 0.3. */
const rpc01 = rpcAt('/a2a?dialect=v01');

let made = 0;
const next = (): number => {
  made += 1;
  return made;
};
/** Each test gets its own path. */
const path = (): string => `/hook-${next()}`;
async function heard(at: string, count = 1): Promise<readonly Hit[]> {
  await eventually(() => hook.hits.filter((hit) => hit.path === at).length >= count);
  return hook.hits.filter((hit) => hit.path === at);
}
const last = (hits: readonly Hit[]): Json => JSON.parse(hits.at(-1)?.body ?? '') as Json;

interface Version {
  readonly name: string;
  /** Starts a short task, with or without a webhook, and returns its id. */
  readonly start: (text: string, url?: string) => Promise<string>;
  readonly create: (task: string, id: string, url: string) => Promise<Json>;
  readonly get: (task: string, id: string) => Promise<Json>;
  readonly list?: (task: string) => Promise<readonly Json[]>;
  readonly drop?: (task: string, id: string) => Promise<unknown>;
  readonly isDone: (body: Json) => boolean;
  readonly mediaType: string;
  readonly several: boolean;
}

const one = { token: TOKEN, authentication: { schemes: ['Bearer'], credentials: SECRET } };
const flat = { token: TOKEN, authentication: { scheme: 'Bearer', credentials: SECRET } };
const kindMessage = (text: string): Json => ({
  kind: 'message',
  messageId: `m${next()}`,
  role: 'user',
  parts: [{ kind: 'text', text }],
});
const message = (text: string): Json => ({ messageId: `m${next()}`, role: 'ROLE_USER', parts: [{ text }] });
const isTask = ({ kind, status }: Json): boolean => kind === 'task' && (status as Json)['state'] === 'completed';
const CONFIGS = '/pushNotificationConfigs';

const kindVersion = (name: string): Version => ({
  name,
  start: async (text, url) => {
    const configuration = {
      blocking: false,
      acceptedOutputModes: [],
      ...(url === undefined ? {} : { pushNotificationConfig: { url, ...one } }),
    };
    return (await rpc('message/send', { message: kindMessage(text), configuration }))['id'] as string;
  },
  create: (taskId, id, url) => rpc('tasks/pushNotificationConfig/set', { taskId, pushNotificationConfig: { id, url, ...one } }),
  get: (task, id) => rpc('tasks/pushNotificationConfig/get', { id: task, pushNotificationConfigId: id }),
  list: async (id) => (await rpc('tasks/pushNotificationConfig/list', { id })) as unknown as Json[],
  drop: (task, id) => rpc('tasks/pushNotificationConfig/delete', { id: task, pushNotificationConfigId: id }),
  isDone: isTask,
  mediaType: 'application/json',
  several: true,
});

const VERSIONS: readonly Version[] = [
  {
    name: '1.0 over JSON-RPC',
    start: async (text, url) => {
      const configuration = { returnImmediately: true, ...(url === undefined ? {} : { taskPushNotificationConfig: { url, ...flat } }) };
      return ((await rpc('SendMessage', { message: message(text), configuration }))['task'] as Json)['id'] as string;
    },
    create: (taskId, id, url) => rpc('CreateTaskPushNotificationConfig', { taskId, id, url, ...flat }),
    get: (taskId, id) => rpc('GetTaskPushNotificationConfig', { taskId, id }),
    list: async (taskId) => (await rpc('ListTaskPushNotificationConfigs', { taskId }))['configs'] as Json[],
    drop: (taskId, id) => rpc('DeleteTaskPushNotificationConfig', { taskId, id }),
    isDone: ({ statusUpdate }) =>
      ((statusUpdate as Json | undefined)?.['status'] as Json | undefined)?.['state'] === 'TASK_STATE_COMPLETED',
    mediaType: 'application/a2a+json',
    several: true,
  },
  {
    name: '1.0 over HTTP+JSON',
    start: async (text, url) => {
      const configuration = { returnImmediately: true, ...(url === undefined ? {} : { taskPushNotificationConfig: { url, ...flat } }) };
      return ((await call('/message:send', { message: message(text), configuration }))['task'] as Json)['id'] as string;
    },
    create: (task, id, url) => call(`/tasks/${task}${CONFIGS}`, { id, url, ...flat }),
    get: (task, id) => call(`/tasks/${task}${CONFIGS}/${id}`, undefined, { method: 'GET' }),
    list: async (task) => (await call(`/tasks/${task}${CONFIGS}`, undefined, { method: 'GET' }))['configs'] as Json[],
    drop: (task, id) => call(`/tasks/${task}${CONFIGS}/${id}`, undefined, { method: 'DELETE' }),
    isDone: ({ statusUpdate }) =>
      ((statusUpdate as Json | undefined)?.['status'] as Json | undefined)?.['state'] === 'TASK_STATE_COMPLETED',
    mediaType: 'application/a2a+json',
    several: true,
  },
  kindVersion('0.3 and 0.2 over JSON-RPC'),
  {
    ...kindVersion('0.3 over HTTP+JSON'),
    start: async (text, url) => {
      const said = { messageId: `m${next()}`, role: 'ROLE_USER', content: [{ text }] };
      const configuration = { blocking: false, ...(url === undefined ? {} : { pushNotification: { url, ...one } }) };
      return ((await call('/v1/message:send', { message: said, configuration }))['task'] as Json)['id'] as string;
    },
    create: (task, configId, url) =>
      call(`/v1/tasks/${task}${CONFIGS}`, {
        parent: `tasks/${task}`,
        configId,
        config: { name: `tasks/${task}${CONFIGS}/${configId}`, pushNotificationConfig: { id: configId, url, ...one } },
      }),
    get: (task, id) => call(`/v1/tasks/${task}${CONFIGS}/${id}`, undefined, { method: 'GET' }),
    list: async (task) => (await call(`/v1/tasks/${task}${CONFIGS}`, undefined, { method: 'GET' }))['configs'] as Json[],
    drop: (task, id) => call(`/v1/tasks/${task}${CONFIGS}/${id}`, undefined, { method: 'DELETE' }),
  },
  {
    name: '0.1 over JSON-RPC',
    start: async (text, url) => {
      const id = `named-${next()}`;
      const params = { id, sessionId: `s-${id}`, message: { role: 'user', parts: [{ type: 'text', text }] } };
      void rpc01('tasks/send', { ...params, ...(url === undefined ? {} : { pushNotification: { url, ...one } }) }).catch(() => undefined);
      await eventually(
        async () =>
          await rpc01('tasks/get', { id }).then(
            () => true,
            () => false,
          ),
      );
      return id;
    },
    create: (id, _, url) => rpc01('tasks/pushNotification/set', { id, pushNotificationConfig: { url, ...one } }),
    get: (id) => rpc01('tasks/pushNotification/get', { id }),
    isDone: ({ kind, id, status }) => kind === undefined && id !== undefined && (status as Json)['state'] === 'completed',
    mediaType: 'application/json',
    several: false,
  },
];

describe.each(VERSIONS)('webhooks of $name', (version) => {
  it('receive signed deliveries in the dialect’s format, with token and credentials', async () => {
    const at = path();
    const id = await version.start('chunks=2 delay=20', `${hook.url}${at}`);
    await eventually(() => hook.hits.some((hit) => hit.path === at && version.isDone(JSON.parse(hit.body) as Json)));
    const hits = await heard(at);
    const body = last(hits);
    expect(JSON.stringify(body)).toContain(id);
    for (const { headers } of hits) {
      expect(headers).toMatchObject({
        'content-type': version.mediaType,
        authorization: `Bearer ${SECRET}`,
        'x-a2a-notification-token': TOKEN,
        'webhook-id': expect.stringMatching(/^msg_/),
      });
    }
    expect(new Set(hits.map(({ headers }) => headers['webhook-id'])).size).toBe(hits.length);
    await checkSigned(node.url, hits);
  });

  it('can be created, read, listed and deleted, without showing secrets', async () => {
    const [first, second] = [path(), path()];
    const task = await version.start('sleep=700');
    const created = await version.create(task, 'a', `${hook.url}${first}`);
    expect(JSON.stringify([created, await version.get(task, 'a')])).not.toMatch(/canary/);
    expect(JSON.stringify(await version.get(task, 'a'))).toContain(first);
    if (version.several) {
      await version.create(task, 'b', `${hook.url}${second}`);
      const listed = await version.list?.(task);
      expect(listed).toHaveLength(2);
      expect(JSON.stringify(listed)).not.toMatch(/canary/);
      await version.drop?.(task, 'b');
      await version.drop?.(task, 'b');
      await expect(version.get(task, 'b')).rejects.toThrow();
    }
    const hits = await heard(first);
    await eventually(() => version.isDone(last(hook.hits.filter((hit) => hit.path === first))));
    expect(hook.hits.filter((hit) => hit.path === second)).toEqual([]);
    await checkSigned(node.url, hits);
  });
});

describe('a forbidden webhook', () => {
  it('W7, W9: is refused at registration in every version, and no task is created', async () => {
    for (const { start, create } of VERSIONS.slice(0, 4)) {
      for (const url of [
        'http://169.254.169.254/',
        'https://10.0.0.1/',
        'http://[::ffff:a00:1]/',
        'ftp://example.com/',
        'http://93.184.216.34/',
      ]) {
        await expect(start('x', url)).rejects.toThrow(/400|-32602/);
      }
      const task = await start('sleep=300');
      await expect(create(task, 'a', 'https://192.168.0.1/')).rejects.toThrow(/public/);
    }
  });

  it('W11: of another caller’s task looks like one of an unknown task', async () => {
    const [version] = VERSIONS;
    await expect(version?.create('nobody', 'a', `${hook.url}/x`)).rejects.toThrow(/-32001/);
  });
});
