import type { Json, Part } from '#protocol';
import { bytesToBase64, parseJson } from '#protocol';
import type { StoredArtifact } from '../../../artifacts/service.ts';
import type { LoadFile } from '../../grammar.ts';
import { EMBED, resolveEmbeds } from './embeds.ts';
import type { QuotedContent } from './modifiers.ts';
import { contentText, ModifierError, modify, templateContext } from './modifiers.ts';
import { readCsv } from './tables.ts';
import { fillTemplate } from './template.ts';

/** SAM's `gateway_recursive_embed_depth`. */
const DEPTH_MAX = 12;
/** What all files of one text may add to it: as much as a message on the broker may have. */
const BYTES_MAX = 10_000_000;
/** A file may embed the same file many times, and so may that one. */
const LOADS_MAX = 200;

const TEXT_TYPES = /^text\/|^application\/(json|(x-)?yaml|xml)$/;

interface Resolving {
  readonly load: LoadFile | undefined;
  readonly used: { bytes: number; loads: number };
  readonly depth: number;
}

/**
 * Replaces the embeds that quote files, as a gateway of SAM does: `artifact_content` becomes the content
 * after its chain of modifiers, and a file part where that is not text. `artifact_meta` becomes a
 * description of the file. A file that can't be loaded becomes a text that says why.
 */
export async function resolveContent(text: string, load: LoadFile | undefined): Promise<readonly Part[]> {
  return await partsIn(text, { load, used: { bytes: 0, loads: 0 }, depth: 0 });
}

async function partsIn(text: string, resolving: Resolving): Promise<readonly Part[]> {
  const parts: Part[] = [];
  let before = '';
  let end = 0;
  for (const { 0: all, 1: type = '', 2: expression = '', 3: format, index } of text.matchAll(EMBED)) {
    before += text.slice(end, index);
    end = index + all.length;
    const found = type === 'artifact_content' || type === 'artifact_meta' ? await quoted(type, { expression, format }, resolving) : all;
    if (typeof found === 'string') {
      before += found;
      continue;
    }
    parts.push(...textParts(before), found);
    before = '';
  }
  return [...parts, ...textParts(before + text.slice(end))];
}

function textParts(text: string): readonly Part[] {
  return text === '' ? [] : [{ text }];
}

interface Quote {
  readonly expression: string;
  readonly format: string | undefined;
}

async function quoted(type: string, { expression, format }: Quote, resolving: Resolving): Promise<string | Part> {
  const [spec = '', ...steps] = expression.split('>>>').map((step) => step.trim());
  try {
    const file = await loaded(spec, resolving);
    if (type === 'artifact_meta') return described(file);
    const chain = chainOf(steps, format);
    const inside = { ...resolving, depth: resolving.depth + 1 };
    let content = await contentOf(file, inside);
    for (const [name, value] of chain.modifiers) {
      const type = file.mediaType.toLowerCase();
      content = name === TEMPLATE ? await filled(value, templateContext(content, type), inside) : modify(content, [name, value], type);
    }
    if (content.kind === 'bytes' && resolving.depth === 0)
      return { raw: bytesToBase64(content.bytes), filename: file.name, mediaType: file.mediaType };
    const text = contentText(content, chain.format, file.mediaType);
    resolving.used.bytes += text.length;
    return resolving.used.bytes > BYTES_MAX ? `[Error: Embedding '${expression}' exceeds total size limit]` : text;
  } catch (thrown) {
    if (thrown instanceof ModifierError) return `[Error: ${thrown.message}]`;
    return `[Error loading artifact '${spec}': ${thrown instanceof Error ? thrown.message : 'unknown'}]`;
  }
}

