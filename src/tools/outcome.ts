import type { ContextId, Json, JsonObject, Message, Part, Task, TaskEvent, TaskId, TaskState } from '#protocol';
import { contextId, createTaskStatus, getTextFromMessage, isFilePart, isInterrupted, isTextPart, startFold, taskId } from '#protocol';

/** The result of a tool call. */
export interface ToolOutcome {
  /** The task is completed, or the agent responded without a task. */
  readonly ok: boolean;
  /**
   * The agent asks a question or needs a credential, as `text` says. Answer with a call that has this
   * `taskId`.
   */
  readonly isWaiting: boolean;
  /** State of the task, or `message` if the agent answered without a task. */
  readonly state: TaskState | 'message';
  /** The text of the artifacts, or the last status message. */
  readonly text: string;
  /** Parts of all artifacts, or of the message. */
  readonly parts: readonly Part[];
  /** Pass it in the next call to answer a question. */
  readonly taskId?: TaskId;
  /** Pass it in the next call to continue the conversation. */
  readonly contextId?: ContextId;
}

/** Collects the events of one call. */
export interface OutcomeCollector {
  /** Returns the event's text for progress displays, if it has one. */
  add(event: TaskEvent): string | undefined;
  outcome(): ToolOutcome;
  readonly task: TaskId | undefined;
}

/** Starts collecting the events of a call. */
export function collectOutcome(): OutcomeCollector {
  const fold = startFold();
  let task: TaskId | undefined;
  let direct: Message | undefined;
  return {
    add: (event) => {
      if (event.message !== undefined) {
        direct = event.message;
        return undefined;
      }
      if (task === undefined && event.task === undefined) fold.add({ task: announced(event) });
      task = event.task?.id ?? task ?? taskId('');
      fold.add(event);
      return noteIn(event);
    },
    outcome: () => (direct === undefined ? ofTask(fold.task()) : ofMessage(direct)),
    get task() {
      return task === '' ? undefined : task;
    },
  };
}

/** Streams of A2A 0.x may begin without the task. */
function announced({ statusUpdate, artifactUpdate }: TaskEvent): Task {
  const update = statusUpdate ?? artifactUpdate;
  return {
    id: update?.taskId ?? taskId(''),
    contextId: update?.contextId ?? contextId(''),
    status: createTaskStatus('TASK_STATE_WORKING'),
  };
}

function noteIn({ statusUpdate, artifactUpdate }: TaskEvent): string | undefined {
  const said = statusUpdate?.status.message;
  if (said !== undefined) return getTextFromMessage(said) || undefined;
  return artifactUpdate === undefined ? undefined : textOf(artifactUpdate.artifact.parts) || undefined;
}

function ofMessage(message: Message): ToolOutcome {
  const { parts, contextId: context } = message;
  return {
    ...{ ok: true, isWaiting: false, state: 'message', text: getTextFromMessage(message), parts },
    ...(context === undefined ? {} : { contextId: context }),
  };
}

/** The outcome of a task. A question of the agent is the text, for the model to answer. */
function ofTask({ id, contextId: context, status, artifacts = [] }: Task): ToolOutcome {
  const { state, message } = status;
  const isWaiting = isInterrupted(state);
  const made = artifacts.map(({ parts }) => textOf(parts)).filter((text) => text !== '');
  const said = message === undefined ? '' : getTextFromMessage(message);
  const isDone = state === 'TASK_STATE_COMPLETED';
  const words = isDone ? made.join('\n') || said : said || made.join('\n');
  return {
    ok: isDone,
    isWaiting,
    state,
    text: words || `Task ${id}: ${state.slice('TASK_STATE_'.length).toLowerCase().replaceAll('_', '-')}`,
    parts: [...artifacts.flatMap(({ parts }) => parts), ...(made.length > 0 || message === undefined ? [] : message.parts)],
    ...(id === '' ? {} : { taskId: id }),
    ...(context === undefined || context === '' ? {} : { contextId: context }),
  };
}

/** Joins the chunks of an artifact. */
function textOf(parts: readonly Part[]): string {
  return parts
    .filter(isTextPart)
    .map(({ text }) => text)
    .join('');
}

/** The result as JSON for a model: PromptKit's fields, and the ids to continue with. */
export function outcomeJson(outcome: ToolOutcome): JsonObject {
  const file = outcome.parts.find(isFilePart);
  const data = outcome.parts.flatMap((part): Json[] => (part.data === undefined ? [] : [part.data]));
  return {
    response: outcome.text,
    state: outcome.state === 'message' ? 'completed' : outcome.state.slice('TASK_STATE_'.length).toLowerCase().replaceAll('_', '-'),
    ...(outcome.isWaiting && outcome.taskId !== undefined ? { taskId: outcome.taskId } : {}),
    ...(outcome.contextId === undefined ? {} : { contextId: outcome.contextId }),
    ...(file?.url === undefined ? {} : { media_url: file.url }),
    ...(file?.mediaType === undefined ? {} : { media_type: file.mediaType }),
    ...(data.length === 0 ? {} : { data: data.length === 1 ? (data[0] ?? null) : data }),
  };
}
