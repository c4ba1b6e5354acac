import type { EngineLimits, Store } from '#engine';
import { createEngine } from '#engine';
import type { A2AService, Agent, CallContext, MessageOptions, Part, SendResult, Task, TaskEvent, TaskId } from '#protocol';
import { createUserMessage, dialectId, getTextFromMessage, isTerminal, isTextPart, LOCAL_PRINCIPAL } from '#protocol';
import { memoryStore } from '../../src/engine/adapters/memory.ts';
import { eventually } from './eventually.ts';

export interface Talk {
  readonly service: A2AService;
  send(content: string | readonly Part[], options?: MessageOptions): Promise<SendResult>;
  /** For agents that answer with a task. */
  task(content: string | readonly Part[], options?: MessageOptions): Promise<Task>;
  /** Returns as soon as the message is stored. */
  begin(content: string | readonly Part[], options?: MessageOptions): Promise<SendResult>;
  stream(content: string | readonly Part[], options?: MessageOptions): Promise<readonly TaskEvent[]>;
  cancel(id: TaskId): Promise<Task>;
  /** Polls the task until it has settled. */
  finished(id: TaskId): Promise<Task>;
  /** Internal errors. */
  readonly reports: readonly string[];
  stop(): Promise<void>;
}

interface TalkOptions {
  readonly limits?: Partial<EngineLimits>;
  /** A store that outlives the talk: another talk over it is a restart. */
  readonly store?: Store;
}

/** Runs an agent in a real engine, over the store in memory. */
export async function talkTo(agent: Agent, { limits = {}, store = memoryStore() }: TalkOptions = {}): Promise<Talk> {
  const reports: string[] = [];
  const engine = createEngine({
    store,
    agents: { agent },
    limits,
    report: (what, cause) => reports.push(`${what}: ${cause}`),
  });
  await engine.start();
  const service = engine.serviceOf('agent');
  const send: Talk['send'] = (content, options) => service.send({ message: createUserMessage(content, options) }, callContext());
  return {
    service,
    send,
    task: async (content, options) => taskIn(await send(content, options)),
    begin: (content, options) =>
      service.send({ message: createUserMessage(content, options), configuration: { returnImmediately: true } }, callContext()),
    stream: async (content, options) => {
      const events: TaskEvent[] = [];
      const batches = service.stream({ message: createUserMessage(content, options) }, callContext());
      for await (const batch of batches) events.push(...batch.map(({ event }) => event));
      return events;
    },
    cancel: (id) => service.cancel({ id }, callContext()),
    finished: async (id) => {
      await eventually(async () => isTerminal((await service.get({ id }, callContext())).status.state));
      return await service.get({ id }, callContext());
    },
    reports,
    stop: () => engine.stop({ ms: 0 }),
  };
}

export function callContext(): CallContext {
  return { principal: LOCAL_PRINCIPAL, dialect: dialectId('v10'), extensions: [], signal: new AbortController().signal };
}

export function taskIn({ task, message }: SendResult): Task {
  if (task === undefined) throw new Error(`a message, no task: ${JSON.stringify(message)}`);
  return task;
}

/** All text of all artifacts. */
export function textOf({ artifacts = [] }: Task): string {
  return artifacts
    .flatMap(({ parts }) => parts)
    .filter(isTextPart)
    .map(({ text }) => text)
    .join('');
}

export function statusText({ status }: Task): string | undefined {
  return status.message === undefined ? undefined : getTextFromMessage(status.message);
}

/** `task WORKING`, `artifact a`, `status COMPLETED`: the events of a stream in short. */
export function course(events: readonly TaskEvent[]): readonly string[] {
  return events.map(({ task, message, statusUpdate, artifactUpdate }) => {
    if (message !== undefined) return 'message';
    if (artifactUpdate !== undefined)
      return `artifact${artifactUpdate.append === true ? ' +' : ''}${artifactUpdate.lastChunk === true ? ' .' : ''}`;
    const { state } = task?.status ?? statusUpdate?.status ?? { state: '' };
    return `${task === undefined ? 'status' : 'task'} ${state.replace('TASK_STATE_', '')}`;
  });
}

/** Role and text of each message, in order. */
export function said({ history = [] }: Task): readonly string[] {
  return history.map((message) => `${message.role} ${getTextFromMessage(message)}`);
}
