import type { ErrorKind } from './errors.ts';
import { A2AError } from './errors.ts';

/**
 * Errors of the MQTT binding itself, by their name in `error.data.a2a_error` (A2A over MQTT 0.1,
 * "Errors").
 */
export type MqttErrorName = 'request_expired' | 'responder_unavailable' | 'transport_protocol_error';

/**
 * JSON-RPC codes of these errors. A2A uses the same codes for other errors, so readers must go by the
 * name.
 */
export const MQTT_ERRORS: Readonly<Record<MqttErrorName, { readonly code: number; readonly kind: ErrorKind }>> = {
  request_expired: { code: -32_003, kind: 'UNAVAILABLE' },
  responder_unavailable: { code: -32_004, kind: 'UNAVAILABLE' },
  transport_protocol_error: { code: -32_005, kind: 'INVALID_REQUEST' },
};

/** An error of the MQTT binding, ready to be thrown or sent. */
export function mqttError(name: MqttErrorName, message: string): A2AError {
  return new A2AError(MQTT_ERRORS[name].kind, message, { data: { a2a_error: name } });
}
