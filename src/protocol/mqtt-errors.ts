import type { ErrorKind } from './errors.ts';
import { A2AError } from './errors.ts';

/** Errors of the binding to MQTT, not of A2A, by their names in `error.data.a2a_error` (A2A over MQTT 0.1, "Errors"). */
export type MqttErrorName = 'request_expired' | 'responder_unavailable' | 'transport_protocol_error';

/** The codes that go with the names. Alone they mean what they mean in A2A. */
export const MQTT_ERRORS: Readonly<Record<MqttErrorName, { readonly code: number; readonly kind: ErrorKind }>> = {
  request_expired: { code: -32_003, kind: 'UNAVAILABLE' },
  responder_unavailable: { code: -32_004, kind: 'UNAVAILABLE' },
  transport_protocol_error: { code: -32_005, kind: 'INVALID_REQUEST' },
};

export function mqttError(name: MqttErrorName, message: string): A2AError {
  return new A2AError(MQTT_ERRORS[name].kind, message, { data: { a2a_error: name } });
}
