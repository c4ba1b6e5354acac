import type { JsonObject, LlmContent } from '#protocol';

/**
 * A chat model: `openAiModel`, `anthropicModel` and `aiSdkModel` make one, or write your own.
 */
export interface ChatModel {
  /** For people and for the task's metadata, for example `llama3.2`. */
  readonly name: string;
  /** Streams one answer. Throws a `ModelError`. Aborting the signal stops the request. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk>;
}

/** One question to a model. */
export interface ModelRequest {
  /** Instructions that come before the conversation. */
  readonly system?: string;
  /** The conversation, oldest first. */
  readonly messages: readonly ModelMessage[];
  /** Tools that the model may call. */
  readonly tools: readonly ModelTool[];
}

/** A message of the conversation in the form that models take. */
export type ModelMessage =
  | { readonly role: 'user'; readonly content: readonly LlmContent[] }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ModelCall[] }
  | { readonly role: 'tool'; readonly call: ModelCall; readonly text: string; readonly isError: boolean };

/** What a model knows of a tool. */
export interface ModelTool {
  /** At most 64 letters, digits, `_` and `-`, the limit of the model APIs. */
  readonly name: string;
  /** What it does. The model chooses by it. */
  readonly description: string;
  /** JSON Schema of its input. */
  readonly inputSchema: JsonObject;
}

/** A model's wish to call a tool. */
export interface ModelCall {
  /** Chosen by the model's API. The result repeats it. */
  readonly id: string;
  readonly name: string;
  /** The input as JSON text, as the model wrote it: it may be invalid. */
  readonly input: string;
}

/** A piece of a model's answer. */
export type ModelChunk =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly call: ModelCall }
  | { readonly kind: 'usage'; readonly inputTokens: number; readonly outputTokens: number }
  /** The answer is complete. A stream that ends without it was cut. */
  | { readonly kind: 'end'; readonly reason: 'stop' | 'tools' | 'length' | 'filter' };
