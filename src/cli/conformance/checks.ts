import type { FoundAgentCard } from '#client';
import type { ErrorKind, MessageId, Task } from '#protocol';
import { cardProblems, createUserMessage, hasAddress, isA2AError, isTerminal, taskId } from '#protocol';
import type { AgentConnection } from '../agent/connect.ts';
import { isSettled } from '../contract/wait.ts';

/** What a check works with, and results of earlier checks. */
export interface CheckContext {
  readonly found: FoundAgentCard;
  /** The response headers of the card. */
  readonly cardHeaders: Headers;
  readonly connection: AgentConnection;
  /** The same agent, called with a version that does not exist. */
  readonly future: AgentConnection;
  /** The task that the first check created, if the agent creates tasks. */
  task: Task | undefined;
}

/** `pass`, or `fail` with the reason, or `skip` with the reason why the check does not apply. */
export type CheckResult = { readonly outcome: 'pass' } | { readonly outcome: 'fail' | 'skip'; readonly why: string };

/** One requirement of the A2A Technology Compatibility Kit, under its own id. */
export interface Check {
  readonly id: string;
  readonly section: string;
  readonly level: 'MUST' | 'SHOULD';
  readonly title: string;
  run(bench: CheckContext): Promise<CheckResult>;
}

const PASS: CheckResult = { outcome: 'pass' };
const fail = (why: string): CheckResult => ({ outcome: 'fail', why });
const skip = (why: string): CheckResult => ({ outcome: 'skip', why });
const when = (holds: boolean, why: string): CheckResult => (holds ? PASS : fail(why));

/** A task id that no agent has. */
const UNKNOWN_TASK = taskId('00000000-0000-4000-8000-000000000000');

/** The kit's own agents act on the prefix of the message id. Other agents ignore it. */
function hello(act: string, task?: Task): ReturnType<typeof createUserMessage> {
  const messageId = `tck-${act}-${crypto.randomUUID()}` as MessageId;
  return createUserMessage('Hello from parley conformance', task === undefined ? { messageId } : { messageId, taskId: task.id });
}

/** Passes if the agent refuses the call with one of these errors. */
async function refused(call: () => Promise<unknown>, kinds: readonly ErrorKind[]): Promise<CheckResult> {
  try {
    await call();
    return fail('it was accepted');
  } catch (thrown) {
    if (!isA2AError(thrown)) throw thrown;
    return when(kinds.includes(thrown.kind), `it answers ${thrown.kind} (${thrown.message}) instead of ${kinds[0]}`);
  }
}

async function firstOf(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream) return;
}

const CARD: readonly Check[] = [
  {
    id: 'CARD-STRUCT-001',
    section: '4.4.1',
    level: 'MUST',
    title: 'the card has every required member',
    run: async ({ found }) => {
      const problems = cardProblems(found.raw).map(({ path, problem }) => `${path} ${problem}`);
      return when(problems.length === 0, problems.join('; '));
    },
  },
  {
    id: 'CARD-PROTO-002',
    section: '8.3.1',
    level: 'MUST',
    title: 'each interface says how and where',
    run: async ({ found }) => {
      const bad = found.card.supportedInterfaces.filter((iface) => iface.protocolBinding === '' || !hasAddress(iface));
      return when(
        found.card.supportedInterfaces.length > 0 && bad.length === 0,
        bad.length === 0 ? 'it lists none' : `${bad[0]?.url} is no address`,
      );
    },
  },
  {
    id: 'CARD-CACHE-001',
    section: '8.6.1',
    level: 'SHOULD',
    title: 'the card comes with Cache-Control: max-age',
    run: async ({ cardHeaders }) => when(/max-age=\d+/.test(cardHeaders.get('cache-control') ?? ''), 'the header is missing'),
  },
  {
    id: 'CARD-CACHE-002',
    section: '8.6.1',
    level: 'SHOULD',
    title: 'the card comes with an ETag',
    run: async ({ cardHeaders }) => when(cardHeaders.has('etag'), 'the header is missing'),
  },
];

