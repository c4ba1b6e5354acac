import type { Choice, Json, JsonObject } from '#protocol';
import type { Child } from '../process/child.ts';
import { compact, numberAt, objectAt, objectsAt, textAt } from '../process/json-line.ts';
import type { Driver, Job } from '../run/driver.ts';
import type { RunEvent, ToolKind } from '../run/events.ts';
import { endOf } from '../run/exits.ts';
import type { PushQueue } from '../run/flow.ts';
import { createPushQueue } from '../run/flow.ts';
import { CODEX } from './codex-exec.ts';
import type { Rpc } from './rpc.ts';
import { createRpc, RpcError } from './rpc.ts';

/** Codex by its app-server, which asks for approval. */
export const codex: Driver = { name: 'codex', ...CODEX, edits: true, resumes: true, model: true, cancelMs: 1000, run };

const MODES = ['read-only', 'workspace-write'];
const OVERLOADED = -32_001;
const LOST = 'The earlier session is lost: this is a new one, which does not know the earlier messages.';

/** Starts the app-server for one turn. Refuses every mode that is not in `MODES`. */
async function* run(job: Job): AsyncGenerator<RunEvent> {
  const { mode } = job.settings;
  if (mode !== undefined && !MODES.includes(mode)) {
    yield { kind: 'refused', reason: `metadata.mode: codex has no mode ${mode}; there are ${MODES.join(', ')}` };
    return;
  }
  const child = job.start(['codex', 'app-server']);
  const flow = createPushQueue<RunEvent>();
  void converse(job, child, flow)
    .catch((thrown: unknown) => failure(thrown, child))
    .then((event) => {
      flow.push(event);
      flow.end();
    });
  yield* flow;
}

/**
 * One turn: initialize, open the thread, send the message, and answer approvals until the turn has
 * ended.
 */
async function converse(job: Job, child: Child, flow: PushQueue<RunEvent>): Promise<RunEvent> {
  const { settings, folder, prompt, isPermissive } = job;
  const ended = Promise.withResolvers<RunEvent>();
  const startedItems = new Set<string>();
  const items = new Map<string, JsonObject>();
  const rpc = createRpc(child, {
    room: () => flow.hasRoom(256),
    notice: (method, params) => {
      if (method === 'item/started') items.set(textAt(objectAt(params, 'item'), 'id') ?? '', objectAt(params, 'item'));
      else if (method === 'item/completed') items.delete(textAt(objectAt(params, 'item'), 'id') ?? '');
      for (const event of noticeEvents(method, params, startedItems)) {
        if (event.kind === 'done' || event.kind === 'error') ended.resolve(event);
        else flow.push(event);
      }
    },
    request: (method, params) => approval(method, { ...params, item: items.get(textAt(params, 'itemId') ?? '') ?? {} }, flow),
  });
  try {
    await rpc.call('initialize', { clientInfo: { name: 'parley', title: 'Parley', version: '1' } });
    rpc.notify('initialized', {});
    const policy = {
      cwd: folder,
      // Not `on-request`, with which Codex asks only when its model decides to.
      approvalPolicy: isPermissive ? 'never' : 'untrusted',
      sandbox: settings.mode ?? (isPermissive ? 'danger-full-access' : 'workspace-write'),
      ...(settings.model === undefined ? {} : { model: settings.model }),
    };
    const { threadId, model, note } = await openThread(rpc, job.session, policy);
    await job.keepSession(threadId, true);
    flow.push({ kind: 'init', sessionId: threadId, ...compactText({ model: settings.model ?? model, note }) });
    const started = await rpc.call('turn/start', { threadId, input: [{ type: 'text', text: prompt }] });
    const turnId = textAt(objectAt(started, 'turn'), 'id') ?? '';
    job.signal.addEventListener('abort', () => void rpc.call('turn/interrupt', { threadId, turnId }).catch(() => undefined), {
      once: true,
    });
    return await Promise.race([ended.promise, rpc.closed.then(() => Promise.reject(new Error('the app-server ended')))]);
  } finally {
    child.endInput();
  }
}

interface Thread {
  readonly threadId: string;
  readonly model: string | undefined;
  readonly note: string | undefined;
}

/** Continues the earlier thread, or starts a new one if it is lost. */
async function openThread(rpc: Rpc, session: string | undefined, policy: JsonObject): Promise<Thread> {
  const read = (answer: JsonObject, note?: string): Thread => ({
    threadId: textAt(objectAt(answer, 'thread'), 'id') ?? '',
    model: textAt(answer, 'model'),
    note,
  });
  if (session === undefined) return read(await rpc.call('thread/start', policy));
  try {
    return read(await rpc.call('thread/resume', { threadId: session, ...policy }));
  } catch (thrown) {
    if (!(thrown instanceof RpcError)) throw thrown;
    return read(await rpc.call('thread/start', policy), LOST);
  }
}

