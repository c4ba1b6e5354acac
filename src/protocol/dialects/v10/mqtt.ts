import type { A2AError } from '../../errors.ts';
import { dialectId, externalId, taskId } from '../../ids.ts';
import type { Json } from '../../json.ts';
import { isKeyOf } from '../../members.ts';
import type { MqttErrorName } from '../../mqtt-errors.ts';
import { MQTT_ERRORS, mqttError } from '../../mqtt-errors.ts';
import type { Shape, Shapes } from '../../operations.ts';
import type { SendRequest } from '../../requests.ts';
import type { Decoded, Dialect, ReadEnv, WireError } from '../dialect.ts';
import { isRaw } from '../shared/read.ts';
import { v10 } from './dialect.ts';

/**
 * The payload of A2A over MQTT 0.1 (docs/dialects/v10.md): A2A 1.0, except that the requester names the
 * task, in the member that holds an existing task's id in 1.0, and that three error codes have other
 * meanings.
 */
function nameOf(data: unknown): MqttErrorName | undefined {
  const name = isRaw(data) ? data['a2a_error'] : undefined;
  return typeof name === 'string' && isKeyOf(MQTT_ERRORS, name) ? name : undefined;
}

function writeError(error: A2AError): WireError {
  const isBusy = error.kind === 'UNAVAILABLE' || error.kind === 'RATE_LIMITED';
  const name = nameOf(error.details.data) ?? (isBusy ? 'responder_unavailable' : undefined);
  if (name === undefined) return v10.error.write(error);
  return { code: MQTT_ERRORS[name].code, message: error.message, data: { a2a_error: name } };
}

function readError(raw: unknown): A2AError {
  const name = isRaw(raw) ? nameOf(raw['data']) : undefined;
  if (name === undefined || !isRaw(raw)) return v10.error.read(raw);
  return mqttError(name, typeof raw['message'] === 'string' ? raw['message'] : name.replaceAll('_', ' '));
}

const SENDS: ReadonlySet<Shape> = new Set<Shape>(['send.request', 'stream.request']);

function encode<K extends Shape>(shape: K, value: Shapes[K]): Json {
  if (!SENDS.has(shape)) return v10.encode(shape, value);
  const { alias, ...request } = value as SendRequest;
  const named: SendRequest = alias === undefined ? request : { ...request, message: { ...request.message, taskId: taskId(alias) } };
  return v10.encode('send.request', named);
}

function decode<K extends Shape>(shape: K, raw: unknown, env: ReadEnv): Decoded<Shapes[K]> {
  const decoded = v10.decode(shape, SENDS.has(shape) ? raw : spelledOut(raw), env);
  if (!decoded.ok || !SENDS.has(shape)) return decoded;
  const request = decoded.value as SendRequest;
  const { taskId: name, ...message } = request.message;
  return name === undefined ? decoded : { ok: true, value: { ...request, message, alias: externalId(name) } as Shapes[K] };
}

/**
 * The profile writes states both as `TASK_STATE_INPUT_REQUIRED` and as `input-required`
 * (docs/dialects/v10.md). The reader accepts both.
 */
function spelledOut(raw: unknown): unknown {
  if (!isRaw(raw)) return raw;
  if (isRaw(raw['status'])) return { ...raw, status: stateSpelledOut(raw['status']) };
  for (const member of ['task', 'statusUpdate']) {
    if (isRaw(raw[member])) return { ...raw, [member]: spelledOut(raw[member]) };
  }
  return raw;
}

function stateSpelledOut(status: Readonly<Record<string, unknown>>): unknown {
  const { state } = status;
  if (typeof state !== 'string' || !/^[a-z-]{1,32}$/.test(state)) return status;
  return { ...status, state: `TASK_STATE_${state.replaceAll('-', '_').toUpperCase()}` };
}

const { rest: _, ...spoken } = v10;

/** Used only on a broker, whose topics fix the dialect. */
export const mqtt01: Dialect = {
  ...spoken,
  id: dialectId('v10.mqtt'),
  title: 'A2A over MQTT 0.1',
  detect: () => 'no',
  encode,
  decode,
  error: { read: readError, write: writeError },
  openReader: (env) => ({
    read: (raw) => {
      const event = decode('event', raw, env);
      return event.ok ? { ok: true, value: [event.value] } : event;
    },
  }),
  card: { ...v10.card, detect: () => 'no', isPublished: true },
  traits: { ...v10.traits, callerNamesTask: true, namesOnce: true, directMessage: 'as-task' },
  wire: { ...v10.wire, callerNamesTask: true, timeoutMs: 15_000 },
};
