import type { AgentSkill, JsonObject, Message, Metadata, Mutable, Part, SendRequest } from '#protocol';
import { A2AError, contextId, createUserMessage, taskId } from '#protocol';

/** What a call is for. */
export interface ToolInvocation {
  /** The skill to call. Absent when the whole agent is one tool. */
  readonly skill: AgentSkill | undefined;
  /** The skill publishes a schema, so the arguments are sent as data. */
  readonly takesData: boolean;
}

/** The argument with the message's text, as each naming scheme calls it. */
const WORDS = ['query', 'message', 'task_description'] as const;
const KNOWN: ReadonlySet<string> = new Set([...WORDS, 'contextId', 'taskId', 'image_url', 'image_data', 'audio_data']);

/**
 * Converts the arguments of a call to a message. Unknown arguments become metadata, as in PromptKit.
 */
export function requestOf(args: JsonObject, { skill, takesData }: ToolInvocation): SendRequest {
  const message: Mutable<Message> = createUserMessage(takesData ? [{ data: args }] : partsOf(args));
  const skillId = skill === undefined ? {} : { skillId: skill.id };
  const others = takesData ? {} : Object.fromEntries(Object.entries(args).filter(([name]) => !KNOWN.has(name)));
  const metadata: Metadata = { ...others, ...skillId };
  if (Object.keys(metadata).length > 0) message.metadata = metadata;
  const context = takesData ? undefined : textAt(args, 'contextId');
  const task = takesData ? undefined : textAt(args, 'taskId');
  if (context !== undefined) message.contextId = contextId(context);
  if (task !== undefined) message.taskId = taskId(task);
  return { message };
}

/** The parts of a message: text, and images or sound by the names that tools use for them. */
function partsOf(args: JsonObject): readonly Part[] {
  const words = WORDS.map((name) => textAt(args, name)).find((text) => text !== undefined);
  const parts: Part[] = words === undefined ? [] : [{ text: words }];
  const url = textAt(args, 'image_url');
  const image = textAt(args, 'image_data');
  const audio = textAt(args, 'audio_data');
  if (url !== undefined) parts.push({ url, mediaType: 'image/*' });
  if (image !== undefined) parts.push({ raw: image, mediaType: imageType(image) });
  if (audio !== undefined) parts.push({ raw: audio, mediaType: 'audio/wav' });
  if (parts.length === 0) throw new A2AError('INVALID_PARAMS', `one of ${WORDS.join(', ')} is required, as a string`);
  return parts;
}

/** Media types by the beginning of their base64 text. */
function imageType(base64: string): string {
  if (base64.startsWith('/9j/')) return 'image/jpeg';
  if (base64.startsWith('R0lGOD')) return 'image/gif';
  return base64.startsWith('UklGR') ? 'image/webp' : 'image/png';
}

function textAt(args: JsonObject, name: string): string | undefined {
  const value = args[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
