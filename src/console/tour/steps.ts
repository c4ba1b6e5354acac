import { signal } from '@preact/signals';
import type { SendOptions } from '#client';
import { A2AClient } from '#client';
import type { Dialect, Part } from '#protocol';
import { createDataPart, createTextPart, DEFAULT_READ_LIMITS, encodeWithLosses, taskId } from '#protocol';
import { clientFor } from '../agents/known.ts';
import { wordsFor } from '../api.ts';
import { follow } from '../chat/store.ts';
import type { ChatTurn } from '../chat/turn.ts';
import { bump, newTurn, settle } from '../chat/turn.ts';
import { NODE } from '../prefix.ts';
import { credentials } from '../session.ts';
import { MAIN } from '../wire/dialects.ts';
import { recording } from '../wire/recorder.ts';

/** The state of one step of the tour. */
export interface TourStep {
  readonly id: string;
  readonly title: string;
  readonly words: string;
  readonly turns: ReturnType<typeof signal<readonly ChatTurn[]>>;
  readonly state: ReturnType<typeof signal<'idle' | 'running' | 'waiting' | 'done' | 'failed'>>;
  readonly notes: ReturnType<typeof signal<readonly string[]>>;
}

function step(id: string, title: string, words: string): TourStep {
  return { id, title, words, turns: signal<readonly ChatTurn[]>([]), state: signal<'idle'>('idle'), notes: signal<readonly string[]>([]) };
}

/** The steps of the tour. */
export const STEPS = {
  stream: step(
    'stream',
    'A streamed answer',
    'The agent responds word by word. Each word is an event, which is on disk before you see it.',
  ),
  approve: step('approve', 'An approval', 'The agent asks before it acts, and waits for your decision, even across restarts.'),
  file: step('file', 'A file', 'An agent returns files as artifacts: a name, a media type and bytes.'),
  cut: step(
    'cut',
    'A cut stream that resumes',
    'The connection is cut in the middle of the response. The client resumes it, and nothing is lost or repeated.',
  ),
  dialects: step('dialects', 'The same task in eight dialects', 'One task, read in every version and product form of A2A.'),
} as const;

/** The same task as each dialect writes it. */
export const wireAnswers = signal<readonly WireAnswer[]>([]);

/** The same task in one dialect. */
export interface WireAnswer {
  readonly dialect: Dialect;
  readonly method: string;
  readonly status: number;
  readonly body: unknown;
}

/** Sends a message in a step and follows its events. */
async function turnIn(step: TourStep, client: A2AClient, parts: readonly Part[], options: SendOptions = {}): Promise<ChatTurn> {
  const turn = newTurn();
  step.turns.value = [...(step.turns.value ?? []), turn];
  step.state.value = 'running';
  try {
    await follow(turn, client.stream(parts, options), new Set());
    step.state.value = turn.question === undefined ? 'done' : 'waiting';
  } catch (thrown) {
    turn.problem = wordsFor(thrown);
    step.state.value = 'failed';
  }
  turn.endedMs = performance.now() - turn.began;
  bump(turn);
  return turn;
}

/** Runs a step that sends one word to the demo agent. */
export async function runPlain(step: TourStep, word: string): Promise<void> {
  step.turns.value = [];
  await turnIn(step, await clientFor({ name: 'demo' }), [createTextPart(word)]);
}

/** Answers the demo agent's question. */
export async function decide(step: TourStep, optionId: string): Promise<void> {
  const asked = step.turns.value?.at(-1);
  if (asked?.taskId === undefined) return;
  settle(asked, asked.question?.choices.find((choice) => choice.optionId === optionId)?.name ?? optionId);
  await turnIn(step, await clientFor({ name: 'demo' }), [createDataPart({ optionId })], { taskId: asked.taskId });
}

const CUT_AFTER_FRAMES = 25;

/** A client whose first stream is cut, as a lost connection would do. */
export async function runCut(step: TourStep): Promise<void> {
  step.turns.value = [];
  step.notes.value = [];
  const note = (text: string): void => {
    step.notes.value = [...(step.notes.value ?? []), text];
  };
  let isCut = false;
  const client = await A2AClient.connect(`${NODE}/agents/demo`, {
    auth: { present: () => ({ headers: credentials() }) },
    interceptors: [recording('demo')],
    fetch: async (request) => {
      const response = await fetch(request);
      const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream');
      if (!isStream || response.body === null) return response;
      if (isCut) {
        note(`Resumed after event ${request.headers.get('last-event-id') ?? '0'}.`);
        return response;
      }
      isCut = true;
      return new Response(
        broken(response.body, () => note(`Cut after ${CUT_AFTER_FRAMES} frames.`)),
        response,
      );
    },
  });
  const turn = await turnIn(step, client, [createTextPart('stream')]);
  const text = [...turn.shown.values()].map(({ texts }) => texts).join('');
  const isWhole = text.startsWith('Two envoys') && text.endsWith('before you saw it.');
  note(isWhole ? `Complete: ${text.split(/\s+/).length} words, none lost, none repeated.` : 'The text is incomplete.');
}

/** A body that breaks off after some frames, to show that the client resumes the stream. */
function broken(body: ReadableStream<Uint8Array>, onCut: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let frames = 0;
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      frames += new TextDecoder().decode(value).split('\n\n').length - 1;
      if (frames < CUT_AFTER_FRAMES) return controller.enqueue(value);
      onCut();
      void reader.cancel();
      controller.error(new TypeError('network error'));
    },
    cancel: () => void reader.cancel(),
  });
}

/** Reads the task of the first step in every dialect that has a get operation. */
export async function runDialects(step: TourStep): Promise<void> {
  step.state.value = 'running';
  try {
    let id = STEPS.stream.turns.value?.at(-1)?.taskId;
    if (id === undefined) {
      await runPlain(STEPS.stream, 'stream');
      id = STEPS.stream.turns.value?.at(-1)?.taskId;
    }
    wireAnswers.value = await Promise.all(MAIN.map((dialect) => askIn(dialect, id ?? '')));
    step.state.value = wireAnswers.value.every(({ status }) => status === 200) ? 'done' : 'failed';
  } catch (thrown) {
    step.notes.value = [wordsFor(thrown)];
    step.state.value = 'failed';
  }
}

const ENV = { ids: { next: () => crypto.randomUUID() }, limits: DEFAULT_READ_LIMITS };

/** Reads the task in one dialect, as a client of that dialect would. */
async function askIn(dialect: Dialect, id: string): Promise<WireAnswer> {
  const method = dialect.methods.get;
  if (method === undefined) return await asAnswered(dialect, id);
  const { json } = encodeWithLosses(dialect, ['get.request', { id: taskId(id) }], ENV);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: json });
  const headers = { 'Content-Type': 'application/json', ...credentials() };
  const request = new Request(`${NODE}/agents/demo/a2a`, { method: 'POST', headers, body });
  const response = await recording('demo')(request, (each) => fetch(each));
  return { dialect, method, status: response.status, body: await response.json() };
}

/** Two products have no get operation. They see a task only as the response to a send. */
async function asAnswered(dialect: Dialect, id: string): Promise<WireAnswer> {
  const task = await (await clientFor({ name: 'demo' })).get(id);
  const { json } = encodeWithLosses(dialect, ['send.result', { task }], ENV);
  return { dialect, method: dialect.methods.send ?? dialect.methods.stream ?? '', status: 200, body: json };
}
