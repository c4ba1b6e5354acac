import type { Agent, AgentOutput, Artifact, Message, MessageOptions, Part, Turn } from '#protocol';
import { artifactId, contextId, createTaskStatus, createUserMessage, getTextFromMessage, LOCAL_PRINCIPAL, taskId } from '#protocol';

export interface FakeTurn extends MessageOptions {
  readonly history?: readonly Message[];
  readonly artifacts?: readonly Artifact[];
  readonly opened?: unknown;
  readonly attempt?: number;
  readonly signal?: AbortSignal;
  readonly taskMetadata?: Message['metadata'];
  /** The caller's answer to each question of the run. */
  readonly answers?: readonly string[];
}

/** A turn without an engine, for tests of an agent's outputs. */
export function fakeTurn(content: string | readonly Part[], options: FakeTurn = {}): Turn & { readonly asked: readonly Message[] } {
  const message = createUserMessage(content, options);
  const history = options.history ?? [];
  const asked: Message[] = [];
  const answers = [...(options.answers ?? [])];
  return {
    message,
    task: {
      id: taskId('task-1'),
      contextId: contextId('context-1'),
      status: createTaskStatus('TASK_STATE_WORKING'),
      history: [...history, message],
      ...(options.artifacts === undefined ? {} : { artifacts: options.artifacts }),
      ...(options.taskMetadata === undefined ? {} : { metadata: options.taskMetadata }),
    },
    contextId: contextId('context-1'),
    history,
    principal: LOCAL_PRINCIPAL,
    opened: options.opened,
    acceptedOutputModes: [],
    attempt: options.attempt ?? 1,
    signal: options.signal ?? new AbortController().signal,
    asked,
    durable: async () => {},
    hasNext: () => false,
    before: async () => undefined,
    conversation: async () => ({ messages: history }),
    ask: async (question) => {
      asked.push(question);
      return createUserMessage(answers.shift() ?? '');
    },
  };
}

export async function outputs(agent: Agent, turn: Turn): Promise<readonly AgentOutput[]> {
  const all: AgentOutput[] = [];
  for await (const output of agent.run(turn)) all.push(output);
  return all;
}

/** An output in short: `text hello`, `reject no`, `artifact [...]`. */
export function inShort(output: AgentOutput): string {
  switch (output.kind) {
    case 'text':
      return `text ${output.text}`;
    case 'artifact':
      return `artifact ${JSON.stringify(output.parts)}`;
    case 'data':
      return `data ${JSON.stringify(output.data)}`;
    case 'ask':
      return said('ask', output.question);
    case 'auth':
      return said('auth', output.request);
    case 'fail':
    case 'reject':
      return said(output.kind, output.reason);
    case 'event':
      return `event ${Object.keys(output.event)[0]}`;
    case 'status':
    case 'complete':
    case 'message':
      return said(output.kind, output.message);
  }
}

function said(kind: string, message: Message | undefined): string {
  return message === undefined ? kind : `${kind} ${getTextFromMessage(message)}`;
}

export const chunksArtifact = (id: string, texts: readonly string[]): Artifact => ({
  artifactId: artifactId(id),
  parts: texts.map((text) => ({ text })),
});
