import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** What the program printed, and its exit code. */
export interface Printed {
  readonly out: string;
  readonly code: number;
}

interface Card {
  readonly name: string;
  readonly description?: string;
  readonly url: string;
  readonly skills?: readonly { readonly id: string }[];
  readonly transport?: { readonly type: string };
}

interface Task {
  readonly id: string;
  readonly status: { readonly state: string; readonly message?: string };
  readonly artifacts?: readonly { readonly name?: string; readonly parts: readonly { readonly type: string; readonly text?: string }[] }[];
}

/** Society's HTTP transport: `http.Client{Timeout: 30s}`, with the whole answer inside it. */
const HTTP_MS = 30_000;
const CARD_MS = 10_000;

/**
 * The command line of Society 0.3.0, as far as it talks A2A: `discover`, `list`, `ping` and `send`. It reads what its Go types read: a status
 * message must be a string, a status outside 2xx is an error, and of an answer it prints the text of artifacts, a failure, and the thread.
 */
export async function society(registry: string, args: readonly string[], input = ''): Promise<Printed> {
  try {
    return { out: await command(registry, args, input), code: 0 };
  } catch (error) {
    return { out: `Error: ${error instanceof Error ? error.message : String(error)}\n`, code: 1 };
  }
}

async function command(registry: string, args: readonly string[], input: string): Promise<string> {
  const [word, name = '', ...rest] = args;
  switch (word) {
    case 'discover':
      return await discover(registry, name, input);
    case 'list':
      return load(registry)
        .map((card) => `  ${card.name} ${card.transport?.type ?? 'http'} ${card.url} ${skillsOf(card)}\n`)
        .join('');
    case 'ping': {
      const card = find(registry, name);
      await post(card.url, { jsonrpc: '2.0', id: 'ping', method: 'tasks/send', params: paramsOf(`ping-${crypto.randomUUID()}`, 'ping') });
      return `  ✓ ${card.name} is responding\n  Skills: ${skillsOf(card)}\n`;
    }
    default: {
      const at = rest.indexOf('--thread');
      const words = at === -1 ? rest : rest.filter((_, index) => index !== at && index !== at + 1);
      return await send(find(registry, name), words.join(' '), at === -1 ? crypto.randomUUID() : (rest[at + 1] ?? ''));
    }
  }
}

/** Tries both well-known paths, then the address itself; asks whether to add the agent, and how to reach it. */
async function discover(registry: string, url: string, input: string): Promise<string> {
  const base = url.replace(/\/+$/, '');
  const paths = url.endsWith('.json') ? [url] : [`${base}/.well-known/agent-card.json`, `${base}/.well-known/agent.json`, url];
  let failure = new Error('no card');
  for (const path of paths) {
    try {
      const answer = await fetch(path, { signal: AbortSignal.timeout(CARD_MS) });
      if (answer.status !== 200) throw new Error(`GET ${path}: status ${answer.status}`);
      const card = readCard(await answer.json());
      const [adds = 'y'] = input.split('\n');
      if (adds.startsWith('y')) writeFileSync(registry, JSON.stringify({ agents: [...load(registry), { ...card, url: card.url || url }] }));
      return `\n  Found agent:\n    Name: ${card.name}\n    Skills: ${skillsOf(card)}\n    URL: ${card.url}\n  ✓ Added "${card.name}" to registry\n`;
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
  }
  throw new Error(`discovering agent: ${failure.message}`);
}

/** As Go decodes it: a member of another type is an error, and an unknown one is dropped. */
function readCard(raw: unknown): Card {
  const { name, description, url, skills, transport, capabilities, provider, authentication } = raw as Record<string, unknown>;
  if (typeof name !== 'string' || name === '') throw new Error('invalid agent card: missing name');
  if (typeof url !== 'string') throw new Error('parsing response: url');
  const { streaming = false, pushNotifications = false, stateTransitionHistory = false } = (capabilities ?? {}) as Record<string, unknown>;
  if ([streaming, pushNotifications, stateTransitionHistory].some((flag) => typeof flag !== 'boolean'))
    throw new Error('parsing capabilities');
  for (const value of [provider, authentication, transport]) {
    if (value !== undefined && (typeof value !== 'object' || Array.isArray(value)))
      throw new Error('parsing response: an object is expected');
  }
  if (authentication !== undefined && !Array.isArray((authentication as { schemes?: unknown }).schemes ?? []))
    throw new Error('parsing schemes');
  const transportOf = transport as Card['transport'];
  return {
    name,
    url,
    ...(typeof description === 'string' ? { description } : {}),
    ...(Array.isArray(skills) ? { skills: skills as Card['skills'] & object } : {}),
    ...(transportOf === undefined ? {} : { transport: transportOf }),
  };
}

async function send(card: Card, text: string, thread: string): Promise<string> {
  const request = { jsonrpc: '2.0', id: thread, method: 'tasks/send', params: paramsOf(thread, text) };
  const { result, error } = (await post(card.url, request)) as { result?: unknown; error?: { code: number; message: string } };
  if (error !== undefined) throw new Error(`agent error [${error.code}]: ${error.message}`);
  const task = readTask(result);
  const texts = (task.artifacts ?? []).flatMap(({ parts }) => parts.filter(({ type }) => type === 'text').map((part) => part.text ?? ''));
  const failed = task.status.state === 'failed' ? `\n✗ ${task.status.message ?? ''}\n` : '';
  return `${texts.map((each) => `${each.trim()}\n`).join('')}${failed}${task.id === '' ? '' : `\nthread: ${task.id}\n`}`;
}

function readTask(raw: unknown): Task {
  const task = raw as Task;
  if (typeof task.id !== 'string' || typeof task.status?.state !== 'string') throw new Error('parsing task');
  const { message } = task.status;
  if (message !== undefined && typeof message !== 'string') throw new Error('parsing task: cannot unmarshal object into Go struct field');
  return task;
}

function paramsOf(id: string, text: string): object {
  return { id, message: { role: 'user', parts: [{ type: 'text', text }] } };
}

async function post(url: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(HTTP_MS) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`server returned ${answer.status}: ${text}`);
  return JSON.parse(text);
}

function load(registry: string): readonly Card[] {
  return existsSync(registry) ? (JSON.parse(readFileSync(registry, 'utf8')) as { agents: Card[] }).agents : [];
}

function find(registry: string, name: string): Card {
  const card = load(registry).find((each) => each.name === name);
  if (card === undefined) throw new Error(`agent "${name}" not found`);
  return card;
}

function skillsOf({ skills = [] }: Card): string {
  return skills.map(({ id }) => id).join(', ');
}
