import type { ComponentChildren } from 'preact';

const FIRST = 100;

interface TreeProps {
  readonly value: unknown;
  readonly name?: string;
  /** The number of levels that are open at first. */
  readonly open?: number;
  /** The path within the whole value. Marked paths are shown as lost or changed. */
  readonly path?: string;
  readonly marks?: ReadonlyMap<string, string>;
}

/** JSON as a collapsible tree with keyboard support. */
export function JsonTree({ value, name, open = 2, path = '', marks }: TreeProps) {
  const mark = marks?.get(path);
  if (typeof value !== 'object' || value === null) {
    return (
      <div class={mark === undefined ? 'leaf' : 'leaf marked'} {...(mark === undefined ? {} : { title: mark })}>
        <Name name={name} />
        <Scalar value={value} />
      </div>
    );
  }
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const summary = `${entries.length} ${isList ? 'item' : 'field'}${entries.length === 1 ? '' : 's'}`;
  return (
    <details class={mark === undefined ? 'tree' : 'tree marked'} open={open > 0}>
      <summary {...(mark === undefined ? {} : { title: mark })}>
        <Name name={name} />
        <span class="count">{summary}</span>
        <span class="preview" data-preview={previewOf(value)} />
      </summary>
      <div class="members">
        {entries.slice(0, FIRST).map(([key, member]) => (
          <JsonTree
            key={key}
            name={key}
            value={member}
            open={open - 1}
            path={isList ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`}
            {...(marks === undefined ? {} : { marks })}
          />
        ))}
        {entries.length > FIRST ? <div class="leaf dim">… {entries.length - FIRST} more</div> : null}
      </div>
    </details>
  );
}

const PREVIEW_MEMBERS = 6;
const PREVIEW_CHARS = 96;

/** What a closed branch contains, on one line. */
function previewOf(value: object): string {
  const isList = Array.isArray(value);
  const all = Object.entries(value);
  const shown = all.slice(0, PREVIEW_MEMBERS).map(([key, member]) => (isList ? shortOf(member) : `${key}: ${shortOf(member)}`));
  const text = [...shown, ...(all.length > PREVIEW_MEMBERS ? ['…'] : [])].join(', ');
  const cut = text.length > PREVIEW_CHARS ? `${text.slice(0, PREVIEW_CHARS - 1)}…` : text;
  return isList ? `[${cut}]` : `{${cut}}`;
}

function shortOf(member: unknown): string {
  if (typeof member === 'string') return JSON.stringify(member.length > 32 ? `${member.slice(0, 31)}…` : member);
  if (Array.isArray(member)) return member.length === 0 ? '[]' : '[…]';
  return typeof member === 'object' && member !== null ? '{…}' : String(member);
}

function Name({ name }: { readonly name: string | undefined }): ComponentChildren {
  return name === undefined ? null : <span class="name">{name}: </span>;
}

function Scalar({ value }: { readonly value: unknown }) {
  const kind = value === null ? 'null' : typeof value;
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return <span class={`v-${kind}`}>{text.length > 2000 ? `${text.slice(0, 2000)}…` : text}</span>;
}
