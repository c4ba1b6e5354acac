import type { Frame, Json, JsonObject, StreamWriter } from '#protocol';
import { type A2AError, ERRORS, jsonText } from '#protocol';
import type { ChatReply, ReplyPiece } from './reply.ts';

/** Members that every chunk of one answer has. */
export interface Heading {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** Zeros, because agents do not report token counts, and some clients require the member. */
const USAGE: JsonObject = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** The response of a request without streaming. */
export function completion(heading: Heading, reply: ChatReply): JsonObject {
  return {
    ...{ id: heading.id, object: 'chat.completion', created: heading.created, model: heading.model },
    choices: [{ index: 0, message: { role: 'assistant', content: reply.text, refusal: null }, logprobs: null, finish_reason: 'stop' }],
    usage: USAGE,
    a2a: origin(reply),
  };
}

/** The A2A ids behind the answer, for debugging. */
function origin({ taskId, contextId, state }: ChatReply): JsonObject {
  return {
    ...(taskId === undefined ? {} : { taskId }),
    ...(contextId === undefined ? {} : { contextId }),
    ...(state === undefined ? {} : { state }),
  };
}

/** Options of `chunkWriter`. */
export interface ChunkOptions {
  readonly includeUsage: boolean;
  /** Called when the answer is complete. */
  readonly onEnd: () => void;
}

/**
 * Writes the chunks of a streamed answer. Progress notes go into `reasoning_content`, which clients
 * display separately or not at all.
 */
export function chunkWriter(heading: Heading, reply: ChatReply, { includeUsage, onEnd }: ChunkOptions): StreamWriter {
  let hasBegun = false;
  const chunk = (delta: JsonObject, more: JsonObject = {}): Frame => ({
    data: jsonText({
      ...{ id: heading.id, object: 'chat.completion.chunk', created: heading.created, model: heading.model },
      choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...more }],
      ...(includeUsage ? { usage: null } : {}),
    }),
  });
  const begin = (): readonly Frame[] => {
    if (hasBegun) return [];
    hasBegun = true;
    return [chunk({ role: 'assistant', content: '' })];
  };
  return {
    frames: (batch) => {
      const spoken = batch.flatMap(({ event }) => reply.add(event));
      return [...begin(), ...spoken.map((each) => chunk(deltaOf(each)))];
    },
    end: () => {
      onEnd();
      if (reply.failure !== undefined) return [...begin(), errorFrame(reply.failure), DONE];
      const usage: Json = { ...heading, object: 'chat.completion.chunk', choices: [], usage: USAGE };
      return [...begin(), chunk({}, { finish_reason: 'stop' }), ...(includeUsage ? [{ data: JSON.stringify(usage) }] : []), DONE];
    },
  };
}

const DONE: Frame = { data: '[DONE]' };

function deltaOf({ kind, text }: ReplyPiece): JsonObject {
  return kind === 'text' ? { content: text } : { reasoning_content: text };
}

export function errorFrame(error: A2AError): Frame {
  return { data: JSON.stringify(errorBody(error)) };
}

/** An error in the form that OpenAI's clients read. */
export function errorBody(error: A2AError): JsonObject {
  const { http } = ERRORS[error.kind];
  return {
    error: {
      message: error.message,
      type: TYPES[http] ?? 'server_error',
      param: error.details.field ?? null,
      code: error.details.info?.['openai'] ?? CODES[error.kind] ?? error.kind.toLowerCase(),
    },
  };
}

export function errorStatus({ kind }: A2AError): number {
  return ERRORS[kind].http;
}

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'invalid_request_error',
  405: 'invalid_request_error',
  413: 'invalid_request_error',
  415: 'invalid_request_error',
  429: 'rate_limit_error',
};

const CODES: Readonly<Partial<Record<A2AError['kind'], string>>> = {
  UNAUTHENTICATED: 'invalid_api_key',
  RATE_LIMITED: 'rate_limit_exceeded',
  METHOD_NOT_FOUND: 'model_not_found',
  INVALID_AGENT_RESPONSE: 'task_failed',
};

/** The same form for a request that the server rejects before it reaches an agent. */
export function refusalBody(status: number, message: string): JsonObject {
  return { error: { message, type: TYPES[status] ?? 'server_error', param: null, code: status === 401 ? 'invalid_api_key' : null } };
}