const CORE: readonly Check[] = [
  {
    id: 'CORE-SEND-001',
    section: '3.1.1',
    level: 'MUST',
    title: 'a message is answered with a task or a message',
    run: async (bench) => {
      const { service, ctx } = bench.connection;
      const { task } = await service.send({ message: hello('complete-task') }, ctx());
      bench.task = task;
      return PASS;
    },
  },
  {
    id: 'CORE-EXECUTION-MODE-001',
    section: '3.2.2',
    level: 'MUST',
    title: 'it is answered when the task is done or needs somebody',
    run: async ({ task }) => (task === undefined ? skip('the agent makes no tasks') : when(isSettled(task), `it is ${task.status.state}`)),
  },
  {
    id: 'CORE-GET-001',
    section: '3.1.3',
    level: 'MUST',
    title: 'the task can be asked for',
    run: async ({ task, connection }) => {
      if (task === undefined) return skip('the agent makes no tasks');
      const got = await connection.service.get({ id: task.id }, connection.ctx());
      return when(got.id === task.id, `task ${got.id} came instead`);
    },
  },
  {
    id: 'CORE-GET-002',
    section: '3.1.3',
    level: 'MUST',
    title: 'a task that is not there is TaskNotFoundError',
    run: ({ connection }) => refused(() => connection.service.get({ id: UNKNOWN_TASK }, connection.ctx()), ['TASK_NOT_FOUND']),
  },
  {
    id: 'CORE-SEND-002',
    section: '3.1.1',
    level: 'MUST',
    title: 'a finished task takes no further message',
    run: async ({ task, connection }) => {
      if (task === undefined || !isTerminal(task.status.state)) return skip('there is no finished task');
      const request = { message: hello('complete-task', task) };
      return await refused(() => connection.service.send(request, connection.ctx()), ['UNSUPPORTED_OPERATION', 'TASK_FINISHED']);
    },
  },
  {
    id: 'CORE-CANCEL-002',
    section: '3.1.5',
    level: 'MUST',
    title: 'a finished task is TaskNotCancelableError',
    run: async ({ task, connection }) => {
      if (task === undefined || !isTerminal(task.status.state)) return skip('there is no finished task');
      return await refused(() => connection.service.cancel({ id: task.id }, connection.ctx()), ['TASK_NOT_CANCELABLE']);
    },
  },
  {
    id: 'CORE-CANCEL-003',
    section: '3.1.5',
    level: 'MUST',
    title: 'canceling a task that is not there is TaskNotFoundError',
    run: ({ connection }) => refused(() => connection.service.cancel({ id: UNKNOWN_TASK }, connection.ctx()), ['TASK_NOT_FOUND']),
  },
];

const LIST: readonly Check[] = [
  {
    id: 'CORE-LIST-002',
    section: '3.1.4',
    level: 'MUST',
    title: 'tasks are listed page by page',
    run: async ({ connection }) => {
      const { tasks } = await connection.service.list({ pageSize: 1 }, connection.ctx());
      return when(tasks.length <= 1, `${tasks.length} tasks came on a page of 1`);
    },
  },
  {
    id: 'CORE-LIST-005',
    section: '3.1.4',
    level: 'MUST',
    title: 'lists leave out artifacts unless they are asked for',
    run: async ({ connection }) => {
      const { tasks } = await connection.service.list({ pageSize: 20 }, connection.ctx());
      return when(
        tasks.every(({ artifacts = [] }) => artifacts.length === 0),
        'they are there',
      );
    },
  },
];

const STREAMS: readonly Check[] = [
  {
    id: 'CORE-STREAM-003',
    section: '3.1.2',
    level: 'MUST',
    title: 'a stream begins with the task, or is one message, and ends with the task',
    run: async ({ connection, found }) => {
      if (found.card.capabilities.streaming !== true) return skip('the agent does not stream');
      const events = [];
      for await (const batch of connection.service.stream({ message: hello('stream-003') }, connection.ctx())) events.push(...batch);
      const [first] = events;
      if (first?.event.message !== undefined) return when(events.length === 1, 'more came after the message');
      const last = events.at(-1)?.event;
      const state = last?.statusUpdate?.status.state ?? last?.task?.status.state;
      if (first?.event.task === undefined) return fail('the first event is not the task');
      return when(state !== undefined && state !== 'TASK_STATE_WORKING', 'it ends before the task does');
    },
  },
  {
    id: 'STREAM-SUB-003',
    section: '3.1.6',
    level: 'MUST',
    title: 'a finished task takes no subscribers',
    run: async ({ task, connection, found }) => {
      if (found.card.capabilities.streaming !== true) return skip('the agent does not stream');
      if (task === undefined || !isTerminal(task.status.state)) return skip('there is no finished task');
      return await refused(
        () => firstOf(connection.service.subscribe({ id: task.id }, connection.ctx())),
        ['UNSUPPORTED_OPERATION', 'TASK_FINISHED'],
      );
    },
  },
  {
    id: 'STREAM-SUB-004',
    section: '3.1.6',
    level: 'MUST',
    title: 'subscribing to a task that is not there is TaskNotFoundError',
    run: async ({ connection, found }) => {
      if (found.card.capabilities.streaming !== true) return skip('the agent does not stream');
      return await refused(() => firstOf(connection.service.subscribe({ id: UNKNOWN_TASK }, connection.ctx())), ['TASK_NOT_FOUND']);
    },
  },
];

const VERSIONS: readonly Check[] = [
  {
    id: 'VER-SERVER-002',
    section: '3.6.2',
    level: 'MUST',
    title: 'a version that nobody has is VersionNotSupportedError',
    run: ({ future }) => refused(() => future.service.get({ id: UNKNOWN_TASK }, future.ctx()), ['VERSION_NOT_SUPPORTED']),
  },
];

/** All checks, in the order in which they run. Later ones use the task that an earlier one created. */
export const CHECKS: readonly Check[] = [...CARD, ...CORE, ...LIST, ...STREAMS, ...VERSIONS];
