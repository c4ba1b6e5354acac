import type { Operation } from '../../operations.ts';
import type { Loss } from '../dialect.ts';
import { DRAFT_LOSSES } from '../shared/losses.ts';

/** Types of the requests that have a tenant in 1.0, and the operation of each. */
const TENANTED: readonly (readonly [type: string, operation: Operation])[] = [
  ['SendRequest', 'send'],
  ['GetRequest', 'get'],
  ['CancelRequest', 'cancel'],
  ['SubscribeRequest', 'subscribe'],
  ['PushConfig', 'push.create'],
  ['PushGetRequest', 'push.get'],
  ['PushListRequest', 'push.list'],
  ['PushDeleteRequest', 'push.delete'],
  ['ExtendedCardRequest', 'extendedCard'],
];

/** The features of a release on which its losses depend. */
export interface Has {
  readonly operation: (operation: Operation) => boolean;
  /** Its card can name transports. */
  readonly transports: boolean;
}

/** What no release of the family can express, in either form. */
export function familyLosses(has: Has): readonly Loss[] {
  return [
    { field: 'SendRequest.alias', reason: 'the server names every task', clause: 'A2A 0.3.0 §6.1: Task.id is made by the server' },
    ...DRAFT_LOSSES,
    ...TENANTED.filter(([, operation]) => has.operation(operation)).map(([type]) => ({
      field: `${type}.tenant`,
      reason: 'tenancy came with 1.0',
      clause: 'A2A 0.3.0 a2a.json and a2a.proto: no request has a tenant',
    })),
    {
      field: 'Task.contextId',
      absent: true,
      reason: 'the member is required, so a task without a context gets its own id there',
      clause: 'A2A 0.3.0 §6.1: contextId is required',
    },
    ...['Part.filename', 'Part.mediaType'].map(
      (field): Loss => ({
        field,
        beside: ['text', 'data'],
        reason: 'only a file has a name and a media type',
        clause: 'A2A 0.3.0 §6.5.1, §6.5.3: TextPart and DataPart hold their content and metadata only',
      }),
    ),
    ...CARD_LOSSES,
    ...(has.transports ? [] : [UNTOLD_TRANSPORT]),
  ];
}

const CARD_LOSSES: readonly Loss[] = [
  {
    field: 'AgentInterface.tenant',
    reason: 'tenancy came with 1.0',
    clause: 'A2A 0.3.0 §5.5.5: AgentInterface is {url, transport}',
  },
  {
    field: 'AgentInterface.protocolVersion',
    reason: 'the card has one version for all interfaces',
    clause: 'A2A 0.3.0 §5.5: protocolVersion is a member of the card',
  },
  {
    field: 'AgentCard.supportedInterfaces',
    reason: 'an entry has no version, so only the main interface and those of 0.x are listed',
    clause: 'A2A 0.3.0 §5.5.5: AgentInterface has no version',
  },
];

const UNTOLD_TRANSPORT: Loss = {
  field: 'AgentInterface.protocolBinding',
  reason: 'the card has one address, which is read as JSON-RPC',
  clause: 'A2A 0.2.3 a2a.json AgentCard: no preferredTransport, no additionalInterfaces',
};

/** What only the `kind` form lacks. */
export function kindLosses(has: Has): readonly Loss[] {
  if (!has.operation('push.list')) return [];
  return [
    ...['PushListRequest.pageSize', 'PushListRequest.pageToken'].map((field) => ({
      field,
      reason: 'the list has no pages',
      clause: 'A2A 0.3.0 §7.7.1: ListTaskPushNotificationConfigParams is {id, metadata}',
    })),
    {
      field: 'PushPage.nextPageToken',
      reason: 'the list has no pages',
      clause: 'A2A 0.3.0 §7.7: the result is an array',
    },
  ];
}

const NO_PRESENCE = 'A2A 0.3.0 a2a.proto SendMessageConfiguration: proto3 fields without presence';

/** What only the REST form lacks. */
export const REST_LOSSES: readonly Loss[] = [
  {
    field: 'Message.referenceTaskIds',
    reason: 'only the JSON-RPC form has it',
    clause: 'A2A 0.3.0 a2a.proto Message: no such field',
  },
  { field: 'CancelRequest.metadata', reason: 'a cancel has a path and no body', clause: 'A2A 0.3.0 a2a.proto CancelTaskRequest is {name}' },
  {
    field: 'GetRequest.historyLength',
    values: [0],
    reason: '0 means everything in the proto, so a caller can’t ask for none',
    clause: 'A2A 0.3.0 a2a.proto GetTaskRequest.history_length: 0 is unlimited',
  },
  {
    field: 'SendConfiguration.historyLength',
    values: [0],
    reason: '0 means everything in the proto, so a caller can’t ask for none',
    clause: NO_PRESENCE,
  },
  {
    field: 'SendConfiguration.returnImmediately',
    absent: true,
    reason: 'absent would mean not to wait, so the default is always written',
    clause: NO_PRESENCE,
  },
  {
    field: 'SendRequest.configuration',
    absent: true,
    reason: 'absent would mean not to wait, so the default is always written',
    clause: NO_PRESENCE,
  },
];
