import type { JsonObject, Part } from '#protocol';
import { a2uiMessagesIn, isObject } from '#protocol';
import type { AgUiEvent } from './event.ts';
import { agUiEvent } from './event.ts';

/** Something that front ends show beside the text. A later one with the same id replaces it. */
export function activityEvent(messageId: string, activityType: string, content: JsonObject): AgUiEvent {
  return agUiEvent('ACTIVITY_SNAPSHOT', { messageId, activityType, content, replace: true });
}

/** One activity for each surface, under a stable id, as CopilotKit draws it. */
export function surfaceEvents(parts: readonly Part[]): readonly AgUiEvent[] {
  const bySurface = new Map<string, JsonObject[]>();
  for (const message of parts.flatMap(a2uiMessagesIn)) {
    const body = Object.values(message).find((member) => isObject(member) && typeof member['surfaceId'] === 'string');
    const id = isObject(body) ? String(body['surfaceId']) : '';
    bySurface.set(id, [...(bySurface.get(id) ?? []), message]);
  }
  return [...bySurface].map(([id, operations]) => activityEvent(`a2ui-surface-${id}`, 'a2ui-surface', { a2ui_operations: operations }));
}

/** The parts that are no surfaces. */
export function withoutSurfaces(parts: readonly Part[]): readonly Part[] {
  return parts.filter((part) => a2uiMessagesIn(part).length === 0);
}
