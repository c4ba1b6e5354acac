import type { Json, JsonObject, Logged, Operation, UnaryOperation } from '#protocol';
import { A2AError, isObject } from '#protocol';
import { dialectNamed } from '../dialect-named.ts';
import { METHODS_V03 } from '../dialects.ts';
import type { ProtoCodec, ProtoForm } from './codec.ts';
import { protoCodec } from './codec.ts';
import { A2AService } from './generated/a2a_v03_pb.ts';

/** A2A 0.3: its HTTP+JSON form is the ProtoJSON of its messages. Requests differ: there the path has what the message has. */
export const FORM_V03: ProtoForm = {
  dialect: dialectNamed('v03.rest'),
  service: A2AService,
  methods: METHODS_V03,
  request: (operation, json) => (isObject(json) ? named(operation, json) : json),
  received: checkName,
  result: (operation, json) => (isObject(json) && isCard(operation) ? cardJson(json) : json),
  event: closing,
};

export const CODEC_V03: ProtoCodec = protoCodec(FORM_V03);

/** The members of an HTTP path as the resource names of gRPC: `tasks/ID`, `tasks/ID/pushNotificationConfigs/ID`. */
function named(operation: Operation, { id, taskId, ...rest }: JsonObject): JsonObject {
  switch (operation) {
    case 'get':
    case 'cancel':
    case 'subscribe':
      return { ...rest, name: `tasks/${id}` };
    case 'push.get':
    case 'push.delete':
      return { ...rest, name: `tasks/${taskId}/pushNotificationConfigs/${id}` };
    case 'push.list':
      return { ...rest, parent: `tasks/${taskId}` };
    default:
      return rest;
  }
}

/** The resource names of requests, which the dialect's own errors call ids. */
const NAMES: Readonly<Partial<Record<Operation, readonly [member: string, form: string]>>> = {
  get: ['name', 'tasks/ID'],
  cancel: ['name', 'tasks/ID'],
  subscribe: ['name', 'tasks/ID'],
  'push.get': ['name', 'tasks/ID/pushNotificationConfigs/ID'],
  'push.list': ['parent', 'tasks/ID'],
  'push.delete': ['name', 'tasks/ID/pushNotificationConfigs/ID'],
};

function checkName(operation: Operation, json: unknown): unknown {
  const [member, form] = NAMES[operation] ?? [];
  if (member === undefined || !isObject(json)) return json;
  const name = json[member];
  if (typeof name === 'string' && /^tasks\/[^/]/.test(name)) return json;
  throw new A2AError('INVALID_PARAMS', `${member} must have the form ${form}`, { field: member });
}

function isCard(operation: UnaryOperation): boolean {
  return operation === 'extendedCard' || operation === 'card';
}

/** `security` is a list of maps in JSON, and a list of messages with a map in gRPC. */
function cardJson(card: JsonObject): JsonObject {
  const { security, skills, ...rest } = card;
  return {
    ...rest,
    ...(security === undefined ? {} : { security: requirements(security) }),
    ...(Array.isArray(skills) ? { skills: skills.map(skillJson) } : {}),
  };
}

function skillJson(skill: Json): Json {
  if (!isObject(skill) || skill['security'] === undefined) return skill;
  return { ...skill, security: requirements(skill['security']) };
}

function requirements(security: Json): Json {
  const list: readonly Json[] = Array.isArray(security) ? security : [];
  return list.map((requirement) => ({ schemes: isObject(requirement) ? schemes(requirement) : {} }));
}

function schemes(requirement: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(requirement).map(([name, list]) => [name, { list }]));
}

/** A stream that ends with this event, although its state is not terminal, says so. */
function closing(logged: Logged, json: Json): Json {
  if (logged.closes !== true || !isObject(json) || !isObject(json['statusUpdate'])) return json;
  return { statusUpdate: { ...json['statusUpdate'], final: true } };
}
