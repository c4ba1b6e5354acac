import type { CallContext } from '#protocol';
import type { MeshContext, MeshLinkOptions, MeshParticipant } from '../grammar.ts';
import type { SamInbox } from './inbox.ts';
import { DEFAULT_USER, TRAIL } from './properties.ts';

/** Everything that one link is made of. */
export interface SamLinkContext {
  readonly self: MeshParticipant;
  readonly place: MeshContext;
  readonly inbox: SamInbox;
  readonly options: MeshLinkOptions;
  /** Whether the agent knows a repeat by its id: those of ours do, and say so with their first word. */
  readonly learned: { isOurs: boolean };
}

export function propertiesFor({ self, options }: SamLinkContext, ctx: CallContext): Record<string, string> {
  const { trail = { depth: 0, agents: [] }, userOf = (of: CallContext) => of.principal.id } = options;
  const isAgent = self.kind === 'agent';
  const user = userOf(ctx);
  return {
    clientId: self.id,
    userId: user === '' ? DEFAULT_USER : user,
    callDepth: String(trail.depth + (isAgent ? 1 : 0)),
    ...(isAgent ? { delegating_agent_name: self.id, [TRAIL]: [...trail.agents, self.id].join(',') } : {}),
    ...(ctx.trace === undefined ? {} : { traceparent: ctx.trace.traceparent }),
  };
}
