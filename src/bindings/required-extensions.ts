import { A2AError } from '#protocol';

/** What a caller requests, and what the agent's card requires. */
export interface ExtensionCheck {
  readonly required: readonly string[];
  readonly requested: readonly string[];
  /** The header or property in which the caller names extensions, for the error. */
  readonly header: string;
}

/** Rejects a call that does not request an extension which the agent requires (A2A 1.0.1 §3.3.4). */
export function requireExtensions({ required, requested, header }: ExtensionCheck): void {
  const missing = required.filter((uri) => !requested.includes(uri));
  if (missing.length === 0) return;
  throw new A2AError('EXTENSION_SUPPORT_REQUIRED', `the agent requires ${missing.join(', ')}: name it in ${header}`);
}
