import type { AgentCapabilities, ContentBlock } from '@agentclientprotocol/sdk';
import type { Part } from '#protocol';
import { isTextPart } from '#protocol';
import type { Job } from '../run/driver.ts';

/**
 * The message as content blocks that the agent supports. Other content is given as a link or by its
 * name, so nothing is dropped silently.
 */
export function contentOf({ message, prompt }: Job, capabilities: AgentCapabilities | undefined): ContentBlock[] {
  const rest = message.parts.filter((part) => !isTextPart(part)).map((part) => blockOf(part, capabilities));
  return [...(prompt === '' ? [] : [{ type: 'text' as const, text: prompt }]), ...rest];
}

/** One part in the best form that the agent supports. */
function blockOf(part: Part, capabilities: AgentCapabilities | undefined): ContentBlock {
  if (part.data !== undefined) return { type: 'text', text: JSON.stringify(part.data, null, 2) };
  const { mediaType: mimeType = 'application/octet-stream', filename: name = 'file' } = part;
  if (part.url !== undefined) return { type: 'resource_link', uri: part.url, name, mimeType };
  const data = part.raw ?? '';
  const { image = false, audio = false, embeddedContext = false } = capabilities?.promptCapabilities ?? {};
  if (image && mimeType.startsWith('image/')) return { type: 'image', data, mimeType };
  if (audio && mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType };
  if (isText(mimeType)) {
    const text = Buffer.from(data, 'base64').toString('utf8');
    return embeddedContext
      ? { type: 'resource', resource: { uri: `attachment:${name}`, mimeType, text } }
      : { type: 'text', text: `${name}:\n${text}` };
  }
  if (embeddedContext) return { type: 'resource', resource: { uri: `attachment:${name}`, mimeType, blob: data } };
  return { type: 'text', text: `[${name}, ${mimeType}, could not be passed on: this agent does not take such files]` };
}

function isText(mimeType: string): boolean {
  return mimeType.startsWith('text/') || /[/+](?:json|xml|yaml|toml)$/.test(mimeType);
}
