import type { Artifact, Message, Part, Task, TaskEvent, TaskStatus } from '#protocol';
import type { FileStoring } from './parts.ts';
import { toBytes, toReferences } from './parts.ts';
import type { ArtifactOwner, ArtifactService } from './service.ts';

/** The owner of the files of a conversation. */
export type OwnerOf = (session: string) => ArtifactOwner;
/** Which files are replaced. See `FileStoring`. */
type Storing = Pick<FileStoring, 'inlineBytesMax'>;
type ConvertParts = (owner: ArtifactOwner, parts: readonly Part[]) => Promise<readonly Part[]>;

/** Replaces large files of a task by references, so that messages on the broker stay small. */
export function taskInReferences(
  service: ArtifactService,
  { ownerOf, ...storing }: Storing & { ownerOf: OwnerOf },
  task: Task,
): Promise<Task> {
  return convertTask(task, ownerOf, (owner, parts) => toReferences(service, { owner, ...storing }, parts));
}

/** Replaces large files in an event by references to the artifact service. */
export function eventInReferences(
  service: ArtifactService,
  { ownerOf, ...storing }: Storing & { ownerOf: OwnerOf },
  event: TaskEvent,
): Promise<TaskEvent> {
  return convertEvent(event, ownerOf, (owner, parts) => toReferences(service, { owner, ...storing }, parts));
}

/** Replaces references by bytes, for callers outside of the mesh. */
export function taskInBytes(service: ArtifactService, ownerOf: OwnerOf, task: Task): Promise<Task> {
  return convertTask(task, ownerOf, (owner, parts) => toBytes(service, owner, parts));
}

/** Replaces references in an event by the files themselves. */
export function eventInBytes(service: ArtifactService, ownerOf: OwnerOf, event: TaskEvent): Promise<TaskEvent> {
  return convertEvent(event, ownerOf, (owner, parts) => toBytes(service, owner, parts));
}

/** Converts the parts of an event, wherever it has some. */
async function convertEvent(event: TaskEvent, ownerOf: OwnerOf, convert: ConvertParts): Promise<TaskEvent> {
  if (event.task !== undefined) return { task: await convertTask(event.task, ownerOf, convert) };
  const { artifactUpdate, statusUpdate } = event;
  if (artifactUpdate !== undefined) {
    const artifact = await convertArtifact(artifactUpdate.artifact, ownerOf(artifactUpdate.contextId), convert);
    return { artifactUpdate: { ...artifactUpdate, artifact } };
  }
  if (statusUpdate === undefined) return event;
  return { statusUpdate: { ...statusUpdate, status: await convertStatus(statusUpdate.status, ownerOf(statusUpdate.contextId), convert) } };
}

async function convertTask(task: Task, ownerOf: OwnerOf, convert: ConvertParts): Promise<Task> {
  const owner = ownerOf(task.contextId ?? '');
  const { artifacts, history } = task;
  return {
    ...task,
    status: await convertStatus(task.status, owner, convert),
    ...(artifacts === undefined ? {} : { artifacts: await Promise.all(artifacts.map((each) => convertArtifact(each, owner, convert))) }),
    ...(history === undefined ? {} : { history: await Promise.all(history.map((each) => convertMessage(each, owner, convert))) }),
  };
}

async function convertStatus(status: TaskStatus, owner: ArtifactOwner, convert: ConvertParts): Promise<TaskStatus> {
  return status.message === undefined ? status : { ...status, message: await convertMessage(status.message, owner, convert) };
}

async function convertMessage(message: Message, owner: ArtifactOwner, convert: ConvertParts): Promise<Message> {
  return { ...message, parts: await convert(owner, message.parts) };
}

async function convertArtifact(artifact: Artifact, owner: ArtifactOwner, convert: ConvertParts): Promise<Artifact> {
  return { ...artifact, parts: await convert(owner, artifact.parts) };
}
