import type { ContentBlock } from '@modelcontextprotocol/client';
import type { JsonObject, Part } from '#protocol';
import type { ToolOutcome } from '../../outcome.ts';

/** An agent's result as MCP content. Typed data comes first: many hosts show or read only the first block. */
export function contentOf({ text, parts, isWaiting, taskId }: ToolOutcome): ContentBlock[] {
  const data = parts.filter((part) => part.data !== undefined);
  const files = parts.filter((part) => part.text === undefined && part.data === undefined);
  const hint = isWaiting && taskId !== undefined ? [`To answer, call this tool again with taskId ${JSON.stringify(taskId)}.`] : [];
  const said = [text, ...hint].filter((words) => words !== '').join('\n\n');
  // A question is for the host, so its data, the options, come after it.
  const words: ContentBlock[] = said === '' && data.length > 0 ? [] : [{ type: 'text', text: said }];
  const typed = data.map(blockOf);
  return [...(isWaiting ? [...words, ...typed] : [...typed, ...words]), ...files.map(blockOf)];
}

/** A part in MCP's form. */
function blockOf({ raw, url, data, mediaType, filename }: Part): ContentBlock {
  if (data !== undefined) return { type: 'text', text: JSON.stringify(data) };
  const mimeType = mediaType ?? 'application/octet-stream';
  if (url !== undefined) return { type: 'resource_link', uri: url, name: filename ?? url, mimeType };
  const bytes = raw ?? '';
  if (mimeType.startsWith('image/')) return { type: 'image', data: bytes, mimeType };
  if (mimeType.startsWith('audio/')) return { type: 'audio', data: bytes, mimeType };
  return { type: 'resource', resource: { uri: `file:///${encodeURIComponent(filename ?? 'file')}`, mimeType, blob: bytes } };
}

/** An MCP tool's result as parts. */
export function partsOf(content: readonly ContentBlock[], structured: JsonObject | undefined): readonly Part[] {
  const parts = content.map(partOf);
  if (structured === undefined) return parts;
  // A result with structured content also has it as text, for older hosts (MCP 2025-06-18, tools). That copy is dropped.
  const same = JSON.stringify(structured);
  return [{ data: structured }, ...parts.filter(({ text }) => text === undefined || compact(text) !== same)];
}

/** A content block of MCP as a part. */
function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return { text: block.text };
    case 'image':
    case 'audio':
      return { raw: block.data, mediaType: block.mimeType };
    case 'resource_link':
      return { url: block.uri, filename: block.name, ...(block.mimeType === undefined ? {} : { mediaType: block.mimeType }) };
    case 'resource':
      return resourcePart(block.resource);
  }
}

function resourcePart(resource: Extract<ContentBlock, { type: 'resource' }>['resource']): Part {
  const about = {
    filename: nameOf(resource.uri),
    ...(resource.mimeType === undefined ? {} : { mediaType: resource.mimeType }),
  };
  return 'text' in resource ? { text: resource.text, ...about } : { raw: resource.blob, ...about };
}

function nameOf(uri: string): string {
  const last = uri.split(/[?#]/)[0]?.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last) || uri;
  } catch {
    return last;
  }
}

function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
