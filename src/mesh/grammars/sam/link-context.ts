import type { CallContext } from '#protocol';
import type { MeshContext, MeshLinkOptions, MeshParticipant } from '../grammar.ts';
import { writeExtensions } from '../shared/extensions.ts';
import type { SamInbox } from './inbox.ts';
import { CALL_PATH, DEFAULT_USER, READS_ARTIFACTS } from './properties.ts';

/** Everything that one link needs. */
export interface SamLinkContext {
  readonly self: MeshParticipant;
  readonly mesh: MeshContext;
  readonly inbox: SamInbox;
  readonly options: MeshLinkOptions;
  /**
   * Whether the agent recognises a repeated request by its id. Parley's agents do, and show it with
   * their first response.
   */
  readonly peer: { isParley: boolean };
}

/** The user properties of a request: who calls, for whom, and the chain of delegations. */
export function propertiesFor({ self, options }: SamLinkContext, ctx: CallContext): Record<string, string> {
  const { callPath = { depth: 0, agents: [] }, userOf = (of: CallContext) => of.principal.id } = options;
  const isAgent = self.kind === 'agent';
  const user = userOf(ctx);
  return {
    clientId: self.id,
    userId: user === '' ? DEFAULT_USER : user,
    callDepth: String(callPath.depth + (isAgent ? 1 : 0)),
    ...(isAgent ? { delegating_agent_name: self.id, [CALL_PATH]: [...callPath.agents, self.id].join(',') } : {}),
    [READS_ARTIFACTS]: 'true',
    ...writeExtensions(ctx.extensions),
    ...(ctx.trace === undefined ? {} : { traceparent: ctx.trace.traceparent }),
  };
}
