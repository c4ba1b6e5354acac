import type {
  A2AService,
  CallContext,
  CancelRequest,
  EventStream,
  GetRequest,
  Logged,
  SendRequest,
  SendResult,
  StreamOperation,
  Task,
} from '#protocol';
import { A2AError } from '#protocol';
import { isMeshAgent } from '../../agents/mesh-agents.ts';
import type { LinkRequests } from './link-call.ts';
import { openStream } from './link-call.ts';
import type { RoutingOptions } from './routed-items.ts';
import { RoutedItems } from './routed-items.ts';

/**
 * The same service. A stream of a task in a cell of another replica is read from that replica, and continues at the next owner when the cell
 * moves, each event once. A send goes to that replica, too, and again to the next owner if the first one does not answer. So does what follows an
 * answer (`CallContext.followsAnswer`). No binding sees a difference. Agents of the mesh are made by a request for them: their requests are forwarded.
 */
export function routeCalls(service: A2AService, agent: string, options: RoutingOptions): A2AService {
  if (isMeshAgent(agent)) return service;
  // A caller within this process deals with it. What another replica has forwarded makes no second hop.
  const isRouted = (ctx: CallContext): boolean => ctx.onElsewhere !== undefined && ctx.forAgent === undefined;
  const routed = <Op extends StreamOperation>(operation: Op, request: LinkRequests[Op], ctx: CallContext): EventStream => {
    if (!isRouted(ctx)) return openStream(service, { operation, request }, ctx);
    return { [Symbol.asyncIterator]: () => new RoutedItems({ service, agent, operation, request, ctx }, options) };
  };
  const send = async (request: SendRequest, ctx: CallContext): Promise<SendResult> => {
    const { value } = await new RoutedItems<SendResult>({ service, agent, operation: 'send', request, ctx }, options).next();
    if (value === undefined) throw callerLeft();
    return value;
  };
  const asked = async (operation: 'cancel' | 'forget', request: CancelRequest, ctx: CallContext): Promise<Task | undefined> => {
    const items = new RoutedItems<readonly Logged[]>({ service, agent, operation, request, ctx }, options);
    const { value } = await items.next();
    await items.next(); // the end: the connection to the owner is done with the call
    return value?.[0]?.event.task;
  };
  const cancel = async (request: CancelRequest, ctx: CallContext): Promise<Task> => {
    if (ctx.followsAnswer !== true) return await service.cancel(request, ctx);
    const task = await asked('cancel', request, ctx);
    if (task === undefined) throw callerLeft();
    return task;
  };
  const forget = async (request: GetRequest, ctx: CallContext): Promise<void> => {
    if (ctx.followsAnswer !== true) await service.forget?.(request, ctx);
    else await asked('forget', request, ctx);
  };
  return {
    ...service,
    send: (request, ctx) => (isRouted(ctx) ? send(request, ctx) : service.send(request, ctx)),
    stream: (request, ctx) => routed('stream', request, ctx),
    subscribe: (request, ctx) => routed('subscribe', request, ctx),
    cancel,
    ...(service.forget === undefined ? {} : { forget }),
  };
}

function callerLeft(): A2AError {
  return new A2AError('UNAVAILABLE', 'the caller has left');
}
