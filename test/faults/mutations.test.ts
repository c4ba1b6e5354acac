import { afterAll, describe, expect, it } from 'vitest';
import { serveJsonRpc, serveRest } from '#bindings';
import type { Dialect } from '#protocol';
import { contextId, createRegistry, createUserMessage, DIALECTS, messageId } from '#protocol';
import { callContext } from '../support/calls.ts';
import type { Exchange } from '../support/corpus.ts';
import { corpus, corpusDialects } from '../support/corpus.ts';
import type { MemoryService } from '../support/memory-service.ts';
import { memoryService } from '../support/memory-service.ts';
import { mutate, seeded } from '../support/mutate.ts';
import { times } from './size.ts';

/**
 * Every recorded request, mutated with a seed: 100,000 in the full size. Nothing throws, hangs or answers 5xx, and a refused request
 * changes nothing. The share of each outcome is printed, because a mutator that only makes garbage would prove little.
 */
const MUTATIONS = times(20_000, 100_000);
const SERVICE_LIVES = 50; // requests; then a new service, so that reading its state stays cheap

const folders = corpusDialects().map((dialect) => ({ dialect, exchanges: corpus(dialect).filter(isRequest) }));
const total = folders.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
const outcomes = new Map<string, number>();
let decoded = 0;
const registry = createRegistry(DIALECTS.map(counting));

describe('I1: mutated requests', () => {
  for (const { dialect, exchanges } of folders) {
    it(`of ${dialect} are refused or served, never a fault`, async () => {
      for (const [at, exchange] of exchanges.entries()) await mutateOne(exchange, at + 1, Math.ceil(MUTATIONS / total));
    });
  }

  it('are mostly JSON and reach a decoder', () => {
    const sent = [...outcomes.values()].reduce((sum, count) => sum + count, 0);
    expect(sent).toBeGreaterThanOrEqual(MUTATIONS);
    expect(decoded / sent).toBeGreaterThan(0.5);
    expect(outcomes.get('accepted') ?? 0).toBeGreaterThan(sent / 100);
  });

  it('do not change Object.prototype', () => expect(({} as Record<string, unknown>)['polluted']).toBeUndefined());
});

afterAll(() => {
  const sent = [...outcomes.values()].reduce((sum, count) => sum + count, 0);
  const shares = [...outcomes].sort((a, b) => b[1] - a[1]).map(([outcome, count]) => `${outcome} ${((100 * count) / sent).toFixed(1)} %`);
  process.stdout.write(`${sent} mutations, ${((100 * decoded) / sent).toFixed(1)} % reached a decoder: ${shares.join(', ')}\n`);
});

async function mutateOne(exchange: Exchange, seed: number, times: number): Promise<void> {
  const random = seeded(seed);
  const original = new TextEncoder().encode(JSON.stringify(exchange.request ?? exchange.rest?.body));
  let service = await withTask();
  for (let time = 0; time < times; time += 1) {
    if (time % SERVICE_LIVES === 0) service = await withTask();
    const body = mutate(original, random);
    const before = service.state();
    const reached = decoded;
    const { status, outcome } = await answer(exchange, body, service);
    decoded = Math.min(decoded, reached + 1); // counts a request once, however often its decoder ran
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    const shown = `${exchange.file}: ${new TextDecoder().decode(body).slice(0, 2000)}`;
    if (status >= 500) throw new Error(`${status} for ${shown}`);
    if (outcome !== 'accepted' && service.state() !== before) throw new Error(`refused, and yet something changed: ${shown}`);
  }
}

async function answer(exchange: Exchange, body: Uint8Array, service: MemoryService): Promise<{ status: number; outcome: string }> {
  const url = `http://agent.example${exchange.rest?.path ?? exchange.path ?? '/a2a'}`;
  const request = new Request(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: new Uint8Array(body) });
  const causes: unknown[] = [];
  const options = { registry, onError: (cause: unknown) => causes.push(cause) };
  const response = exchange.rest === undefined ? await serveJsonRpc(request, service, options) : await serveRest(request, service, options);
  if (causes.length > 0) throw causes[0];
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
    await response.body?.cancel();
    return { status: response.status, outcome: 'accepted' };
  }
  const text = await response.text();
  return { status: response.status, outcome: outcomeOf(text === '' ? undefined : JSON.parse(text)) };
}

const NAMES: Readonly<Record<number, string>> = {
  [-32700]: 'not JSON',
  [-32600]: 'no request',
  [-32601]: 'no such method',
  [-32602]: 'invalid params',
  [-32001]: 'no such task',
};

function outcomeOf(json: unknown): string {
  if (typeof json !== 'object' || json === null || !('error' in json)) return 'accepted';
  const { code } = json.error as { code: number };
  return NAMES[code] ?? 'another error';
}

function isRequest(exchange: Exchange): boolean {
  return exchange.request !== undefined || exchange.rest?.body !== undefined;
}

function counting(dialect: Dialect): Dialect {
  const decode: Dialect['decode'] = (shape, raw, env) => {
    decoded += 1;
    return dialect.decode(shape, raw, env);
  };
  return { ...dialect, decode };
}

async function withTask(): Promise<MemoryService> {
  const service = memoryService();
  const message = createUserMessage('x', { messageId: messageId('m'), contextId: contextId('c') });
  await service.send({ message }, callContext());
  return service;
}
