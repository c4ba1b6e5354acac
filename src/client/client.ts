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
import type { SendHandle } from './calls/handle.ts';
import { pagesOf } from './calls/pages.ts';
import type { CallOptions, Input, MessageThread } from './calls/request.ts';
import { contextOf, messageOf } from './calls/request.ts';
import type { HandleEnv } from './calls/send-handle.ts';
import { Handle } from './calls/send-handle.ts';
import type { SendOptions } from './calls/send-options.ts';
import type { SkillFunction, SkillSchemas } from './calls/skills.ts';
import { skillFunction } from './calls/skills.ts';
import type { Established, FoundAgentCard } from './connection/connect.ts';
import { establish } from './connection/connect.ts';
import { explain } from './errors/explain.ts';
import type { ClientOptions, Connection } from './options.ts';

/** Filters of `list`. */
export interface ListOptions extends CallOptions, Omit<ListRequest, 'tenant' | 'pageToken'> {}

/** The tasks of an agent: one page at a time, or all of them with `for await`. */
export interface TaskList extends AsyncIterable<Task> {
  /** One page. Pass `nextPageToken` of the page before for the next one. */
  page(token?: string): Promise<TaskPage>;
}

/** Manages the webhooks of a task. */
export interface PushCalls {
  /** Registers a webhook, or replaces the one with the same id. */
  create(task: string, config: Omit<PushConfig, 'taskId'>, options?: CallOptions): Promise<PushConfig>;
  /** Reads one webhook. */
  get(task: string, config: string, options?: CallOptions): Promise<PushConfig>;
  /** The webhooks of a task. An agent may return only its first page. */
  list(task: string, options?: CallOptions): Promise<readonly PushConfig[]>;
  /** Removes a webhook. */
  delete(task: string, config: string, options?: CallOptions): Promise<void>;
}

/**
 * A client for one agent, in whatever A2A version or product dialect the agent uses. Failures on the way to the agent are `ClientError`s;
 * errors that the agent returns are `A2AError`s.
 *
 * ```ts
 * const agent = await A2AClient.connect('https://agent.example', { auth: { bearer: { env: 'AGENT_TOKEN' } } });
 * for await (const event of agent.stream('Plan a trip')) console.log(event);
 * ```
 */
export class A2AClient {
  readonly #established: Established;

  private constructor(established: Established) {
    this.#established = established;
  }

  /** Connects to the agent at an address, in a card file, or of a card that you have already. Makes no A2A call unless there is no card. */
  static async connect(target: string | AgentCard | FoundAgentCard, options: ClientOptions = {}): Promise<A2AClient> {
    return new A2AClient(await establish(target, options));
  }

  /** Undefined if the address takes calls and serves no card. */
  get card(): AgentCard | undefined {
    return this.#established.card;
  }

  /** The endpoint in use, and how it was found. */
  get connection(): Connection {
    return this.#established.connection();
  }

  /** The agent as an `A2AService`, with retries and resumed streams. Proxies and tools build on it. It throws only `A2AError`s. */
  get service(): A2AService {
    return this.#established.service;
  }

