import type { A2AService, CallContext, EventStream, SendRequest, TaskEvent } from '#protocol';
import { A2AError, isA2AError, isInterrupted } from '#protocol';
import type { ProxyTimeouts } from './follow.ts';
import { follow, isSettled, isUnsupported, stateIn } from './follow.ts';
import { idIn } from './origin.ts';

/** A message to a remote agent. */
export interface RemoteCall {
  readonly service: A2AService;
  readonly request: SendRequest;
  readonly ctx: CallContext;
  /** For the calls after the first. Default: `ctx`. */
  readonly later?: CallContext;
  readonly patience: ProxyTimeouts;
  /** Whether the agent's card promises streams. An agent that breaks the promise is polled instead. */
  readonly streams: boolean;
}

/**
 * Sends one message to a remote agent and yields its events until the task settles: from the stream, by reconnecting when it breaks, or by
 * polling. The reader merges duplicates.
 */
export async function* talk({ service, request, ctx, later = ctx, patience, streams }: RemoteCall): AsyncGenerator<TaskEvent> {
  let last: TaskEvent | undefined;
  for await (const event of begun(service, { request, ctx, streams })) {
    const isOpening = last === undefined;
    last = event;
    if (isOpening && isBeforeMessage(event, request)) continue;
    yield event;
    if (isEnd(event)) return;
  }
  const id = idIn(last);
  if (id === undefined) throw new A2AError('INVALID_AGENT_RESPONSE', 'the agent ended its stream without an event');
  yield* follow({ service, id, ctx: later, patience, streams });
}

interface Begin {
  readonly request: SendRequest;
  readonly ctx: CallContext;
  readonly streams: boolean;
}

/**
 * The stream of a send, as far as it goes. Without streams the message is sent without waiting, so that the task's id is known at once.
 */
async function* begun(service: A2AService, { request, ctx, streams }: Begin): AsyncGenerator<TaskEvent> {
  let hasBegun = false;
  try {
    if (streams) {
      for await (const event of flat(service.stream(request, ctx))) {
        hasBegun = true;
        yield event;
      }
      return;
    }
  } catch (thrown) {
    if (ctx.signal.aborted || (!hasBegun && !refusesStream(thrown, request))) throw thrown;
    if (hasBegun) return; // the stream broke: the caller of this function reconnects to the task
  }
  const configuration = { ...request.configuration, returnImmediately: true };
  yield await service.send({ ...request, configuration }, ctx);
}

/**
 * The agent refuses the stream and not the message, so that the message can be sent without a stream. "Unsupported operation" for a message to a
 * task is about that task: the agent may have worked on the message already.
 */
function refusesStream(thrown: unknown, { message }: SendRequest): boolean {
  return isUnsupported(thrown) && !(message.taskId !== undefined && isA2AError(thrown) && thrown.kind === 'UNSUPPORTED_OPERATION');
}

/**
 * Some servers open the stream of a continued task with the task as it was before the message: it still asks the question that the message
 * answers. A task that really asks again is found when the stream has ended.
 */
function isBeforeMessage({ task }: TaskEvent, { message }: SendRequest): boolean {
  return message.taskId !== undefined && task !== undefined && isInterrupted(task.status.state);
}

async function* flat(stream: EventStream): AsyncGenerator<TaskEvent> {
  for await (const batch of stream) for (const { event } of batch) yield event;
}

function isEnd(event: TaskEvent): boolean {
  const state = stateIn(event);
  return event.message !== undefined || (state !== undefined && isSettled(state));
}
