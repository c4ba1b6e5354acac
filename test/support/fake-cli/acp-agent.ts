// An agent that speaks the Agent Client Protocol by the SDK's own agent side, and obeys the words of its prompt. Its sessions are
// files in the folder that SESSIONS names, as those of real ones are in the home folder.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';

const folder = process.env['SESSIONS'] ?? '/nowhere';
const canLoad = process.env['NO_LOAD'] === undefined;
let count = 0;
let isCancelled = false;

const file = (id: string): string => join(folder, `${id}.json`);
const past = (id: string): string[] => JSON.parse(readFileSync(file(id), 'utf8')) as string[];

process.stdout.write('A banner before the first message\n');

const OPTIONS: acp.PermissionOption[] = [
  { optionId: 'yes-once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'yes-always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];

type Client = acp.AgentContext;

async function say(client: Client, sessionId: string, update: acp.SessionUpdate): Promise<void> {
  await client.notify(acp.methods.client.session.update, { sessionId, update });
}

const text = (client: Client, sessionId: string, words: string): Promise<void> =>
  say(client, sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: words } });

async function ask(client: Client, sessionId: string, command: string): Promise<string> {
  count += 1;
  const toolCallId = `call-${process.pid}-${count}`;
  const call: acp.ToolCall = { toolCallId, title: `Run ${command}`, kind: 'execute', rawInput: { command } };
  await say(client, sessionId, { sessionUpdate: 'tool_call', ...call, status: 'pending' });
  const { outcome } = await client.request(acp.methods.client.session.requestPermission, { sessionId, toolCall: call, options: OPTIONS });
  const allowed = outcome.outcome === 'selected' && outcome.optionId.startsWith('yes');
  const output = allowed ? `ran ${command}` : 'not allowed';
  await say(client, sessionId, {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: allowed ? 'completed' : 'failed',
    content: [{ type: 'content', content: { type: 'text', text: output } }],
  });
  return outcome.outcome === 'selected' ? outcome.optionId : 'cancelled';
}

const acts: Readonly<Record<string, (client: Client, sessionId: string, rest: string) => Promise<acp.StopReason>>> = {
  hello: async (client, sessionId) => {
    await say(client, sessionId, { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Let me think.' } });
    await say(client, sessionId, {
      sessionUpdate: 'plan',
      entries: [{ content: 'Say hello', priority: 'high', status: 'in_progress' }],
    });
    await text(client, sessionId, 'Hello, ');
    await text(client, sessionId, 'world.');
    await say(client, sessionId, { sessionUpdate: 'usage_update', used: 1200, size: 200_000, cost: { amount: 0.25, currency: 'USD' } });
    return 'end_turn';
  },
  edit: async (client, sessionId, rest) => {
    const path = join(process.cwd(), rest);
    writeFileSync(path, 'new\n');
    await say(client, sessionId, {
      ...{ sessionUpdate: 'tool_call', toolCallId: 'edit-1', title: `Edit ${rest}`, kind: 'edit', status: 'completed' },
      content: [{ type: 'diff', path, oldText: 'old\n', newText: 'new\n' }],
    });
    return 'end_turn';
  },
  read: async (client, sessionId, rest) => {
    const answer = await client.request(acp.methods.client.fs.readTextFile, { sessionId, path: rest }).then(
      ({ content }) => content,
      (thrown: Error) => `refused: ${thrown.message}`,
    );
    await text(client, sessionId, answer);
    return 'end_turn';
  },
  ask: async (client, sessionId, rest) => {
    await text(client, sessionId, `answer ${await ask(client, sessionId, rest)}`);
    return isCancelled ? 'cancelled' : 'end_turn';
  },
  two: async (client, sessionId) => {
    const answers = await Promise.all([ask(client, sessionId, 'first'), ask(client, sessionId, 'second')]);
    await text(client, sessionId, `answers ${answers.join(' ')}`);
    return 'end_turn';
  },
  mode: async (client, sessionId) => {
    await text(client, sessionId, currentModeId.replace(/^.*#/, ''));
    return 'end_turn';
  },
  refuse: async () => 'refusal',
  tokens: async () => 'max_tokens',
  hang: async (client, sessionId) => {
    await text(client, sessionId, 'hanging');
    while (!isCancelled) await new Promise((resolve) => setTimeout(resolve, 20));
    return 'cancelled';
  },
  crash: async () => {
    process.stderr.write('segmentation of thought\n');
    process.exit(7);
  },
  // After a restart the prompt asks it to continue, and it does what it was about to do.
  You: async (client, sessionId) => {
    const before = past(sessionId).findLast((words) => words.startsWith('ask ')) ?? 'ask nothing';
    await text(client, sessionId, `again ${await ask(client, sessionId, before.slice(4))}`);
    return 'end_turn';
  },
  what: async (client, sessionId) => {
    await text(client, sessionId, `you said: ${past(sessionId).join(' | ')}`);
    return 'end_turn';
  },
};

const capabilities: acp.AgentCapabilities = { loadSession: canLoad, promptCapabilities: { image: false } };
let currentModeId = process.env['MODE'] ?? 'code';
const modes = {
  currentModeId,
  availableModes: [
    { id: 'code', name: 'Code' },
    { id: 'plan', name: 'Plan' },
    { id: 'auto', name: 'Auto' },
    { id: 'https://example.org/modes#default', name: 'Default' },
  ],
};

acp
  .agent({ name: 'fake' })
  .onRequest(acp.methods.agent.initialize, () => ({ protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: capabilities }))
  .onRequest(acp.methods.agent.session.new, () => {
    if (process.env['NOT_LOGGED_IN'] !== undefined) throw acp.RequestError.authRequired();
    const sessionId = `session-${process.pid}`;
    mkdirSync(folder, { recursive: true });
    writeFileSync(file(sessionId), '[]');
    return { sessionId, modes };
  })
  .onRequest(acp.methods.agent.session.load, async ({ params: { sessionId }, client }) => {
    if (!existsSync(file(sessionId))) throw acp.RequestError.resourceNotFound(sessionId);
    for (const words of past(sessionId)) await text(client, sessionId, `(replayed) ${words}`);
    return { modes };
  })
  .onRequest(acp.methods.agent.session.setMode, async ({ params: { sessionId, modeId }, client }) => {
    currentModeId = modeId;
    await say(client, sessionId, { sessionUpdate: 'current_mode_update', currentModeId });
    return {};
  })
  .onNotification(acp.methods.agent.session.cancel, () => {
    isCancelled = true;
  })
  .onRequest(acp.methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    const words = prompt.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join(' ');
    writeFileSync(file(sessionId), JSON.stringify([...past(sessionId), words]));
    const [act = '', ...rest] = words.split(' ');
    const stopReason = await (acts[act] ?? acts['hello'])?.(client, sessionId, rest.join(' '));
    return { stopReason: stopReason ?? 'end_turn' };
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>));
