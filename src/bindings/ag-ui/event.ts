import type { Frame, Json, JsonObject } from '#protocol';
import { jsonText } from '#protocol';

/** The events of AG-UI 1.0 that this endpoint writes. Clients before 1.0 reject a run with any other. */
export type AgUiEventType =
  | 'RUN_STARTED'
  | 'RUN_FINISHED'
  | 'RUN_ERROR'
  | 'TEXT_MESSAGE_START'
  | 'TEXT_MESSAGE_CONTENT'
  | 'TEXT_MESSAGE_END'
  | 'TOOL_CALL_START'
  | 'TOOL_CALL_ARGS'
  | 'TOOL_CALL_END'
  | 'TOOL_CALL_RESULT'
  | 'STATE_SNAPSHOT'
  | 'STATE_DELTA'
  | 'MESSAGES_SNAPSHOT'
  | 'ACTIVITY_SNAPSHOT'
  | 'REASONING_START'
  | 'REASONING_MESSAGE_START'
  | 'REASONING_MESSAGE_CONTENT'
  | 'REASONING_MESSAGE_END'
  | 'REASONING_END'
  | 'SUBAGENT_STARTED'
  | 'SUBAGENT_FINISHED'
  | 'SUBAGENT_ERROR'
  | 'CUSTOM';

/** One event. */
export type AgUiEvent = JsonObject & { readonly type: AgUiEventType };

/** Makes an event. Absent members are left out: clients reject `null`. */
export function agUiEvent(type: AgUiEventType, members: Readonly<Record<string, Json | undefined>> = {}): AgUiEvent {
  const made: Record<string, Json> & { type: AgUiEventType } = { type };
  for (const [name, value] of Object.entries(members)) if (value !== undefined) made[name] = value;
  return made;
}

/** The frame of an event. Its lines end in LF; clients fail on CRLF. */
export function agUiFrame(event: AgUiEvent): Frame {
  return { data: jsonText(event) };
}
