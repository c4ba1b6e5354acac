import type { EventStream, SubscribeRequest } from '#protocol';
import { A2AError } from '#protocol';
import type { Core } from '../tasks/core.ts';
import { agentOf, release } from '../tasks/core.ts';
import { isAtRest } from '../tasks/live-task.ts';
import type { Asked } from './find.ts';
import { find } from './find.ts';
import type { Batch, Following } from './follower.ts';
import { Follower } from './follower.ts';

/**
 * From the task as it is, or from any earlier place in its log: what was seen up to there is the snapshot, and nothing after it is
 * missing or said twice. That goes for finished tasks too; without a place to go on from they are refused, where a dialect has it so.
 */
export function subscribe(core: Core, asked: Asked & { readonly request: SubscribeRequest }): EventStream & AsyncGenerator<Batch> {
  return new Follower(core, { open: () => subscribed(core, asked), isHeld: true });
}

async function subscribed(core: Core, asked: Asked & { readonly request: SubscribeRequest }): Promise<Following> {
  const { request, ctx, served } = asked;
  checkStreaming(core, served.agent);
  const traits = core.traitsOf(ctx.dialect);
  const live = await find(core, asked);
  const { after } = request;
  const from = after !== undefined && Number.isInteger(after) && after >= 1 && after <= live.committed ? after : undefined;
  if (from === undefined && isAtRest(live) && traits.subscribeFinished === 'error') {
    release(core, live);
    throw new A2AError('UNSUPPORTED_OPERATION', `task ${request.id} is finished: there is nothing to wait for`);
  }
  return { live, reading: { from: from ?? live.committed, traits, signal: ctx.signal, closesOnInputRequired: false } };
}

/** A2A 1.0.1 §3.3.4: an agent whose card does not promise streaming has none. */
export function checkStreaming(core: Core, agent: string): void {
  if (agentOf(core, agent).card.capabilities.streaming !== true) throw new A2AError('STREAMING_NOT_SUPPORTED');
}
