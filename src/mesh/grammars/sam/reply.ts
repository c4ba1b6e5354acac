import { errorText, writeSafely } from '#bindings';
import type { TaskReply } from '#engine';
import type { A2AError, Dialect, Frame, Logged, RpcId, Task } from '#protocol';
import { eventInReferences, taskInReferences } from '../../artifacts/events.ts';
import type { ArtifactOwner } from '../../artifacts/service.ts';
import type { OutgoingMessage } from '../../broker.ts';
import { BROKER_DEFAULTS } from '../../broker.ts';
import type { MeshContext } from '../grammar.ts';
import { dialectOf } from './dialects.ts';
import { getInstanceTopic } from './instance-topics.ts';
import { INSTANCE_TOPIC, SEQ } from './properties.ts';
import type { SamReplyAddress } from './reply-address.ts';
import { readAddress } from './reply-address.ts';

const JSON_TYPE = 'application/json';
const encoder = new TextEncoder();

/** Publishes what the engine carries: progress to where progress goes, and the Task, at the end, to where answers go. */
export async function carrySam(reply: TaskReply, place: MeshContext): Promise<void> {
  const address = readAddress(reply.to, place.namespace);
  if (address === undefined) {
    place.report(`an answer is for an address that is none of ${place.namespace}; it is dropped`);
    return;
  }
  await publishAnswer(reply, address, place);
}

export interface SamReplyBatch {
  readonly agent: string;
  readonly dialect: Dialect['id'];
  readonly events: readonly Logged[];
  readonly task?: Task;
}

/** All of a batch is under way at once: a broker keeps the order of one publisher. */
export async function publishAnswer(answering: SamReplyBatch, address: SamReplyAddress, place: MeshContext): Promise<void> {
  const { agent, dialect } = answering;
  if (address.statusTopic === undefined && answering.task === undefined) return; // the answer alone is wanted
  const { events, task } = await withReferences(answering, address, place);
  const writer = dialectOf(dialect).openStream(address.rpcId);
  const progress = writer.frames(events);
  const last = writer.end(task);
  const properties = { [INSTANCE_TOPIC]: getInstanceTopic(place, agent) };
  const { statusTopic, replyTo } = address;
  const sent: Promise<unknown>[] = [];
  if (statusTopic !== undefined) {
    const told = task === undefined ? [...progress, ...last] : progress;
    for (const frame of told) sent.push(place.broker.publish(messageOf(statusTopic, frame, properties)));
  }
  if (task !== undefined)
    for (const frame of last) sent.push(place.broker.publish(fitting(messageOf(replyTo, frame, properties), address, dialect)));
  const results = await Promise.allSettled(sent);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function messageOf(topic: string, { data, id }: Frame, properties: Readonly<Record<string, string>>): OutgoingMessage {
  return {
    topic,
    payload: encoder.encode(data),
    contentType: JSON_TYPE,
    properties: id === undefined ? properties : { ...properties, [SEQ]: String(id) },
  };
}

/** An answer that no broker takes would be tried for ever: its caller hears that it is too large. */
function fitting(message: OutgoingMessage, { rpcId }: SamReplyAddress, dialect: Dialect['id']): OutgoingMessage {
  if (message.payload.length <= BROKER_DEFAULTS.packetBytesMax) return message;
  const problem = {
    code: -32603,
    message: `the answer has ${message.payload.length} bytes, and a broker takes ${BROKER_DEFAULTS.packetBytesMax}`,
  };
  return { ...message, payload: encoder.encode(JSON.stringify({ jsonrpc: '2.0', id: rpcId, error: { ...problem, data: { dialect } } })) };
}

export interface SamErrorReply {
  readonly topic: string;
  readonly rpcId: RpcId;
  readonly dialect: Dialect;
}

export async function publishError(error: A2AError, { topic, rpcId, dialect }: SamErrorReply, { broker }: MeshContext): Promise<void> {
  const text = writeSafely(error, (safe) => errorText(rpcId, dialect.error.write(safe)));
  await broker.publish({ topic, payload: encoder.encode(text), contentType: JSON_TYPE });
}

async function withReferences(
  { agent, events, task }: SamReplyBatch,
  { userId }: SamReplyAddress,
  { artifacts, report }: MeshContext,
): Promise<Pick<SamReplyBatch, 'events' | 'task'>> {
  if (artifacts === undefined) return { events, ...(task === undefined ? {} : { task }) };
  const ownerOf = (session: string): ArtifactOwner => ({ app: agent, user: userId, session });
  try {
    const told = await Promise.all(
      events.map(async (logged) => ({ ...logged, event: await eventInReferences(artifacts, ownerOf, logged.event) })),
    );
    return { events: told, ...(task === undefined ? {} : { task: await taskInReferences(artifacts, ownerOf, task) }) };
  } catch (thrown) {
    report('files could not be kept as artifacts; they go as they are', thrown);
    return { events, ...(task === undefined ? {} : { task }) };
  }
}
