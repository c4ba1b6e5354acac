import { errorText, writeSafely } from '#bindings';
import type { TaskReply } from '#engine';
import type { Dialect, Frame, Logged, RpcId, Task } from '#protocol';
import { A2AError } from '#protocol';
import { eventInReferences, taskInReferences } from '../../artifacts/events.ts';
import type { ArtifactOwner } from '../../artifacts/service.ts';
import type { OutgoingMessage } from '../../broker.ts';
import type { MeshContext } from '../grammar.ts';
import { encode, fitsBroker, JSON_TYPE, publishAll, tooLarge } from '../shared/messages.ts';
import { asAnswer, asProgress } from './answer.ts';
import { dialectOf } from './dialects.ts';
import { getInstanceTopic } from './instance-topics.ts';
import { invocationAnswer } from './invocation.ts';
import { rememberOwner } from './owners.ts';
import { INSTANCE_TOPIC, SEQ } from './properties.ts';
import type { SamReplyAddress } from './reply-address.ts';
import { callerIn, readAddress } from './reply-address.ts';

/** Publishes a reply of the engine: events to the status topic, and the final Task to the response topic. */
export async function publishSamReply(reply: TaskReply, mesh: MeshContext): Promise<void> {
  const address = readAddress(reply.to, mesh.namespace);
  if (address === undefined) mesh.report(`a reply is dropped: its address is not a response topic of ${mesh.namespace}`);
  else await publishReplyTo(address, { ...reply, agent: address.agent ?? reply.agent }, mesh);
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
  const { statusTopic, rpcId } = address;
  remember(address, batch, mesh);
  if (statusTopic === undefined && batch.task === undefined) return; // the caller wants the final task only
  const { events, task } = await forCaller(await withReferences(batch, address, mesh), address, mesh);
  const writer = dialectOf(dialect).openStream(rpcId);
  const progress = writer.frames(events);
  const last = writer.end(task);
  const properties = { [INSTANCE_TOPIC]: getInstanceTopic(mesh, agent) };
  const messages: OutgoingMessage[] = [];
  if (statusTopic !== undefined) {
    const frames = task === undefined ? [...progress, ...last] : progress;
    // An event above the broker's limit can't be sent. The final task, which has it too, becomes an error.
    messages.push(...frames.map((frame) => messageOf(statusTopic, frame, properties)).filter(fitsBroker));
  }
  if (task !== undefined) messages.push(...last.map((frame) => finalMessage(frame, { address, dialect, properties, task })));
  await publishAll(mesh.broker, messages);
}

interface Finishing {
  readonly address: SamReplyAddress;
  readonly dialect: Dialect['id'];
  readonly properties: Readonly<Record<string, string>>;
  readonly task: Task;
}

/** The final task, or an error if the broker can't carry it: its caller would wait for ever. */
function finalMessage(frame: Frame, { address, dialect, properties, task }: Finishing): OutgoingMessage {
  const { replyTo, rpcId, readsArtifacts } = address;
  const message = messageOf(replyTo, frame, properties);
  if (fitsBroker(message)) return message;
  const { artifacts: _, history: __, ...rest } = task;
  // For SAM's programs the answer is in the status message. The artifacts repeat it, and they have sent the history themselves.
  const [shorter] = readsArtifacts === true ? [] : dialectOf(dialect).openStream(rpcId).end(rest);
  const lean = shorter === undefined ? message : messageOf(replyTo, { ...frame, data: shorter.data }, properties);
  if (fitsBroker(lean)) return lean;
  const text = errorText(
    rpcId,
    dialectOf(dialect).error.write(new A2AError('INTERNAL_ERROR', tooLarge(message), { data: { taskId: task.id } })),
  );
  return { ...message, payload: encode(text) };
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

/** After a restart the first reply tells who may cancel the task. */
function remember(
  { userId, clientId, replyTo }: SamReplyAddress,
  { agent, dialect, events, task }: SamReplyBatch,
  mesh: MeshContext,
): void {
  const [first] = events;
  const { event } = first ?? {};
  const id = task?.id ?? event?.task?.id ?? event?.statusUpdate?.taskId ?? event?.artifactUpdate?.taskId;
  if (id === undefined) return;
  const clients = [callerIn(replyTo), ...(clientId === undefined ? [] : [clientId])];
  rememberOwner(mesh, { agent, task: id }, { userId, clients, dialect });
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

type Replying = SamReplyBatch & { readonly ownerOf: (session: string) => ArtifactOwner };

/** SAM's programs get the answer where they look for it. Our own read artifacts. */
async function forCaller(
  { agent, events, task, ownerOf }: Replying,
  { readsArtifacts, invocation }: SamReplyAddress,
  { artifacts }: MeshContext,
): Promise<Pick<SamReplyBatch, 'events' | 'task'>> {
  if (readsArtifacts === true) {
    return { events, ...(task === undefined ? {} : { task: { ...task, metadata: asAnswer(task, agent).metadata ?? {} } }) };
  }
  const progress = asProgress(events, agent);
  if (task === undefined) return { events: progress };
  const answer = asAnswer(task, agent);
  if (invocation === undefined) return { events: progress, task: answer };
  return { events: progress, task: await invocationAnswer(answer, invocation, { owner: ownerOf(task.contextId ?? ''), artifacts }) };
}

/** SAM's programs find files in the artifact store only, so all of theirs are stored. */
async function withReferences(batch: SamReplyBatch, { userId, readsArtifacts }: SamReplyAddress, mesh: MeshContext): Promise<Replying> {
  const { agent, events, task } = batch;
  const { artifacts, report } = mesh;
  const ownerOf = (session: string): ArtifactOwner => ({ app: agent, user: userId, session });
  if (artifacts === undefined) return { ...batch, ownerOf };
  const storing = { ownerOf, ...(readsArtifacts === true ? {} : { inlineBytesMax: 0 }) };
  try {
    const referring: Logged[] = [];
    for (const logged of events) referring.push({ ...logged, event: await eventInReferences(artifacts, storing, logged.event) });
    const finished = task === undefined ? {} : { task: await taskInReferences(artifacts, storing, task) };
    return { ...batch, ownerOf, events: referring, ...finished };
  } catch (thrown) {
    report('files could not be stored as artifacts; they are sent inline', thrown);
    return { ...batch, ownerOf };
  }
}
