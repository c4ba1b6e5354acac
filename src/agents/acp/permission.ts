import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import type { RunEvent } from '../run/events.ts';
import type { KnownCall } from './updates.ts';
import { knownCall } from './updates.ts';

interface Asked {
  readonly event: RunEvent;
  readonly outcome: Promise<RequestPermissionResponse>;
}

interface AskedWith {
  readonly calls: ReadonlyMap<string, KnownCall>;
  /** Fires when the agent withdraws its request. */
  readonly signal: AbortSignal;
}

/** `session/request_permission`, as an event that waits for an answer. */
export function permissionEvent({ toolCall, options }: RequestPermissionRequest, { calls, signal }: AskedWith): Asked {
  const { tool, title, toolKind, input, paths } = knownCall(toolCall, calls.get(toolCall.toolCallId));
  const { promise, resolve } = Promise.withResolvers<RequestPermissionResponse>();
  const event: RunEvent = {
    kind: 'approval',
    approval: {
      ...{ id: toolCall.toolCallId, tool, title, toolKind, paths, withdrawn: signal },
      ...(input === undefined ? {} : { input }),
      options: options.map(({ optionId, name, kind }) => ({ optionId, name, kind })),
      answer: (optionId) => resolve({ outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } }),
    },
  };
  return { event, outcome: promise };
}