  /** Sends a message. The handle waits for the result, or yields events if they are read. */
  send(input: Input, options: SendOptions = {}): SendHandle {
    return new Handle(this.#request(input, options), this.#env(options), { prefersStream: false });
  }

  /** Sends a message and asks for a stream, if the agent has streams. */
  stream(input: Input, options: SendOptions = {}): SendHandle {
    return new Handle(this.#request(input, options), this.#env(options), { prefersStream: true });
  }

  /**
   * A skill of the agent as a function. The schemas can come from any library that supports Standard
   * Schema.
   *
   * ```ts
   * const add = agent.skill('add', { input: z.object({ a: z.number(), b: z.number() }), output: z.number() });
   * console.log(await add({ a: 1, b: 2 }));
   * ```
   */
  skill<Input extends StandardSchema, Output extends StandardSchema>(
    id: string,
    schemas: SkillSchemas<Input, Output> = {},
  ): SkillFunction<Input, Output> {
    return skillFunction(id, schemas, { card: this.card, send: (parts, options) => this.send(parts, options) });
  }

  /** Reads a task. */
  get(id: string, options: CallOptions & { readonly historyLength?: number } = {}): Promise<Task> {
    const { historyLength } = options;
    return this.#explained(
      this.service.get({ id: taskId(id), ...(historyLength === undefined ? {} : { historyLength }) }, this.#ctx(options)),
    );
  }

  /**
   * Lists your tasks at the agent, the most recently changed first.
   *
   * ```ts
   * for await (const task of agent.list({ status: 'TASK_STATE_WORKING' })) console.log(task.id);
   * ```
   */
  list(options: ListOptions = {}): TaskList {
    const { signal: _, totalMs: __, extensions: ___, trace: ____, ...request } = options;
    const page = (pageToken?: string): Promise<TaskPage> =>
      this.#explained(this.service.list(pageToken === undefined ? request : { ...request, pageToken }, this.#ctx(options)));
    return { page, [Symbol.asyncIterator]: () => pagesOf(page) };
  }

  /** Cancels a task. Throws an `A2AError` of the kind `TASK_NOT_CANCELABLE` if it is finished. */
  cancel(id: string, options: CallOptions & { readonly metadata?: Task['metadata'] } = {}): Promise<Task> {
    const { metadata } = options;
    return this.#explained(this.service.cancel({ id: taskId(id), ...(metadata === undefined ? {} : { metadata }) }, this.#ctx(options)));
  }

  /** Follows a task from now on. The first event is the task as it is. */
  async *subscribe(id: string, options: CallOptions = {}): AsyncGenerator<TaskEvent, void> {
    try {
      for await (const batch of this.service.subscribe({ id: taskId(id) }, this.#ctx(options))) {
        for (const { event } of batch) yield event;
      }
    } catch (thrown) {
      throw this.#explain(thrown);
    }
  }

  /** Webhooks of a task. */
  readonly push: PushCalls = {
    create: (task, config, options = {}) =>
      this.#explained(this.service.push.create({ ...config, taskId: taskId(task) }, this.#ctx(options))),
    get: (task, config, options = {}) =>
      this.#explained(this.service.push.get({ taskId: taskId(task), id: pushConfigId(config) }, this.#ctx(options))),
    list: async (task, options = {}) =>
      (await this.#explained(this.service.push.list({ taskId: taskId(task) }, this.#ctx(options)))).configs,
    delete: (task, config, options = {}) =>
      this.#explained(this.service.push.delete({ taskId: taskId(task), id: pushConfigId(config) }, this.#ctx(options))),
  };

  /** The card for authenticated callers. */
  extendedCard(options: CallOptions = {}): Promise<AgentCard> {
    return this.#explained(this.service.extendedCard({}, this.#ctx(options)));
  }

  #request(input: Input, options: SendOptions): SendRequest {
    const { metadata, acceptedOutputModes, historyLength, push, returnImmediately = false } = options;
    const thread: Mutable<MessageThread> = {};
    if (options.taskId !== undefined) thread.taskId = options.taskId;
    if (options.contextId !== undefined) thread.contextId = options.contextId;
    const { messageMetadata, skill } = options;
    if (messageMetadata !== undefined || skill !== undefined) {
      thread.metadata = { ...messageMetadata, ...(skill === undefined ? {} : { skillId: skill }) };
    }
    // Always stated, because dialects differ in what a missing value means (docs/dialects.md).
    const configuration: Mutable<SendConfiguration> = { returnImmediately };
    if (acceptedOutputModes !== undefined) configuration.acceptedOutputModes = acceptedOutputModes;
    if (historyLength !== undefined) configuration.historyLength = historyLength;
    if (push !== undefined) configuration.taskPushNotificationConfig = push;
    const request = { message: messageOf(input, thread), configuration };
    return metadata === undefined ? request : { ...request, metadata };
  }

  #env(options: CallOptions): HandleEnv {
    const defaults = this.#established.defaults();
    const isFree = options.signal === undefined && (options.totalMs ?? defaults.totalMs) === undefined;
    return {
      service: this.service,
      isFree,
      contextFor: (signal) => contextOf(options, defaults, signal),
      // Many agents stream although their card does not say so. An agent that refuses gets the message without a stream (fallback.ts).
      streams: this.#established.has('stream') && this.card?.capabilities.streaming !== false,
      canPoll: this.#established.has('get'),
      explain: (thrown) => this.#explain(thrown),
      continue: (task, { input, options: more, held }) => {
        const thread = { taskId: task.id, ...(task.contextId === undefined ? {} : { contextId: task.contextId }) };
        const reading = { prefersStream: false, ...(held === undefined ? {} : { held }) };
        return new Handle(this.#request(input, { ...more, ...thread }), this.#env(more), reading);
      },
    };
  }

  #ctx(options: CallOptions): ReturnType<typeof contextOf> {
    return contextOf(options, this.#established.defaults());
  }

  async #explained<T>(call: Promise<T>): Promise<T> {
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
