import type { AgentOutput, Artifact, Metadata, TaskStatus, Turn } from '#protocol';
import { isTerminal, TASK_STATES_BY_NUMBER } from '#protocol';
import { readArtifact, readMessage, readStatus, readStruct } from './from-sdk.ts';
import type { SdkArtifactUpdate, SdkEvent, SdkTask } from './sdk.ts';
import { writeArtifact } from './to-sdk.ts';

/**
 * The SDK's own queue stops at these states. AUTH_REQUIRED is not one of them: the executor may
 * continue when the credential arrives.
 */
export function isLastEvent(event: SdkEvent): boolean {
  if (event.kind === 'message') return true;
  if (event.kind === 'artifactUpdate') return false;
  const state = TASK_STATES_BY_NUMBER[event.data.status?.state ?? 0] ?? 'TASK_STATE_UNSPECIFIED';
  return isTerminal(state) || state === 'TASK_STATE_INPUT_REQUIRED';
}

/** Reads the events of one run of an executor as the outputs of an agent. */
export function createReader(turn: Turn): (event: SdkEvent) => readonly AgentOutput[] {
  const ids = { taskId: turn.task.id, contextId: turn.contextId };
  const statusOutput = (status: TaskStatus, metadata: Metadata | undefined): readonly AgentOutput[] => {
    // The engine has created the task before the executor runs, so a `submitted` status matters only if it has content.
    if (status.state === 'TASK_STATE_SUBMITTED') {
      if (status.message === undefined && metadata === undefined) return [];
      return statusOutput({ ...status, state: 'TASK_STATE_WORKING' }, metadata);
    }
    return [{ kind: 'event', event: { statusUpdate: { ...ids, status, ...(metadata === undefined ? {} : { metadata }) } } }];
  };
  const artifactOutput = (artifact: Artifact, update?: SdkArtifactUpdate): AgentOutput => {
    const metadata = readStruct(update?.metadata);
    return {
      kind: 'event',
      event: {
        artifactUpdate: {
          ...ids,
          artifact,
          ...(update?.append === true ? { append: true } : {}),
          ...(update?.lastChunk === true ? { lastChunk: true } : {}),
          ...(metadata === undefined ? {} : { metadata }),
        },
      },
    };
  };
  const taskOutputs = (task: SdkTask): readonly AgentOutput[] => {
    const known = new Set((turn.task.artifacts ?? []).map((artifact) => JSON.stringify(readArtifact(writeArtifact(artifact)))));
    const artifacts = (task.artifacts ?? []).map(readArtifact).filter((artifact) => !known.has(JSON.stringify(artifact)));
    const metadata = readStruct(task.metadata);
    const isNews = JSON.stringify(metadata) !== JSON.stringify(turn.task.metadata);
    return [
      ...artifacts.map((artifact) => artifactOutput(artifact)),
      ...statusOutput(readStatus(task.status), isNews ? metadata : undefined),
    ];
  };
  return (event) => {
    switch (event.kind) {
      case 'message':
        return [{ kind: 'message', message: readMessage(event.data) }];
      case 'task':
        return taskOutputs(event.data);
      case 'statusUpdate':
        return statusOutput(readStatus(event.data.status), readStruct(event.data.metadata));
      case 'artifactUpdate':
        return event.data.artifact === undefined ? [] : [artifactOutput(readArtifact(event.data.artifact), event.data)];
    }
  };
}
