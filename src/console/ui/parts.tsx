import { useEffect, useMemo, useState } from 'preact/hooks';
import type { JsonObject, Part } from '#protocol';
import { a2uiMessagesIn, getBytesFromFilePart, getUriFromFilePart, isDataPart, isFilePart, isTextPart } from '#protocol';
import { Surfaces } from '../a2ui/lazy.tsx';
import { readSurfaces } from '../a2ui/surfaces.ts';
import { sized } from './basic.tsx';
import { JsonTree } from './json-tree.tsx';
import { Markdown } from './markdown.tsx';

interface PartsProps {
  readonly parts: readonly Part[];
  /** The number of levels of data that are open. */
  readonly open?: number;
  /** The chat draws the surfaces of an agent itself: a click answers there. Elsewhere they are shown as pictures. */
  readonly areSurfacesElsewhere?: boolean;
}

/** The parts of a message or an artifact. Adjacent texts are joined. */
export function Parts({ parts, areSurfacesElsewhere = false, open = 2 }: PartsProps) {
  const messages = parts.flatMap((part) => a2uiMessagesIn(part));
  const others = messages.length === 0 ? parts : parts.filter((part) => a2uiMessagesIn(part).length === 0);
  return (
    <>
      {joined(withoutRepeats(others)).map((part, at) => (
        <OnePart key={at} part={part} open={open} />
      ))}
      {messages.length === 0 || areSurfacesElsewhere ? null : <StillSurfaces messages={messages} />}
    </>
  );
}

function StillSurfaces({ messages }: { readonly messages: readonly JsonObject[] }) {
  const { surfaces, unread } = useMemo(() => readSurfaces([messages]), [messages.length]);
  return <Surfaces surfaces={surfaces} unread={unread.map(({ message }) => message)} />;
}

/** Workflows send a text also as data, for agents that read only data: `{ text }`. People need it once. */
function withoutRepeats(parts: readonly Part[]): readonly Part[] {
  const texts = new Set(parts.filter(isTextPart).map(({ text }) => text));
  const repeats = (part: Part): boolean => {
    const text = isDataPart(part) ? onlyText(part.data) : undefined;
    return text !== undefined && texts.has(text);
  };
  return parts.filter((part) => !repeats(part));
}

/** The text of an object that has nothing else. */
export function onlyText(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null || Object.keys(data).length !== 1) return undefined;
  const { text } = data as { readonly text?: unknown };
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** Joins neighbouring text parts, so that chunks are not shown as paragraphs. */
function joined(parts: readonly Part[]): readonly Part[] {
  const out: Part[] = [];
  let texts: string[] = [];
  const flush = (): void => {
    if (texts.length > 0) out.push({ text: texts.join('') });
    texts = [];
  };
  for (const part of parts) {
    if (isTextPart(part) && part.mediaType === undefined && part.filename === undefined) {
      texts.push(part.text);
      continue;
    }
    flush();
    out.push(part);
  }
  flush();
  return out;
}

function OnePart({ part, open }: { readonly part: Part; readonly open: number }) {
  if (isTextPart(part)) {
    const isDiff = part.mediaType === 'text/x-diff' || /^diff --git |^--- .*\n\+\+\+ /.test(part.text);
    return isDiff ? <Diff text={part.text} /> : <Markdown text={part.text} />;
  }
  if (isDataPart(part)) return <DataPart data={part.data} open={open} />;
  return isFilePart(part) ? <FilePart part={part} /> : null;
}

function DataPart({ data, open }: { readonly data: unknown; readonly open: number }) {
  const type = typeof data === 'object' && data !== null ? (data as JsonObject)['type'] : undefined;
  if (type === 'file_change') return null; // its diff is shown beside it
  return (
    <div class="data">
      <JsonTree value={data} open={open} />
    </div>
  );
}

/** A unified diff in colours. */
export function Diff({ text }: { readonly text: string }) {
  const kindOf = (line: string): string =>
    line.startsWith('@@')
      ? 'hunk'
      : /^(\+\+\+|---|diff |index )/.test(line)
        ? 'head'
        : line.startsWith('+')
          ? 'add'
          : line.startsWith('-')
            ? 'del'
            : '';
  return (
    <pre class="diff">
      {text.split('\n').map((line, at) => (
        <span key={at} class={kindOf(line)}>
          {line}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}

type File = Extract<Part, { readonly raw: string } | { readonly url: string }>;

/**
 * A file: a preview of images, sound, video and text, and a download. SVG is not shown, because it can
 * contain scripts.
 */
function FilePart({ part }: { readonly part: File }) {
  const bytes = useMemo(() => getBytesFromFilePart(part), [part]);
  const type = part.mediaType ?? 'application/octet-stream';
  const name = part.filename ?? 'file';
  const [address, setAddress] = useState('');
  useEffect(() => {
    if (bytes === undefined) return;
    const made = URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type: safeType(type) }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, type]);
  if (bytes === undefined) {
    const uri = getUriFromFilePart(part) ?? '';
    const isWeb = /^https?:/.test(uri);
    return (
      <div class="file">
        <span class="file-name">{name}</span>{' '}
        {isWeb ? (
          <a href={uri} target="_blank" rel="noopener noreferrer">
            {uri}
          </a>
        ) : (
          <code>{uri}</code>
        )}
      </div>
    );
  }
  return (
    <figure class="file">
      {type.startsWith('image/') && type !== 'image/svg+xml' && address !== '' ? <img src={address} alt={name} /> : null}
      {/* biome-ignore lint/a11y/useMediaCaption: what an agent says in sound has no captions */}
      {type.startsWith('audio/') && address !== '' ? <audio controls src={address} aria-label={name} /> : null}
      {/* biome-ignore lint/a11y/useMediaCaption: as above */}
      {type.startsWith('video/') && address !== '' ? <video controls src={address} aria-label={name} /> : null}
      {isReadable(type) && bytes.length < 200_000 ? <Readable bytes={bytes} type={type} /> : null}
      <figcaption>
        <a href={address} download={name}>
          {name}
        </a>{' '}
        <span class="dim">
          {type}, {sized(bytes.length)}
        </span>
      </figcaption>
    </figure>
  );
}

/** HTML and scripts of an agent open as plain text. */
function safeType(type: string): string {
  return /^(image\/(png|jpeg|gif|webp|avif)|audio\/|video\/)/.test(type) ? type : 'application/octet-stream';
}

function isReadable(type: string): boolean {
  return type.startsWith('text/') || type === 'application/json';
}

function Readable({ bytes, type }: { readonly bytes: Uint8Array; readonly type: string }) {
  const text = new TextDecoder().decode(bytes);
  if (type === 'text/markdown') return <Markdown text={text} />;
  if (type === 'text/x-diff') return <Diff text={text} />;
  return <pre class="code">{text}</pre>;
}
