import type { JsonDraft } from '../../json.ts';
import { entriesOf } from '../../members.ts';
import type { Role } from '../../message.ts';
import type { Part } from '../../parts.ts';
import type { TaskState } from '../../states.ts';
import type { Artifact } from '../../task.ts';
import { KEBAB_NAMES, KEBAB_STATES } from '../shared/kebab-states.ts';
import type { Reader } from '../shared/read.ts';
import { readKindPart, readProtoPart, writeKindPart, writeProtoPart } from './parts.ts';

/**
 * 0.3 has two JSON forms of one model: `kind` JSON over JSON-RPC, and the ProtoJSON of its a2a.proto
 * under `/v1`. They differ in these members and in their envelopes.
 */
export interface Form {
  /** `kind` tells what an object is. Without it, the member name of a wrapper does. */
  readonly kinds: boolean;
  readonly states: ReadonlyMap<unknown, TaskState>;
  readonly stateName: Readonly<Record<TaskState, string>>;
  readonly roles: ReadonlyMap<unknown, Role>;
  readonly roleName: Readonly<Record<Role, string>>;
  readonly readPart: Reader<Part>;
  /** For a product whose artifacts have forms that 0.3 lacks. */
  readonly readArtifact?: Reader<Artifact>;
  readonly writePart: (part: Part) => JsonDraft;
}

/** In the order of the enum's numbers, which ProtoJSON also accepts. */
const PROTO_STATES: Readonly<Record<TaskState, string>> = {
  TASK_STATE_UNSPECIFIED: 'TASK_STATE_UNSPECIFIED',
  TASK_STATE_SUBMITTED: 'TASK_STATE_SUBMITTED',
  TASK_STATE_WORKING: 'TASK_STATE_WORKING',
  TASK_STATE_COMPLETED: 'TASK_STATE_COMPLETED',
  TASK_STATE_FAILED: 'TASK_STATE_FAILED',
  TASK_STATE_CANCELED: 'TASK_STATE_CANCELLED', // 0.3's proto has two L
  TASK_STATE_INPUT_REQUIRED: 'TASK_STATE_INPUT_REQUIRED',
  TASK_STATE_REJECTED: 'TASK_STATE_REJECTED',
  TASK_STATE_AUTH_REQUIRED: 'TASK_STATE_AUTH_REQUIRED',
};

const PROTO_ENTRIES = entriesOf(PROTO_STATES);

/** The form over JSON-RPC: lower-case states and roles, and `kind` on every object. */
export const KIND_FORM: Form = {
  kinds: true,
  states: KEBAB_STATES,
  stateName: KEBAB_NAMES,
  roles: new Map<unknown, Role>([
    ['user', 'ROLE_USER'],
    ['agent', 'ROLE_AGENT'],
  ]),
  roleName: { ROLE_USER: 'user', ROLE_AGENT: 'agent' },
  readPart: readKindPart,
  writePart: writeKindPart,
};

/** The form over HTTP+JSON: the ProtoJSON of 0.3's a2a.proto. */
export const PROTO_FORM: Form = {
  kinds: false,
  states: new Map<unknown, TaskState>([
    ...PROTO_ENTRIES.map(([state, name]) => [name, state] as const),
    ...PROTO_ENTRIES.map(([state], number) => [number, state] as const),
    ['TASK_STATE_CANCELED', 'TASK_STATE_CANCELED'],
  ]),
  stateName: PROTO_STATES,
  roles: new Map<unknown, Role>([
    ['ROLE_USER', 'ROLE_USER'],
    ['ROLE_AGENT', 'ROLE_AGENT'],
    [1, 'ROLE_USER'],
    [2, 'ROLE_AGENT'],
  ]),
  roleName: { ROLE_USER: 'ROLE_USER', ROLE_AGENT: 'ROLE_AGENT' },
  readPart: readProtoPart,
  writePart: writeProtoPart,
};
