import type { CallContext, SendRequest, Traits } from '#protocol';
import type { Owner } from '../ports.ts';
import type { Core } from '../tasks/core.ts';
import { ownerOf } from '../tasks/core.ts';
import type { Modes } from '../turns/modes.ts';

/** What the engine knows of one of its agents besides the agent itself. */
export interface Served {
  readonly agent: string;
  /** What it takes and what it makes, by its card. */
  readonly takes: Modes;
  readonly makes: Modes;
  /** A message id that comes again is another message (`Agent.repeats`). */
  readonly repeatsAnew: boolean;
}

/** A send or a stream, with everything that is looked up once. */
export interface Call {
  readonly request: SendRequest;
  readonly ctx: CallContext;
  readonly served: Served;
  readonly owner: Owner;
  readonly traits: Traits;
}

export function callOf(core: Core, served: Served, request: SendRequest, ctx: CallContext): Call {
  return { request, ctx, served, owner: ownerOf(ctx, request), traits: core.traitsOf(ctx.dialect) };
}
