/** What went wrong with a model. */
export type ModelProblem = 'key' | 'model' | 'rate' | 'length' | 'busy' | 'unreachable' | 'cut' | 'refused';

/** Details of a `ModelError`. */
export interface ModelErrorDetails extends ErrorOptions {
  readonly problem: ModelProblem;
  /** When the endpoint wants to be asked again, in milliseconds. */
  readonly retryAfterMs?: number;
}

/**
 * An answer that a model did not give. The message is for the caller: it says what to do, and has
 * neither the address nor the key. `cause` has the details for the log.
 */
export class ModelError extends Error {
  readonly problem: ModelProblem;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { problem, retryAfterMs, ...options }: ModelErrorDetails) {
    super(message, options);
    this.name = 'ModelError';
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A response of a model's endpoint that is no answer. */
export interface FailedResponse {
  readonly model: string;
  readonly status: number;
  readonly headers: Headers;
  /** The beginning of the body. */
  readonly body: string;
  /** The environment variable with the key, to be named if the key is wrong. */
  readonly keyName: string;
}

const TOO_LONG = /context[_ ]length|context window|maximum context|too many tokens|prompt is too long|too long|exceed.{0,40}tokens/i;
const NO_MODEL = /model.{0,60}(not found|does not exist|unknown|not_found)|not_found_error/i;

/** The error for a response, in plain words. */
export function errorOfResponse({ model, status, headers, body, keyName }: FailedResponse): ModelError {
  const cause = new Error(`HTTP ${status}: ${body.slice(0, 1000)}`);
  const failed = (problem: ModelProblem, message: string): ModelError => {
    const retryAfterMs = retryAfter(headers);
    return new ModelError(message, { problem, cause, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  };
  if (status === 401 || status === 403) return failed('key', `The model refuses the key (HTTP ${status}). Set ${keyName} to a valid one.`);
  if (status === 404 || NO_MODEL.test(body))
    return failed('model', `There is no model ${model} at this endpoint (HTTP ${status}). Check the model's name and the base URL.`);
  if (status === 413 || TOO_LONG.test(body)) return failed('length', tooLong(model));
  if (status === 429) return failed('rate', `The model's rate limit is reached.${againIn(headers)}`);
  if (status >= 500) return failed('busy', `The model is not available (HTTP ${status}).${againIn(headers)}`);
  return failed('refused', `The model refuses the request (HTTP ${status}).`);
}

/** The error for a conversation that a model can't take. */
export function tooLong(model: string): string {
  return `The conversation is too long for ${model}. Start a new one, or let the agent remember less (conversation.bytesMax).`;
}

/** The error for an endpoint that did not respond. */
export function unreachable(thrown: unknown): ModelError {
  const code = codeOf(thrown);
  return new ModelError(
    `The model can't be reached${code === undefined ? '' : ` (${code})`}. Is its server running, and is the base URL right?`,
    {
      problem: 'unreachable',
      cause: thrown,
    },
  );
}

/** The error for an answer that ended in the middle. */
export function cutOff(cause?: unknown): ModelError {
  return new ModelError("The model's answer was cut off. Send the message again.", { problem: 'cut', cause });
}

function codeOf(thrown: unknown): string | undefined {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** `retry-after` in seconds or as a date; OpenAI and Anthropic also send `retry-after-ms`. */
export function retryAfter(headers: Headers): number | undefined {
  const ms = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(ms)) return ms;
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const seconds = Number(text);
  const wait = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}

function againIn(headers: Headers): string {
  const ms = retryAfter(headers);
  return ms === undefined ? ' Try again later.' : ` Try again in ${Math.ceil(ms / 1000)} s.`;
}
