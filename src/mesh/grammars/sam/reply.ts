import { errorText, writeSafely } from '#bindings';
import type { TaskReply } from '#engine';
import type { A2AError, Dialect, Frame, Logged, RpcId, Task } from '#protocol';
import { eventInReferences, taskInReferences } from '../../artifacts/events.ts';
import type { ArtifactOwner } from '../../artifacts/service.ts';
import type { OutgoingMessage } from '../../broker.ts';
import type { MeshContext } from '../grammar.ts';
import { encode, JSON_TYPE, publishAll, withinLimit } from '../shared/messages.ts';
import { dialectOf } from './dialects.ts';
import { getInstanceTopic } from './instance-topics.ts';
import { INSTANCE_TOPIC, SEQ } from './properties.ts';
import type { SamReplyAddress } from './reply-address.ts';
import { readAddress } from './reply-address.ts';

/** Publishes a reply of the engine: events to the status topic, and the final Task to the response topic. */
export async function publishSamReply(reply: TaskReply, mesh: MeshContext): Promise<void> {
  const address = readAddress(reply.to, mesh.namespace);
  if (address === undefined) mesh.report(`a reply is dropped: its address is not a response topic of ${mesh.namespace}`);
  else await publishReplyTo(address, reply, mesh);
}

/** Events to publish to one caller. */
export interface SamReplyBatch {
  readonly agent: string;
  readonly dialect: Dialect['id'];
  readonly events: readonly Logged[];
  /** Given with the last batch. */
  readonly task?: Task;
}

/** Publishes a batch: events to the status topic, the final task to the response topic. */
export async function publishReplyTo(address: SamReplyAddress, batch: SamReplyBatch, mesh: MeshContext): Promise<void> {
  const { agent, dialect } = batch;
  const { statusTopic, replyTo, rpcId } = address;
  if (statusTopic === undefined && batch.task === undefined) return; // the caller wants the final task only
  const { events, task } = await withReferences(batch, address, mesh);
  const writer = dialectOf(dialect).openStream(rpcId);
  const progress = writer.frames(events);
  const last = writer.end(task);
  const properties = { [INSTANCE_TOPIC]: getInstanceTopic(mesh, agent) };
  const messages: OutgoingMessage[] = [];
  if (statusTopic !== undefined) {
    const frames = task === undefined ? [...progress, ...last] : progress;
    messages.push(...frames.map((frame) => messageOf(statusTopic, frame, properties)));
  }
  if (task !== undefined) {
    const tooLarge = (error: object): string => JSON.stringify({ jsonrpc: '2.0', id: rpcId, error: { ...error, data: { dialect } } });
    messages.push(...last.map((frame) => withinLimit(messageOf(replyTo, frame, properties), tooLarge)));
  }
  await publishAll(mesh.broker, messages);
}

function messageOf(topic: string, frame: Frame, properties: Readonly<Record<string, string>>): OutgoingMessage {
  const { id } = frame;
  return {
    topic,
    payload: encode(String(frame.data)),
    contentType: JSON_TYPE,
    properties: id === undefined ? properties : { ...properties, [SEQ]: String(id) },
  };
}

/** Where an error goes, and in which spelling. */
export interface SamErrorReply {
  readonly topic: string;
  readonly rpcId: RpcId;
  readonly dialect: Dialect;
}

export async function publishError(error: A2AError, { topic, rpcId, dialect }: SamErrorReply, { broker }: MeshContext): Promise<void> {
  const text = writeSafely(error, (safe) => errorText(rpcId, dialect.error.write(safe)));
  await broker.publish({ topic, payload: encode(text), contentType: JSON_TYPE });
}

async function withReferences(
  { agent, events, task }: SamReplyBatch,
  { userId }: SamReplyAddress,
  { artifacts, report }: MeshContext,
): Promise<Pick<SamReplyBatch, 'events' | 'task'>> {
  if (artifacts === undefined) return { events, ...(task === undefined ? {} : { task }) };
  const ownerOf = (session: string): ArtifactOwner => ({ app: agent, user: userId, session });
  try {
    const referring = await Promise.all(
      events.map(async (logged) => ({ ...logged, event: await eventInReferences(artifacts, ownerOf, logged.event) })),
    );
    return { events: referring, ...(task === undefined ? {} : { task: await taskInReferences(artifacts, ownerOf, task) }) };
  } catch (thrown) {
    report('files could not be stored as artifacts; they are sent inline', thrown);
    return { events, ...(task === undefined ? {} : { task }) };
  }
}
