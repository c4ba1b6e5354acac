import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, JsonObject } from '#protocol';
import { anthropic } from './anthropic.ts';
import type { FaultCounts } from './faults.ts';
import { faultOf, isCut } from './faults.ts';
import { gemini } from './gemini.ts';
import type { Turn } from './model.ts';
import { decide, record } from './model.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';

const PROVIDERS = [anthropic, openaiChat, openaiResponses, gemini];

export interface FakeModel {
  readonly url: string;
  /** The paths of the requests. */
  readonly requests: readonly string[];
  /** The conversation that each request contained. */
  readonly asked: readonly (readonly Turn[])[];
  /** The bodies of the requests to a model. */
  readonly bodies: readonly JsonObject[];
  /** The number of open responses. */
  readonly speaking: number;
  close(): Promise<void>;
}

/** The model of every agent under test: it serves each vendor's API on loopback and follows the prompt (model.ts). */
export async function startFakeModel(log: (line: string) => void = () => {}): Promise<FakeModel> {
  const requests: string[] = [];
  const asked: (readonly Turn[])[] = [];
  const counts: FaultCounts = new Map();
  const bodies: JsonObject[] = [];
  const heard: Answering['heard'] = (turns, body) => {
    asked.push(turns);
    bodies.push(body);
  };
  let answered = 0;
  let speaking = 0;
  const server = createServer((incoming, outgoing) => {
    answered += 1;
    speaking += 1;
    requests.push(`${incoming.method} ${incoming.url}`);
    answer(incoming, outgoing, { id: String(answered), log, counts, heard })
      .catch((thrown: unknown) => {
        log(`failed: ${String(thrown)}`);
        outgoing.destroy();
      })
      .finally(() => {
        speaking -= 1;
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    asked,
    bodies,
    get speaking() {
      return speaking;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Answering {
  readonly id: string;
  readonly log: (line: string) => void;
  readonly counts: FaultCounts;
  readonly heard: (turns: readonly Turn[], body: JsonObject) => void;
}

async function answer(incoming: IncomingMessage, outgoing: ServerResponse, { id, log, counts, heard }: Answering): Promise<void> {
  const path = new URL(incoming.url ?? '/', 'http://model').pathname;
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
  const provider = PROVIDERS.find((known) => known.matches(path));
  if (provider === undefined) {
    log(`${incoming.method} ${path}: not a model's`);
    outgoing.writeHead(path.endsWith('/models') ? 200 : 404, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify(path.endsWith('/models') ? { object: 'list', data: [{ id: 'fake-model', object: 'model' }] } : {}));
    return;
  }
  const body = record(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Json);
  const asked = provider.read(body);
  heard(asked.turns, body);
  const fault = faultOf(incoming.headers, body, asked, counts);
  if (fault !== undefined) {
    outgoing.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers });
    outgoing.end(JSON.stringify(fault.body));
    return;
  }
  const act = decide(asked);
  const last = asked.turns.at(-1);
  log(
    `${provider.name}: ${asked.turns.length} turns, last ${last?.role}: ${last?.text.slice(0, 200)}; ${asked.tools.length} tools → ${JSON.stringify(act)}`,
  );
  if (!provider.isStreamed(body, path)) {
    if (act.kind === 'mumble') await sleep(act.words * act.everyMs);
    outgoing.writeHead(200, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify(provider.whole(act, id)));
    return;
  }
  outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  let frames = 0;
  for await (const text of provider.frames(act, id)) {
    if (outgoing.destroyed) return;
    frames += 1;
    if (frames > 2 && isCut(asked)) break;
    if (!outgoing.write(text)) await Promise.race([once(outgoing, 'drain'), once(outgoing, 'close')]);
  }
  outgoing.end();
}