async function loaded(spec: string, { load, used }: Resolving): Promise<StoredArtifact> {
  const [, name = '', version] = /^(.*?)(?::([^:]*))?$/.exec(spec.startsWith('user:') ? spec.slice('user:'.length) : spec) ?? [];
  if (name === '') throw new Error('Filename missing for artifact_content');
  if (version !== undefined && !/^\d{1,9}$/.test(version)) throw new Error(`Invalid version format in artifact specifier '${spec}'`);
  if (load === undefined) throw new Error('ArtifactService or session context not available');
  used.loads += 1;
  if (used.loads > LOADS_MAX) throw new Error(`more than ${LOADS_MAX} embeds in one text`);
  const file = await load(spec.startsWith('user:') ? `user:${name}` : name, version === undefined ? undefined : Number(version));
  if (file === undefined) throw new Error(`Artifact '${name}' not found (no versions available)`);
  if (file.bytes > BYTES_MAX) throw new Error(`Artifact '${name}' exceeds maximum size limit (${file.bytes} > ${BYTES_MAX} bytes)`);
  return file;
}

const TEMPLATE = 'apply_to_template';

/** Fills a template from a file. Embeds of the template may be made of its values. */
async function filled(spec: string, context: Json, resolving: Resolving): Promise<QuotedContent> {
  const failed = (why: string): ModifierError => new ModifierError(`Error applying modifier '${TEMPLATE}': ${why}`);
  const template = await loaded(spec, resolving).catch(() => {
    throw failed(`Template artifact '${spec}' (latest) not found.`);
  });
  try {
    return { kind: 'text', text: await textIn(fillTemplate(new TextDecoder().decode(template.content), context), resolving) };
  } catch (thrown) {
    throw failed(thrown instanceof Error ? thrown.message : 'unknown');
  }
}

/** Resolves all embeds of a file. */
async function textIn(text: string, resolving: Resolving): Promise<string> {
  if (resolving.depth >= DEPTH_MAX) return '[Error: Max embed depth exceeded]';
  const parts = await partsIn(text, resolving);
  return resolveEmbeds(parts.map((part) => part.text ?? '').join(''));
}

interface Chain {
  readonly modifiers: readonly (readonly [string, string])[];
  readonly format: string;
}

/** A step without a value is ignored. The last one may name the format. */
function chainOf(steps: readonly string[], format: string | undefined): Chain {
  const named = /^format:(.*)$/s.exec(steps.at(-1) ?? '')?.[1];
  const modifiers = (named === undefined ? steps : steps.slice(0, -1)).flatMap((step): [string, string][] => {
    const [, name, value] = /^([^:]+):(.+)$/s.exec(step) ?? [];
    return name === undefined || value === undefined ? [] : [[name.trim(), value.trim()]];
  });
  return { modifiers, format: named ?? format ?? 'text' };
}

/** Embeds in a text file are resolved, too. JSON and CSV are parsed, if they can be. */
async function contentOf({ content, mediaType }: StoredArtifact, resolving: Resolving): Promise<QuotedContent> {
  const type = mediaType.toLowerCase();
  if (!TEXT_TYPES.test(type)) return { kind: 'bytes', bytes: content };
  const text = await textIn(new TextDecoder().decode(content), resolving);
  if (type.includes('csv')) return { kind: 'rows', rows: readCsv(text) };
  if (!type.includes('json')) return { kind: 'text', text };
  try {
    return { kind: 'json', json: parseJson(text) };
  } catch {
    return { kind: 'text', text };
  }
}

/** The words that SAM's agents use for a model. */
function described({ name, version, mediaType, bytes, metadata = {} }: StoredArtifact): string {
  const { description, source } = metadata;
  return [
    `--- Metadata for artifact '${name}' (v${version}) ---`,
    '**Artifact Metadata:**',
    ...(typeof description === 'string' ? [`*   **Description:** ${description}`] : []),
    ...(typeof source === 'string' ? [`*   **Source:** ${source}`] : []),
    `*   **Type:** ${mediaType}`,
    `*   **Size:** ${bytes} bytes`,
    '--- End Metadata ---',
  ].join('\n');
}
