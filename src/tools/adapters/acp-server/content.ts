import type { ContentBlock } from '@agentclientprotocol/sdk';
import type { Part } from '#protocol';

/** Reads a file of the editor by its absolute path. Undefined: the editor does not offer that. */
export type ReadEditorFile = ((path: string) => Promise<string>) | undefined;

/** The parts of a prompt. A link to a local file becomes its content, because the agent may run elsewhere. */
export async function partsOfPrompt(blocks: readonly ContentBlock[], readFile: ReadEditorFile): Promise<readonly Part[]> {
  return await Promise.all(blocks.map((block) => partOf(block, readFile)));
}

async function partOf(block: ContentBlock, readFile: ReadEditorFile): Promise<Part> {
  switch (block.type) {
    case 'text':
      return { text: block.text };
    case 'image':
    case 'audio':
      return { raw: block.data, mediaType: block.mimeType };
    case 'resource': {
      const { resource } = block;
      const about = { filename: nameOf(resource.uri), ...(typeof resource.mimeType === 'string' ? { mediaType: resource.mimeType } : {}) };
      return 'text' in resource ? { text: resource.text, ...about } : { raw: resource.blob, ...about };
    }
    case 'resource_link': {
      const { uri, mimeType } = block;
      if (/^https?:/.test(uri)) return { url: uri, filename: block.name, ...(typeof mimeType === 'string' ? { mediaType: mimeType } : {}) };
      const text = await localText(uri, readFile);
      return text === undefined ? { text: uri } : { text, filename: nameOf(uri) };
    }
  }
}

/** The text of a local file. Undefined: it can't be read, so the agent gets its address only. */
async function localText(uri: string, readFile: ReadEditorFile): Promise<string | undefined> {
  if (readFile === undefined || !uri.startsWith('file://') || !URL.canParse(uri)) return undefined;
  try {
    return await readFile(decoded(new URL(uri).pathname));
  } catch {
    return undefined;
  }
}

function nameOf(uri: string): string {
  const path = URL.canParse(uri) ? decoded(new URL(uri).pathname) : uri;
  return path.slice(path.lastIndexOf('/') + 1) || path;
}

/** A name with a plain `%` is no valid encoding, and stays as it is. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** A part of the agent as content that editors show. */
export function blockOf(part: Part): ContentBlock {
  const { text, raw, url, data, mediaType = 'application/octet-stream', filename } = part;
  if (text !== undefined) return { type: 'text', text };
  if (data !== undefined) return { type: 'text', text: `\n\`\`\`json\n${JSON.stringify(data, undefined, 2)}\n\`\`\`\n` };
  if (url !== undefined) return { type: 'resource_link', uri: url, name: filename ?? url, mimeType: mediaType };
  if (mediaType.startsWith('image/')) return { type: 'image', data: raw ?? '', mimeType: mediaType };
  if (mediaType.startsWith('audio/')) return { type: 'audio', data: raw ?? '', mimeType: mediaType };
  return { type: 'resource', resource: { uri: `artifact:///${filename ?? 'file'}`, blob: raw ?? '', mimeType: mediaType } };
}
