import { HttpAgent } from '@ag-ui/client';
import { HttpAgent as OldHttpAgent } from 'ag-ui-client-0059';
import { jsonRequest } from '../../support/server.ts';

/** One event as it came over the wire. */
export interface WireEvent {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** What both clients have in common. Their own types of messages differ. */
export interface FrontEnd {
  readonly threadId: string;
  readonly state: unknown;
  readonly messages: readonly { readonly id: string; readonly role: string; readonly content?: unknown }[];
  addMessage(message: object): void;
  setMessages(messages: readonly object[]): void;
  setState(state: object): void;
  runAgent(input: object, subscriber: { onEvent(arrived: { readonly event: object }): void }): Promise<unknown>;
  abortRun(): void;
}

type MakeFrontEnd = (url: string, threadId: string) => FrontEnd;

/** A client of each generation: 1.0.0, and 0.0.59, which CopilotKit uses. */
export const CLIENTS: readonly (readonly [version: string, make: MakeFrontEnd])[] = [
  ['1.0.0', (url, threadId) => new HttpAgent({ url, threadId }) as unknown as FrontEnd],
  ['0.0.59', (url, threadId) => new OldHttpAgent({ url, threadId }) as unknown as FrontEnd],
];

export interface Ran {
  readonly events: readonly WireEvent[];
  readonly types: readonly string[];
  /** The words of the assistant, one line for each message. */
  readonly said: readonly string[];
  readonly failure: string | undefined;
}

/** Runs an agent once and notes every event. */
export async function run(agent: FrontEnd, input: object = {}): Promise<Ran> {
  const events: WireEvent[] = [];
  let failure: string | undefined;
  const onEvent = ({ event }: { readonly event: object }): void => void events.push(event as WireEvent);
  try {
    await agent.runAgent(input, { onEvent });
  } catch (thrown) {
    failure = thrown instanceof Error ? thrown.message : String(thrown);
  }
  const said = agent.messages.flatMap(({ role, content }) => (role === 'assistant' && typeof content === 'string' ? [content] : []));
  return { events, types: events.map(({ type }) => type), said, failure };
}

let count = 0;

/** A message of the user under a new id. */
export function say(agent: FrontEnd, content: string): void {
  count += 1;
  agent.addMessage({ id: `user-message-${Date.now()}-${count}`, role: 'user', content });
}

/** The body of a run, as `HttpAgent` sends it. */
export function runBody(threadId: string, more: object = {}): Record<string, unknown> {
  count += 1;
  const messages = [{ id: `body-message-${Date.now()}-${count}`, role: 'user', content: 'hi' }];
  return {
    threadId,
    runId: `run-${count}`,
    protocolVersion: '1.0',
    state: {},
    messages,
    tools: [],
    context: [],
    forwardedProps: {},
    ...more,
  };
}

/** Posts a run without a client. */
export function post(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(jsonRequest(url, body, { Accept: 'text/event-stream', ...headers }));
}

/** The events of a response. */
export function eventsIn(text: string): readonly WireEvent[] {
  return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6)) as WireEvent] : []));
}
