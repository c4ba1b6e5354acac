import type { Operation } from '../../operations.ts';
import type { Loss } from '../dialect.ts';

/** The patch numbers of 0.2.0 to 0.2.6. */
export type Patch = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** Stands for 0.3.0, in which 0.2's missing members arrived. */
const V03 = 7;
type Since = Patch | typeof V03;

interface Arrival {
  readonly since: Since;
  /** Its name in the canonical model. */
  readonly field: string;
  /** Its name in the release's own schema. */
  readonly wire: string;
}

/** The members that each release added (schema diffs of the tags). Earlier releases lack them. */
const FIELDS: readonly Arrival[] = [
  { since: 1, field: 'Message.referenceTaskIds', wire: 'Message.referenceTaskIds' },
  { since: 1, field: 'AgentCapabilities.extendedAgentCard', wire: 'AgentCard.supportsAuthenticatedExtendedCard' },
  { since: 2, field: 'Message.extensions', wire: 'Message.extensions' },
  { since: 2, field: 'Artifact.extensions', wire: 'Artifact.extensions' },
  { since: 2, field: 'PushConfig.id', wire: 'PushNotificationConfig.id' },
  { since: 2, field: 'AgentCapabilities.extensions', wire: 'AgentCapabilities.extensions' },
  { since: 2, field: 'AgentCard.iconUrl', wire: 'AgentCard.iconUrl' },
  { since: 5, field: 'PushGetRequest.id', wire: 'GetTaskPushNotificationConfigParams.pushNotificationConfigId' },
  { since: V03, field: 'AgentCard.signatures', wire: 'AgentCard.signatures' },
  { since: V03, field: 'AgentSkill.securityRequirements', wire: 'AgentSkill.security' },
  { since: V03, field: 'SecurityScheme.mtlsSecurityScheme', wire: 'MutualTLSSecurityScheme' },
  { since: V03, field: 'OAuth2SecurityScheme.oauth2MetadataUrl', wire: 'OAuth2SecurityScheme.oauth2MetadataUrl' },
];

const OPERATIONS_SINCE: readonly { readonly since: Since; readonly operation: Operation }[] = [
  { since: 5, operation: 'push.list' },
  { since: 5, operation: 'push.delete' },
  // 0.2.1 to 0.2.6 serve the extended card by a plain GET, not by a method.
  { since: V03, operation: 'extendedCard' },
  { since: V03, operation: 'list' },
];

/** One release, as its differences from 0.3. */
export interface Release {
  readonly patch: Patch;
  readonly losses: readonly Loss[];
  readonly without: readonly Operation[];
  /** The card has `protocolVersion`: since 0.2.5. */
  readonly cardSaysVersion: boolean;
  /** `preferredTransport`, `additionalInterfaces`: since 0.2.4. */
  readonly transports: boolean;
  /** `X-A2A-Extensions`: the guide that names it was published with 0.2.4. */
  readonly extensionsHeader: boolean;
}

/** The differences of 0.2.`patch` from 0.3, computed from the tables above. */
function release(patch: Patch): Release {
  return {
    patch,
    losses: FIELDS.filter(({ since }) => since > patch).map((arrival) => ({
      field: arrival.field,
      reason: `came with ${arrival.since === V03 ? '0.3.0' : `0.2.${arrival.since}`}`,
      clause: `A2A 0.2.${patch} a2a.json: no ${arrival.wire}`,
    })),
    without: OPERATIONS_SINCE.filter(({ since }) => since > patch).map(({ operation }) => operation),
    cardSaysVersion: patch >= 5,
    transports: patch >= 4,
    extensionsHeader: patch >= 4,
  };
}

/** 0.2.6, the last release. */
export const NEWEST_RELEASE: Release = release(6);

/** The releases before it, newest first. */
export const OLDER_RELEASES: readonly Release[] = ([5, 4, 3, 2, 1, 0] as const).map(release);
