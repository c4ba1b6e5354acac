import type { A2uiVersion, AgentOutput, Json, JsonObject, Message } from '#protocol';
import { A2UI_CATALOG, a2uiParts, a2uiVersionOf, jsonOf } from '#protocol';
import type { SurfaceDefinition, SurfaceOutput } from './definition.ts';
import { legacyMessages } from './legacy.ts';
import { surfaceText } from './text.ts';

/**
 * A user interface for clients that have A2UI, and text for all others.
 *
 * ```ts
 * yield surface({
 *   id: 'booking',
 *   components: {
 *     root: { component: 'Column', children: ['name', 'go'] },
 *     name: { component: 'TextField', label: 'Name', value: { path: '/name' } },
 *     go: { component: 'Button', child: 'label', action: { event: { name: 'book', context: { who: { path: '/name' } } } } },
 *     label: { component: 'Text', text: 'Book' },
 *   },
 *   data: { name: 'Ada' },
 * });
 * ```
 */
export function surface(definition: SurfaceDefinition): SurfaceOutput {
  return { kind: 'surface', isUpdate: false, ...definition };
}

/** Changes a surface that is shown already. */
export function updateSurface(definition: SurfaceDefinition): SurfaceOutput {
  return { kind: 'surface', isUpdate: true, ...definition };
}

export function isSurface(value: unknown): value is SurfaceOutput {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'surface';
}

/** The output for the caller of a turn: an artifact with A2UI messages, or text. */
export function surfaceOutput(output: SurfaceOutput, message: Message): AgentOutput {
  const version = a2uiVersionOf(message);
  const id = `surface-${output.id}`;
  if (version === undefined) return { kind: 'artifact', id, name: output.id, parts: [{ text: surfaceText(output) }] };
  return { kind: 'artifact', id, name: output.id, parts: a2uiParts(messagesOf(output, version), version) };
}

function messagesOf(output: SurfaceOutput, version: A2uiVersion): readonly JsonObject[] {
  if (version === 'v0.8') return legacyMessages(output);
  const { id: surfaceId, components, data, sendDataModel = false, isUpdate } = output;
  const made: JsonObject[] = [];
  if (!isUpdate) {
    const createSurface = { surfaceId, catalogId: A2UI_CATALOG, ...(sendDataModel ? { sendDataModel } : {}) };
    made.push({ version, createSurface });
  }
  if (components !== undefined) {
    const list = Object.entries(components).map(([id, component]): Json => ({ id, ...jsonOf(component) }));
    made.push({ version, updateComponents: { surfaceId, components: list } });
  }
  if (data !== undefined) made.push({ version, updateDataModel: { surfaceId, path: '/', value: data } });
  return made;
}
