import type { RpcRequest } from '#bindings';
import { isObject, parseJson, readableId, readEnvelope, requestObject } from '#bindings';
import type { RpcId, SendRequest } from '#protocol';
import { A2AError, DEFAULT_READ_LIMITS, mqttError } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import { BROKER_DEFAULTS } from '../../broker.ts';
import { ARTIFACT_MODE, CONTEXT_ID, sealOf } from './properties.ts';
import type { MqttIdentity, MqttTopics } from './topics.ts';

/** A request that has been understood as far as to whom it is answered. */
export interface MqttRequest {
  readonly message: ReceivedMessage;
  readonly topic: string;
  readonly requester: MqttIdentity;
  rpcId: RpcId;
}

/** Undefined: there is nowhere to answer, or nowhere that may be answered. */
export function requestIn(message: ReceivedMessage, topics: MqttTopics): MqttRequest | undefined {
  const { responseTopic } = message;
  const requester = responseTopic === undefined ? undefined : topics.requesterOf(responseTopic);
  return responseTopic === undefined || requester === undefined ? undefined : { message, topic: responseTopic, requester, rpcId: null };
}

const JSON_MEMBERS_MAX = 100_000;

/** The envelope, and what MQTT has to say beside it (reference/mqtt §3, §7). */
export function envelopeOf(request: MqttRequest): RpcRequest {
  const { payload, correlation, properties } = request.message;
  if (payload.length > BROKER_DEFAULTS.packetBytesMax) throw new A2AError('PAYLOAD_TOO_LARGE');
  const seal = sealOf(request.message);
  if (seal !== undefined)
    throw mqttError('transport_protocol_error', `${seal.slice(0, 100)} is not spoken here: messages are not encrypted`);
  const parsed = parseJson(payload, DEFAULT_READ_LIMITS.jsonDepthMax, JSON_MEMBERS_MAX);
  request.rpcId = parsed.ok ? readableId(parsed.value) : null;
  if (correlation === undefined || correlation.length === 0) {
    throw mqttError('transport_protocol_error', 'a request needs Correlation Data beside its Response Topic');
  }
  if (!parsed.ok) throw parsed.error;
  const rpc = readEnvelope(requestObject(parsed.value), {});
  const said = properties[CONTEXT_ID];
  const message = isObject(rpc.params) ? rpc.params['message'] : undefined;
  const inside = isObject(message) ? message['contextId'] : undefined;
  if (said !== undefined && inside !== undefined && said !== inside) {
    throw mqttError('transport_protocol_error', `${CONTEXT_ID} is not the context of the message`);
  }
  return rpc;
}

export function artifactsIn({ properties }: ReceivedMessage): 'json' | 'binary' {
  return properties[ARTIFACT_MODE] === 'binary' ? 'binary' : 'json';
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** The requester creates the id of the task; one that is missing or malformed is refused (reference/mqtt §4). */
export function checkName({ alias }: SendRequest): void {
  const field = 'message.taskId';
  if (alias === undefined)
    throw new A2AError('INVALID_PARAMS', 'over MQTT the requester names the task: message.taskId is required', { field });
  if (!isUuid(alias)) throw new A2AError('INVALID_PARAMS', 'message.taskId must be a UUID', { field });
}
