import { requireExtensions } from '#bindings';
import type { AgentCard, Message } from '#protocol';

/** The header of A2A 1.0 in which a caller names extensions. On a broker it is a user property. */
export const EXTENSIONS = 'A2A-Extensions';

/** The extensions that the properties of a request name. */
export function extensionsIn(properties: Readonly<Record<string, string>>): readonly string[] {
  const text = properties[EXTENSIONS] ?? properties[EXTENSIONS.toLowerCase()] ?? '';
  return [...new Set(text.split(',').map((uri) => uri.trim()))].filter((uri) => uri !== '');
}

/** The property that names extensions. Empty if there are none. */
export function writeExtensions(extensions: readonly string[]): Readonly<Record<string, string>> {
  return extensions.length === 0 ? {} : { [EXTENSIONS]: extensions.join(',') };
}

/** Rejects a request that names an extension neither in its properties nor in its message, if the card requires it. */
export function checkExtensions({ capabilities }: AgentCard, requested: readonly string[], message?: Message): void {
  const required = (capabilities.extensions ?? []).filter((extension) => extension.required === true).map(({ uri }) => uri);
  requireExtensions({ required, requested: [...requested, ...(message?.extensions ?? [])], header: EXTENSIONS });
}