/** The events of a notification. Unknown ones have none: new versions add some. */
function noticeEvents(method: string, params: JsonObject, startedItems: Set<string>): readonly RunEvent[] {
  const item = objectAt(params, 'item');
  switch (method) {
    case 'item/agentMessage/delta': {
      const id = textAt(params, 'itemId') ?? '';
      const startsMessage = !startedItems.has(id);
      startedItems.add(id);
      return [{ kind: 'text', text: textAt(params, 'delta') ?? '', startsMessage }];
    }
    case 'item/reasoning/summaryTextDelta':
      return [{ kind: 'thought', text: textAt(params, 'delta') ?? '' }];
    case 'item/started':
      return TOOLS.has(textAt(item, 'type') ?? '') ? [useOf(item)] : [];
    case 'item/completed':
      return completed(item, startedItems);
    case 'turn/plan/updated':
      return [{ kind: 'plan', entries: objectsAt(params, 'plan').map(planEntry) }];
    case 'thread/tokenUsage/updated': {
      const total = objectAt(objectAt(params, 'tokenUsage'), 'total');
      const [inputTokens, outputTokens] = [numberAt(total, 'inputTokens'), numberAt(total, 'outputTokens')];
      return [{ kind: 'usage', usage: compact({ inputTokens, outputTokens, cachedTokens: numberAt(total, 'cachedInputTokens') }) }];
    }
    case 'turn/completed': {
      const turn = objectAt(params, 'turn');
      const status = textAt(turn, 'status');
      if (status === 'completed') return [{ kind: 'done', stopReason: 'end_turn' }];
      return [{ kind: 'error', message: textAt(objectAt(turn, 'error'), 'message') ?? `the turn ended as ${status ?? 'unknown'}` }];
    }
    case 'error':
      return [{ kind: 'note', text: textAt(objectAt(params, 'error'), 'message') ?? 'an error' }];
    default:
      return [];
  }
}

const TOOLS: ReadonlyMap<string, ToolKind> = new Map<string, ToolKind>([
  ['commandExecution', 'execute'],
  ['fileChange', 'edit'],
  ['mcpToolCall', 'other'],
  ['webSearch', 'fetch'],
]);

function useOf(item: JsonObject): RunEvent {
  const type = textAt(item, 'type') ?? '';
  const command = textAt(item, 'command');
  const paths = objectsAt(item, 'changes').map((change) => textAt(change, 'path') ?? '');
  const tool = { commandExecution: 'shell', fileChange: 'apply_patch', webSearch: 'web_search' }[type] ?? textAt(item, 'tool') ?? type;
  const about = command ?? (paths.length > 0 ? paths.join(', ') : textAt(item, 'query'));
  const input: Json = command === undefined ? (item['arguments'] ?? {}) : { command };
  const title = about === undefined ? tool : `${tool}: ${about}`;
  return { kind: 'tool_use', id: textAt(item, 'id') ?? '', tool, title, toolKind: TOOLS.get(type) ?? 'other', input, paths };
}

/** The end of an item. The text of a message that came in pieces is not repeated. */
function completed(item: JsonObject, startedItems: ReadonlySet<string>): readonly RunEvent[] {
  const type = textAt(item, 'type') ?? '';
  const id = textAt(item, 'id') ?? '';
  if (type === 'agentMessage') return startedItems.has(id) ? [] : [{ kind: 'text', text: textAt(item, 'text') ?? '', startsMessage: true }];
  if (!TOOLS.has(type)) return [];
  const status = textAt(item, 'status');
  const changes = objectsAt(item, 'changes').map((change) => textAt(change, 'diff') ?? textAt(change, 'path') ?? '');
  const output = textAt(item, 'aggregatedOutput') ?? changes.join('\n');
  return [{ kind: 'tool_result', id, output, isError: status === 'failed' || status === 'declined' }];
}

const STATES: Readonly<Record<string, 'pending' | 'in_progress' | 'completed'>> = { inProgress: 'in_progress', completed: 'completed' };

function planEntry(entry: JsonObject): { readonly content: string; readonly status: 'pending' | 'in_progress' | 'completed' } {
  return { content: textAt(entry, 'step') ?? '', status: STATES[textAt(entry, 'status') ?? ''] ?? 'pending' };
}

const OPTIONS: readonly Choice[] = [
  { optionId: 'accept', name: 'Allow', kind: 'allow_once' },
  { optionId: 'acceptForSession', name: 'Allow for this session', kind: 'allow_always' },
  { optionId: 'decline', name: 'Reject', kind: 'reject_once' },
];

/** A request of Codex. Undefined: it asks for something that is not supported. */
function approval(method: string, params: JsonObject, flow: PushQueue<RunEvent>): Promise<JsonObject> | undefined {
  const kind = ASKS.get(method);
  if (kind === undefined) return undefined;
  const { promise, resolve } = Promise.withResolvers<JsonObject>();
  const command = textAt(params, 'command');
  const tool = kind === 'execute' ? 'shell' : kind === 'edit' ? 'apply_patch' : 'permissions';
  const reason = textAt(params, 'reason');
  // The change is in the event that started the item; the request only names the item.
  const paths = objectsAt(objectAt(params, 'item'), 'changes').map((change) => textAt(change, 'path') ?? '');
  const about = command ?? (paths.length > 0 ? paths.join(', ') : undefined);
  flow.push({
    kind: 'approval',
    approval: {
      ...{ id: textAt(params, 'itemId') ?? method, tool, toolKind: kind, options: OPTIONS, paths },
      title: [`${tool}${about === undefined ? '' : `: ${about}`}`, reason].filter((part) => part !== undefined && part !== '').join(' — '),
      input: compact({ command, cwd: textAt(params, 'cwd'), reason }),
      answer: (optionId) => resolve({ decision: optionId ?? 'decline' }),
    },
  });
  return promise;
}

const ASKS: ReadonlyMap<string, ToolKind> = new Map<string, ToolKind>([
  ['item/commandExecution/requestApproval', 'execute'],
  ['item/fileChange/requestApproval', 'edit'],
  ['item/permissions/requestApproval', 'other'],
]);

/** The error of Codex itself, or how its process ended. */
async function failure(thrown: unknown, child: Child): Promise<RunEvent> {
  if (thrown instanceof RpcError) {
    const busy = thrown.code === OVERLOADED ? 'Codex is overloaded; try again later: ' : '';
    return { kind: 'error', message: `${busy}${thrown.message}` };
  }
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  child.endInput();
  return await endOf(child, 'codex', () => ({ kind: 'error', message: `codex: ${words}` }));
}

function compactText(members: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(members).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
