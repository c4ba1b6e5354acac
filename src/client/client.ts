import type {
  A2AService,
  AgentCard,
  ListRequest,
  Mutable,
  PushConfig,
  SendConfiguration,
  SendRequest,
  StandardSchema,
  Task,
  TaskEvent,
  TaskPage,
} from '#protocol';
import { pushConfigId, taskId } from '#protocol';
import { pagesOf } from './calls/pages.ts';
import type { CallOptions, Input, Thread } from './calls/request.ts';
import { contextOf, messageOf } from './calls/request.ts';
import type { HandleEnv, SendHandle, SendOptions } from './calls/send-handle.ts';
import { Handle } from './calls/send-handle.ts';
import type { SkillFunction, SkillSchemas } from './calls/skills.ts';
import { skillFunction } from './calls/skills.ts';
import type { Established } from './connection/connect.ts';
import { establish } from './connection/connect.ts';
import { explain } from './errors/explain.ts';
import type { ClientOptions, Connection } from './options.ts';

export interface ListOptions extends CallOptions, Omit<ListRequest, 'tenant' | 'pageToken'> {}

/** A page, or every task of all pages, whichever is asked for. */
export interface TaskList extends AsyncIterable<Task> {
  page(token?: string): Promise<TaskPage>;
}

export interface PushCalls {
  create(task: string, config: Omit<PushConfig, 'taskId'>, options?: CallOptions): Promise<PushConfig>;
  get(task: string, config: string, options?: CallOptions): Promise<PushConfig>;
  list(task: string, options?: CallOptions): Promise<readonly PushConfig[]>;
  delete(task: string, config: string, options?: CallOptions): Promise<void>;
}

/** One agent, whatever it speaks. Failures of the way are `ClientError`s; what the agent refuses is an `A2AError`. */
export class A2AClient {
  readonly #established: Established;

  private constructor(established: Established) {
    this.#established = established;
  }

  /** Finds the agent at an address, in a card file, or behind a card that you have already. */
  static async connect(target: string | AgentCard, options: ClientOptions = {}): Promise<A2AClient> {
    return new A2AClient(await establish(target, options));
  }

  /** Undefined only where there is none: an address that takes calls and has no card. */
  get card(): AgentCard | undefined {
    return this.#established.card;
  }

  get connection(): Connection {
    return this.#established.connection();
  }

  /** The agent as a service: canonical, healed, retried. What proxies and tools build on; its errors are `A2AError`s. */
  get service(): A2AService {
    return this.#established.service;
  }

  /** Waits for the answer, unless its events are read. */
  send(input: Input, options: SendOptions = {}): SendHandle {
    return new Handle(this.#request(input, options), this.#env(options), false);
  }

  /** Takes the answer as a stream, where the agent has one. */
  stream(input: Input, options: SendOptions = {}): SendHandle {
    return new Handle(this.#request(input, options), this.#env(options), true);
  }

  /** A skill as a function, with schemas of any library that speaks Standard Schema. */
  skill<Input extends StandardSchema, Output extends StandardSchema>(
    id: string,
    schemas: SkillSchemas<Input, Output> = {},
  ): SkillFunction<Input, Output> {
    return skillFunction(id, schemas, { card: this.card, send: (parts, options) => this.send(parts, options) });
  }

  get(id: string, options: CallOptions & { readonly historyLength?: number } = {}): Promise<Task> {
    const { historyLength } = options;
    return this.#told(this.service.get({ id: taskId(id), ...(historyLength === undefined ? {} : { historyLength }) }, this.#ctx(options)));
  }

  list(options: ListOptions = {}): TaskList {
    const { signal: _, totalMs: __, extensions: ___, trace: ____, ...request } = options;
    const page = (pageToken?: string): Promise<TaskPage> =>
      this.#told(this.service.list(pageToken === undefined ? request : { ...request, pageToken }, this.#ctx(options)));
    return { page, [Symbol.asyncIterator]: () => pagesOf(page) };
  }

  cancel(id: string, options: CallOptions & { readonly metadata?: Task['metadata'] } = {}): Promise<Task> {
    const { metadata } = options;
    return this.#told(this.service.cancel({ id: taskId(id), ...(metadata === undefined ? {} : { metadata }) }, this.#ctx(options)));
  }

  /** What happens to a task from now on; its first event is the task as it stands. */
  async *subscribe(id: string, options: CallOptions = {}): AsyncGenerator<TaskEvent, void> {
    try {
      for await (const batch of this.service.subscribe({ id: taskId(id) }, this.#ctx(options))) {
        for (const { event } of batch) yield event;
      }
    } catch (thrown) {
      throw this.#explain(thrown);
    }
  }

  readonly push: PushCalls = {
    create: (task, config, options = {}) => this.#told(this.service.push.create({ ...config, taskId: taskId(task) }, this.#ctx(options))),
    get: (task, config, options = {}) =>
      this.#told(this.service.push.get({ taskId: taskId(task), id: pushConfigId(config) }, this.#ctx(options))),
    list: async (task, options = {}) => (await this.#told(this.service.push.list({ taskId: taskId(task) }, this.#ctx(options)))).configs,
    delete: (task, config, options = {}) =>
      this.#told(this.service.push.delete({ taskId: taskId(task), id: pushConfigId(config) }, this.#ctx(options))),
  };

  /** The card for those who have said who they are. */
  extendedCard(options: CallOptions = {}): Promise<AgentCard> {
    return this.#told(this.service.extendedCard({}, this.#ctx(options)));
  }

  #request(input: Input, options: SendOptions): SendRequest {
    const { metadata, acceptedOutputModes, historyLength, push, returnImmediately = false } = options;
    const thread: Mutable<Thread> = {};
    if (options.taskId !== undefined) thread.taskId = options.taskId;
    if (options.contextId !== undefined) thread.contextId = options.contextId;
    if (options.messageMetadata !== undefined) thread.metadata = options.messageMetadata;
    // Said outright: what silence means differs from agent to agent (reference/dialects §0.1, default blocking).
    const configuration: Mutable<SendConfiguration> = { returnImmediately };
    if (acceptedOutputModes !== undefined) configuration.acceptedOutputModes = acceptedOutputModes;
    if (historyLength !== undefined) configuration.historyLength = historyLength;
    if (push !== undefined) configuration.taskPushNotificationConfig = push;
    const request = { message: messageOf(input, thread), configuration };
    return metadata === undefined ? request : { ...request, metadata };
  }

  #env(options: CallOptions): HandleEnv {
    const calling = this.#established.calling();
    const isFree = options.signal === undefined && (options.totalMs ?? calling.totalMs) === undefined;
    return {
      service: this.service,
      isFree,
      contextFor: (signal) => contextOf(options, calling, signal),
      // To a card that says nothing many agents stream all the same; one that does not is sent the message without (connection.ts).
      streams: this.#established.has('stream') && this.card?.capabilities.streaming !== false,
      canPoll: this.#established.has('get'),
      explain: (thrown) => this.#explain(thrown),
      continue: (task, input, more) => {
        const thread = { taskId: task.id, ...(task.contextId === undefined ? {} : { contextId: task.contextId }) };
        return this.send(input, { ...more, ...thread });
      },
    };
  }

  #ctx(options: CallOptions): ReturnType<typeof contextOf> {
    return contextOf(options, this.#established.calling());
  }

  async #told<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (thrown) {
      throw this.#explain(thrown);
    }
  }

  #explain(thrown: unknown): Error {
    return explain(thrown, this.connection.url);
  }
}
