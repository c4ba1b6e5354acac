import { isA2AError } from '#protocol';

/** PromptKit's: three more times, half a second apart and twice as long each time, at most half a minute. */
export interface ToolRetry {
  readonly retriesMax: number;
  readonly firstMs: number;
  readonly pauseMsMax: number;
}

export const DEFAULT_TOOL_RETRY: ToolRetry = { retriesMax: 3, firstMs: 500, pauseMsMax: 30_000 };

/** The network, or HTTP 429, 502, 503, 504: the call was not carried out. Anything else would only be refused again. */
export function isRetryable(thrown: unknown): boolean {
  return isA2AError(thrown) && (thrown.kind === 'UNAVAILABLE' || thrown.kind === 'RATE_LIMITED');
}

/** How long to wait before the nth retry, from 1; what the agent asked for, if it asked. */
export function pauseBefore(retry: number, policy: ToolRetry, thrown: unknown): number {
  const asked = isA2AError(thrown) ? thrown.details.retryAfterMs : undefined;
  const grown = Math.min(policy.firstMs * 2 ** (retry - 1), policy.pauseMsMax);
  return Math.min(asked ?? grown * (0.5 + Math.random() / 2), policy.pauseMsMax);
}
