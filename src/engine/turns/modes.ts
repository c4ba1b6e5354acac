import type { AgentCard, Json, Message, Part } from '#protocol';
import { A2AError, base64ToBytes } from '#protocol';

/**
 * A list of accepted media types. Types are compared without parameters and case. `text/*` and `*\/*`
 * are patterns. Old cards and callers write `text`, `data`, `json` and `file` for text/plain,
 * application/json (twice) and any type. An empty list accepts everything.
 *
 * A part without a media type counts as follows. Text is text/plain, and any accepted text type will
 * do. Data is application/json. A file can be anything, and is accepted by lists with more than plain
 * text and JSON.
 */
export interface Modes {
  readonly listed: readonly string[];
  has(mediaType: string): boolean;
  takes(part: Part): boolean;
}

const SHORT: ReadonlyMap<string, string> = new Map([
  ['text', 'text/plain'],
  ['data', 'application/json'],
  ['json', 'application/json'],
  ['file', '*/*'],
  ['*', '*/*'],
]);
const TEXT = 'text/plain';
const JSON_TYPE = 'application/json';

/** Parses a list of media types. */
export function modesOf(listed: readonly string[]): Modes {
  const types = new Set(listed.map(normal));
  const isOpen = types.size === 0 || types.has('*/*');
  const has = (mediaType: string): boolean => {
    const type = normal(mediaType);
    if (isOpen || types.has(type) || types.has(`${type.slice(0, type.indexOf('/'))}/*`)) return true;
    // PromptKit's clients declare files as `image/*`: any kind of image that the agent takes fits.
    return type.endsWith('/*') && listed.some((known) => normal(known).startsWith(type.slice(0, -1)));
  };
  const takesText = has(TEXT) || [...types].some((type) => type.startsWith('text/'));
  const takesJson = has(JSON_TYPE) || [...types].some((type) => type.endsWith('+json'));
  const takesFiles = isOpen || [...types].some((type) => type !== TEXT && type !== JSON_TYPE);
  return {
    listed: [...types],
    has,
    takes: (part) => {
      if (part.mediaType !== undefined && part.mediaType !== '') return has(part.mediaType);
      if (part.text !== undefined) return takesText;
      return part.data === undefined ? takesFiles : takesJson;
    },
  };
}

/** The types that the agent, or one of its skills, accepts. */
export function inputModes(card: AgentCard): Modes {
  return modesOf([...card.defaultInputModes, ...card.skills.flatMap((skill) => skill.inputModes ?? [])]);
}

/** The types that the agent, or one of its skills, produces. */
export function outputModes(card: AgentCard): Modes {
  return modesOf([...card.defaultOutputModes, ...card.skills.flatMap((skill) => skill.outputModes ?? [])]);
}

/**
 * A2A 1.0.1 §3.3.2: throws for a part of a type that neither the agent nor one of its skills accepts.
 */
export function checkInput(modes: Modes, message: Message): void {
  message.parts.forEach((part, at) => {
    if (modes.takes(part)) return;
    const type = typeOf(part) ?? 'a file of unknown type';
    throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', `this agent does not accept ${type}; it accepts ${modes.listed.join(', ')}`, {
      field: `message.parts[${at}]`,
    });
  });
}

/** Throws if the caller accepts none of the types that the agent produces, before the agent starts. */
export function checkOutput(made: Modes, accepted: Modes): void {
  if (accepted.listed.length === 0) return;
  if (!accepted.listed.some((type) => type.includes('/'))) {
    const reason = `${accepted.listed.join(', ')} is no media type; name one as type/subtype, or leave acceptedOutputModes out`;
    throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', reason, { field: 'configuration.acceptedOutputModes' });
  }
  if (made.listed.length === 0) return;
  if (made.listed.some((type) => type.includes('*') || accepted.has(type) || isConvertible(type, accepted))) return;
  const reason = `this agent produces ${made.listed.join(', ')}, which can't be converted to ${accepted.listed.join(', ')}`;
  throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', reason, { field: 'configuration.acceptedOutputModes' });
}

function isConvertible(type: string, accepted: Modes): boolean {
  const isWords = type.startsWith('text/') || type === JSON_TYPE;
  return isWords && (textType(accepted) !== undefined || accepted.has(JSON_TYPE));
}

/** Parts in forms that the caller accepts. */
export interface FittedParts {
  readonly parts: readonly Part[];
  /** Types of the parts that have no form the caller accepts. */
  readonly leftOut: readonly string[];
}

/**
 * Converts each part to a type that the caller accepts. Text and JSON convert to each other; any text
 * type converts to plain text.
 */
export function fitParts(parts: readonly Part[], accepted: Modes): FittedParts {
  if (parts.every(accepted.takes)) return { parts, leftOut: [] };
  const kept: Part[] = [];
  const leftOut: string[] = [];
  for (const part of parts) {
    const fitted = accepted.takes(part) ? part : converted(part, accepted);
    if (fitted === undefined) leftOut.push(typeOf(part) ?? 'a file of unknown type');
    else kept.push(fitted);
  }
  return { parts: kept, leftOut };
}

/**
 * The part in a type that the caller accepts. Undefined for links, and for bytes that are neither text
 * nor JSON.
 */
function converted(part: Part, accepted: Modes): Part | undefined {
  const { text, raw, url, data, mediaType: _, ...rest } = part;
  if (url !== undefined) return undefined;
  if (text !== undefined) return asText(rest, text, accepted) ?? asData(rest, jsonOr(text), accepted);
  if (data !== undefined) return asText(rest, JSON.stringify(data), accepted) ?? asData(rest, data, accepted);
  const type = typeOf(part) ?? '';
  const inside = type.startsWith('text/') || type === JSON_TYPE ? textIn(raw ?? '') : undefined;
  return inside === undefined ? undefined : (asText(rest, inside, accepted) ?? asData(rest, jsonOr(inside), accepted));
}

type Rest = Pick<Part, 'metadata' | 'filename'>;

function asText(rest: Rest, text: string, accepted: Modes): Part | undefined {
  const type = textType(accepted);
  if (type === undefined) return undefined;
  return type === TEXT ? { ...rest, text } : { ...rest, text, mediaType: type };
}

function asData(rest: Rest, data: Json, accepted: Modes): Part | undefined {
  return accepted.has(JSON_TYPE) ? { ...rest, data } : undefined;
}

/** The media type for text: plain if accepted, otherwise the first accepted text type. */
function textType(accepted: Modes): string | undefined {
  if (accepted.has(TEXT)) return TEXT;
  return accepted.listed.find((type) => type.startsWith('text/'));
}

function jsonOr(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function textIn(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(base64ToBytes(base64));
  } catch {
    return undefined;
  }
}

function typeOf(part: Part): string | undefined {
  if (part.mediaType !== undefined && part.mediaType !== '') return normal(part.mediaType);
  if (part.text !== undefined) return TEXT;
  return part.data === undefined ? undefined : JSON_TYPE;
}

function normal(type: string): string {
  const bare = (type.split(';', 1)[0] ?? '').trim().toLowerCase();
  return SHORT.get(bare) ?? bare;
}
