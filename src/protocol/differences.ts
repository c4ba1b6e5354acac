import { membersOf } from './members.ts';

/**
 * One difference between two canonical values, named as `Type.member`. Translation losses are measured
 * with it: encode, decode, compare.
 */
export interface Difference {
  /** Place in the value, for example `history[0].parts[1].filename`. */
  readonly path: string;
  /** Place in the data model, for example `Part.filename`. */
  readonly field: string;
  /** Value before; undefined if the member is new. */
  readonly was: unknown;
  /** Value after; undefined if the member is gone. */
  readonly is: unknown;
  /** The object that contains the member. */
  readonly owner: Readonly<Record<string, unknown>>;
}

/**
 * Members whose values have a type of their own. Every other member is compared as a whole. `[]` is a
 * list of the type, `{}` a map.
 */
const MODEL: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  SendRequest: { message: 'Message', configuration: 'SendConfiguration' },
  SendConfiguration: { taskPushNotificationConfig: 'PushConfig' },
  SendResult: { task: 'Task', message: 'Message' },
  TaskEvent: { task: 'Task', message: 'Message', statusUpdate: 'TaskStatusUpdate', artifactUpdate: 'TaskArtifactUpdate' },
  Message: { parts: 'Part[]' },
  Task: { status: 'TaskStatus', artifacts: 'Artifact[]', history: 'Message[]' },
  TaskStatus: { message: 'Message' },
  TaskStatusUpdate: { status: 'TaskStatus' },
  TaskArtifactUpdate: { artifact: 'Artifact' },
  Artifact: { parts: 'Part[]' },
  TaskPage: { tasks: 'Task[]' },
  PushConfig: { authentication: 'AuthenticationInfo' },
  PushPage: { configs: 'PushConfig[]' },
  AgentCard: {
    supportedInterfaces: 'AgentInterface[]',
    provider: 'AgentProvider',
    capabilities: 'AgentCapabilities',
    skills: 'AgentSkill[]',
    securitySchemes: 'SecurityScheme{}',
    signatures: 'AgentCardSignature[]',
  },
  AgentCapabilities: { extensions: 'AgentExtension[]' },
  SecurityScheme: { oauth2SecurityScheme: 'OAuth2SecurityScheme' },
};

/** Compares two values of one canonical type, member by member. */
export function differences(type: string, was: unknown, is: unknown, path = ''): readonly Difference[] {
  const out: Difference[] = [];
  compareMembers({ type, was: membersOf(was), is: membersOf(is), path }, out);
  return out;
}

interface Pair {
  readonly type: string;
  readonly was: Readonly<Record<string, unknown>>;
  readonly is: Readonly<Record<string, unknown>>;
  readonly path: string;
}

function compareMembers(pair: Pair, out: Difference[]): void {
  for (const key of new Set([...Object.keys(pair.was), ...Object.keys(pair.is)])) {
    const [was, is] = [pair.was[key], pair.is[key]];
    if (equal(was, is)) continue;
    const path = pair.path === '' ? key : `${pair.path}.${key}`;
    const kind = MODEL[pair.type]?.[key] ?? '';
    const type = kind.replace(/(\[\]|\{\})$/, '');
    if (type === '' || was === undefined || is === undefined || !sameShape(was, is)) {
      out.push({ path, field: `${pair.type}.${key}`, was, is, owner: pair.was });
    } else if (Array.isArray(was) && Array.isArray(is)) {
      was.forEach((item, at) => {
        compareMembers({ type, was: membersOf(item), is: membersOf(is[at]), path: `${path}[${at}]` }, out);
      });
    } else if (kind.endsWith('{}')) {
      for (const name of Object.keys(membersOf(was))) {
        compareMembers({ type, was: membersOf(membersOf(was)[name]), is: membersOf(membersOf(is)[name]), path: `${path}.${name}` }, out);
      }
    } else {
      compareMembers({ type, was: membersOf(was), is: membersOf(is), path }, out);
    }
  }
}

/** Whether two values can be compared member by member: lists of equal length, or objects. */
function sameShape(was: unknown, is: unknown): boolean {
  if (Array.isArray(was)) return Array.isArray(is) && was.length === is.length;
  return typeof was === 'object' && typeof is === 'object';
}

/** Deep equality of JSON values. An undefined member equals an absent one. */
export function equal(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, at) => equal(item, right[at]));
  }
  const [a, b] = [membersOf(left), membersOf(right)];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => equal(a[key], b[key]));
}
