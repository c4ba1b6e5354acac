import type { AgentExtension } from './card.ts';
import type { Json, JsonObject } from './json.ts';
import { isObject } from './json.ts';
import type { Message } from './message.ts';
import type { Part } from './parts.ts';

/** The versions of A2UI that agents can write, newest first. */
export const A2UI_VERSIONS = ['v0.9.1', 'v0.9', 'v0.8'] as const;
/** A version of A2UI. */
export type A2uiVersion = (typeof A2UI_VERSIONS)[number];

const BASE = 'https://a2ui.org/a2a-extension/a2ui/';
/** The basic catalog. 0.9.1 uses the id of 0.9. */
export const A2UI_CATALOG = 'https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json';
const A2UI_CATALOG_08 = 'https://a2ui.org/specification/v0_8/standard_catalog_definition.json';

/** How 0.8 calls the components of 0.9, where that differs. */
export const A2UI_08_COMPONENTS: Readonly<Record<string, string>> = { ChoicePicker: 'MultipleChoice' };

/** How 0.8 calls the members of a component of 0.9, where that differs. */
export const A2UI_08_MEMBERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Text: { variant: 'usageHint' },
  Image: { variant: 'usageHint' },
  Row: { justify: 'distribution', align: 'alignment' },
  Column: { justify: 'distribution', align: 'alignment' },
  List: { align: 'alignment' },
  Tabs: { tabs: 'tabItems' },
  Modal: { trigger: 'entryPointChild', content: 'contentChild' },
  TextField: { value: 'text', variant: 'textFieldType' },
  ChoicePicker: { value: 'selections', displayStyle: 'type' },
  Slider: { min: 'minValue', max: 'maxValue' },
};

export function a2uiUri(version: A2uiVersion): string {
  return `${BASE}${version}`;
}

/** The media type of a part with A2UI messages. It changed with 0.9.1. */
export function a2uiMediaType(version: A2uiVersion): string {
  return version === 'v0.9.1' ? 'application/a2ui+json' : 'application/json+a2ui';
}

const MEDIA_TYPES: ReadonlySet<unknown> = new Set(['application/a2ui+json', 'application/json+a2ui']);

/** The extensions that the card of an agent with surfaces declares. */
export function a2uiExtensions(): readonly AgentExtension[] {
  return A2UI_VERSIONS.map((version) => ({
    uri: a2uiUri(version),
    description: `Shows A2UI ${version.slice(1)} surfaces to clients that activate this extension, and text to others.`,
    required: false,
    params: { supportedCatalogIds: [version === 'v0.8' ? A2UI_CATALOG_08 : A2UI_CATALOG], acceptsInlineCatalogs: false },
  }));
}

/** The newest version that the sender of a message can draw. Undefined: it wants text. */
export function a2uiVersionOf({ extensions = [], metadata }: Message): A2uiVersion | undefined {
  const capabilities = metadata?.['a2uiClientCapabilities'];
  const names = isObject(capabilities) ? Object.keys(capabilities) : [];
  return A2UI_VERSIONS.find((version) => extensions.includes(a2uiUri(version)) || names.includes(version));
}

/** The A2UI messages of a part: one object, or a list. Empty: the part has none. */
export function a2uiMessagesIn({ data, mediaType, metadata }: Part): readonly JsonObject[] {
  if (data === undefined || !(MEDIA_TYPES.has(mediaType) || MEDIA_TYPES.has(metadata?.['mimeType']))) return [];
  const list: readonly Json[] = Array.isArray(data) ? data : [data];
  return list.filter((message) => isObject(message));
}

/** A user's action on a surface. */
export interface SurfaceAction {
  /** The name that the agent gave the action. */
  readonly name: string;
  readonly surfaceId: string;
  /** The component that the user used. */
  readonly sourceComponentId?: string;
  /** The values that the agent asked for with the action. */
  readonly context: JsonObject;
}

/** The action in a message: `action` of 0.9, or `userAction` of 0.8. */
export function surfaceActionIn({ parts }: Message): SurfaceAction | undefined {
  for (const part of parts) {
    for (const message of a2uiMessagesIn(part)) {
      const action = message['action'] ?? message['userAction'];
      if (!isObject(action)) continue;
      const { name, surfaceId, sourceComponentId, context } = action;
      if (typeof name !== 'string' || typeof surfaceId !== 'string') continue;
      return {
        ...{ name, surfaceId, context: isObject(context) ? context : {} },
        ...(typeof sourceComponentId === 'string' ? { sourceComponentId } : {}),
      };
    }
  }
  return undefined;
}

/** A part with A2UI messages, for a version. 0.8 has one message in each part. */
export function a2uiParts(messages: readonly JsonObject[], version: A2uiVersion): readonly Part[] {
  const mediaType = a2uiMediaType(version);
  const about = { mediaType, metadata: { mimeType: mediaType } };
  return version === 'v0.8' ? messages.map((data) => ({ data, ...about })) : [{ data: messages, ...about }];
}
