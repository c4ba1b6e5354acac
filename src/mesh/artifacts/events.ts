import type { Artifact, Message, Part, Task, TaskEvent, TaskStatus } from '#protocol';
import { toBytes, toReferences } from './parts.ts';
import type { ArtifactOwner, ArtifactService } from './service.ts';

export type OwnerOf = (session: string) => ArtifactOwner;
type Turned = (owner: ArtifactOwner, parts: readonly Part[]) => Promise<readonly Part[]>;

/** Large files of a task, or of an event, by reference: what goes over a broker stays small. */
export function taskInReferences(service: ArtifactService, ownerOf: OwnerOf, task: Task): Promise<Task> {
  return turnTask(task, ownerOf, (owner, parts) => toReferences(service, owner, parts));
}

export function eventInReferences(service: ArtifactService, ownerOf: OwnerOf, event: TaskEvent): Promise<TaskEvent> {
  return turnEvent(event, ownerOf, (owner, parts) => toReferences(service, owner, parts));
}

/** References as bytes, for those outside of the mesh. */
export function eventInBytes(service: ArtifactService, ownerOf: OwnerOf, event: TaskEvent): Promise<TaskEvent> {
  return turnEvent(event, ownerOf, (owner, parts) => toBytes(service, owner, parts));
}

async function turnEvent(event: TaskEvent, ownerOf: OwnerOf, turn: Turned): Promise<TaskEvent> {
  if (event.task !== undefined) return { task: await turnTask(event.task, ownerOf, turn) };
  const { artifactUpdate, statusUpdate } = event;
  if (artifactUpdate !== undefined) {
    const artifact = await turnArtifact(artifactUpdate.artifact, ownerOf(artifactUpdate.contextId), turn);
    return { artifactUpdate: { ...artifactUpdate, artifact } };
  }
  if (statusUpdate === undefined) return event;
  return { statusUpdate: { ...statusUpdate, status: await turnStatus(statusUpdate.status, ownerOf(statusUpdate.contextId), turn) } };
}

async function turnTask(task: Task, ownerOf: OwnerOf, turn: Turned): Promise<Task> {
  const owner = ownerOf(task.contextId ?? '');
  const { artifacts, history } = task;
  return {
    ...task,
    status: await turnStatus(task.status, owner, turn),
    ...(artifacts === undefined ? {} : { artifacts: await Promise.all(artifacts.map((each) => turnArtifact(each, owner, turn))) }),
    ...(history === undefined ? {} : { history: await Promise.all(history.map((each) => turnMessage(each, owner, turn))) }),
  };
}

async function turnStatus(status: TaskStatus, owner: ArtifactOwner, turn: Turned): Promise<TaskStatus> {
  return status.message === undefined ? status : { ...status, message: await turnMessage(status.message, owner, turn) };
}

async function turnMessage(message: Message, owner: ArtifactOwner, turn: Turned): Promise<Message> {
  return { ...message, parts: await turn(owner, message.parts) };
}

async function turnArtifact(artifact: Artifact, owner: ArtifactOwner, turn: Turned): Promise<Artifact> {
  return { ...artifact, parts: await turn(owner, artifact.parts) };
}
