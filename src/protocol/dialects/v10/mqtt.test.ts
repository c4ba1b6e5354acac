import { expect, it } from 'vitest';
import { A2AError } from '../../errors.ts';
import { mqttError } from '../../mqtt-errors.ts';
import { countedIds } from '../../ports.ts';
import { DEFAULT_READ_LIMITS } from '../dialect.ts';
import { mqtt01 } from './mqtt.ts';

const env = { ids: countedIds(), limits: DEFAULT_READ_LIMITS };
const TASK = '1f0c7b6e-6a53-4c0e-8b0f-0a4f6f8a2d11';
// The example of A2A over MQTT 0.1, "Payload".
const PARAMS = { message: { messageId: 'm-1', role: 'ROLE_USER', taskId: TASK, contextId: '6d0f', parts: [{ text: 'plan tomorrow' }] } };

it('reads the task id of a request as an alias, and writes it back', () => {
  const decoded = mqtt01.decode('stream.request', PARAMS, env);
  if (!decoded.ok) throw new Error(JSON.stringify(decoded));
  expect(decoded.value.alias).toBe(TASK);
  expect(decoded.value.message.taskId).toBeUndefined();
  expect(mqtt01.encode('stream.request', decoded.value)).toEqual(PARAMS);
});

it.each(['input-required', 'TASK_STATE_INPUT_REQUIRED'])('reads the state %s', (state) => {
  const statusUpdate = { taskId: TASK, contextId: '6d0f', status: { state } };
  const decoded = mqtt01.decode('event', { statusUpdate }, env);
  expect(decoded.ok && decoded.value.statusUpdate?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  const task = mqtt01.decode('get.result', { id: TASK, status: { state } }, env);
  expect(task.ok && task.value.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
});

it('writes errors of the binding with their name, and errors of A2A as usual', () => {
  expect(mqtt01.error.write(new A2AError('UNAVAILABLE', 'queue full'))).toEqual({
    code: -32_004,
    message: 'queue full',
    data: { a2a_error: 'responder_unavailable' },
  });
  expect(mqtt01.error.write(mqttError('transport_protocol_error', 'no correlation')).code).toBe(-32_005);
  expect(mqtt01.error.write(mqttError('request_expired', 'too late')).code).toBe(-32_003);
  const finished = mqtt01.error.write(new A2AError('TASK_FINISHED'));
  expect(finished.code).toBe(-32_004);
  expect(JSON.stringify(finished.data)).toContain('google.rpc.ErrorInfo');
});

it('reads an error by its name before its code', () => {
  const data = { a2a_error: 'responder_unavailable' };
  expect(mqtt01.error.read({ code: -32_004, message: 'queue full', data })).toMatchObject({ kind: 'UNAVAILABLE', message: 'queue full' });
  expect(mqtt01.error.read({ code: -32_004, message: 'no' }).kind).toBe('UNSUPPORTED_OPERATION');
  expect(mqtt01.error.read({ code: -32_602, message: "context differs from the task's context" }).kind).toBe('INVALID_PARAMS');
});
