import type { CallContext } from '#protocol';
import { answeringDialect } from '#protocol';
import { contextOf } from '../../call-context.ts';
import type { DisconnectSignal } from '../../disconnect.ts';
import { disconnectSignal } from '../../disconnect.ts';
import type { HttpRequest } from '../../http.ts';
import type { BindingServeOptions } from '../../options.ts';
import { callerOf, registryOf } from '../../options.ts';
import type { ChatAgent } from '../serve.ts';

/** Options of the Responses endpoint. */
export interface ResponsesOptions extends BindingServeOptions {
  /** Agents that a request can choose by `model`. */
  readonly agents: readonly ChatAgent[];
  /** The agent to use whatever `model` says. */
  readonly only?: ChatAgent;
}

/** One request of a caller to one agent. */
export interface ResponseCall {
  readonly agent: ChatAgent;
  readonly ctx: CallContext;
  readonly disconnect: DisconnectSignal;
}

/** The caller's context for requests to an agent. Every answer is a task, so that it can be read again. */
export async function callFor(httpRequest: HttpRequest, options: ResponsesOptions, agent: ChatAgent): Promise<ResponseCall> {
  const caller = await callerOf(httpRequest, options);
  const disconnect = disconnectSignal(httpRequest);
  const ctx = contextOf(httpRequest, { dialect: answeringDialect(registryOf(options), {}), caller }, disconnect.signal);
  return { agent, disconnect, ctx: { ...ctx, semantics: { tasksOnly: true, showsFinished: true, subscriptionEndsOnQuestion: true } } };
}
