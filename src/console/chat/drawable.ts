import type { A2uiVersion, AgentCard, JsonObject } from '#protocol';
import { A2UI_CATALOG, A2UI_VERSIONS, a2uiUri } from '#protocol';

/** What tells an agent that this page draws surfaces: the newest version of A2UI that its card names. */
export function drawableBy(card: AgentCard | undefined): { readonly uri: string; readonly metadata: JsonObject } | undefined {
  const uris = new Set((card?.capabilities.extensions ?? []).map(({ uri }) => uri));
  const version: A2uiVersion | undefined = A2UI_VERSIONS.find((each) => uris.has(a2uiUri(each)));
  if (version === undefined) return undefined;
  const metadata = { a2uiClientCapabilities: { [version]: { supportedCatalogIds: [A2UI_CATALOG] } } };
  return { uri: a2uiUri(version), metadata };
}
