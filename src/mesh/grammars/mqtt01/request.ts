import type { RpcRequest } from '#bindings';
import { readableId, readEnvelope, requestObject } from '#bindings';
import type { RpcId, SendRequest } from '#protocol';
import { A2AError, isObject, mqttError } from '#protocol';
import type { ReceivedMessage } from '../../broker.ts';
import { parseRequest } from '../shared/messages.ts';
import { ARTIFACT_MODE, CONTEXT_ID, encryptionOf } from './properties.ts';
import type { MqttIdentity, MqttTopics } from './topics.ts';

/** A request whose reply topic is known. */
export interface MqttRequest {
  readonly message: ReceivedMessage;
  readonly topic: string;
  readonly requester: MqttIdentity;
  rpcId: RpcId;
}

/** Undefined when there is no Response Topic, or not one that may be published to. */
export function requestIn(message: ReceivedMessage, topics: MqttTopics): MqttRequest | undefined {
  const { responseTopic } = message;
  const requester = responseTopic === undefined ? undefined : topics.requesterOf(responseTopic);
  return responseTopic === undefined || requester === undefined ? undefined : { message, topic: responseTopic, requester, rpcId: null };
}

/**
 * Reads the JSON-RPC envelope and checks the MQTT properties beside it (A2A over MQTT 0.1 §3 and §7).
 */
export function envelopeOf(request: MqttRequest): RpcRequest {
  const { correlation, properties } = request.message;
  const parsed = parseRequest(request.message);
  const encryption = encryptionOf(request.message);
  if (encryption !== undefined)
    throw mqttError('transport_protocol_error', `${encryption.slice(0, 100)} is not supported: messages must not be encrypted`);
  request.rpcId = parsed.ok ? readableId(parsed.value) : null;
  if (correlation === undefined || correlation.length === 0)
    throw mqttError('transport_protocol_error', 'a request needs Correlation Data beside its Response Topic');
  if (!parsed.ok) throw parsed.error;
  const rpc = readEnvelope(requestObject(parsed.value), {});
  const property = properties[CONTEXT_ID];
  const message = isObject(rpc.params) ? rpc.params['message'] : undefined;
  const inPayload = isObject(message) ? message['contextId'] : undefined;
  if (property !== undefined && inPayload !== undefined && property !== inPayload)
    throw mqttError('transport_protocol_error', `${CONTEXT_ID} differs from the contextId of the message`);
  return rpc;
}

/** How the requester wants artifacts: inside the JSON, or as binary messages. */
export function artifactModeOf({ properties }: ReceivedMessage): 'json' | 'binary' {
  return properties[ARTIFACT_MODE] === 'binary' ? 'binary' : 'json';
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** The requester creates the task id. A missing or malformed one is refused (A2A over MQTT 0.1 §4). */
export function checkTaskName({ alias }: SendRequest): void {
  const field = 'message.taskId';
  if (alias === undefined)
    throw new A2AError('INVALID_PARAMS', 'over MQTT the requester names the task: message.taskId is required', { field });
  if (!isUuid(alias)) throw new A2AError('INVALID_PARAMS', 'message.taskId must be a UUID', { field });
}
