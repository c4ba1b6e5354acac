import type { ComponentProps } from './pen.tsx';
import { resolved, words } from './values.ts';

/** Images inside the message. A browser would tell the server of any other image who looks at it, so those are links. */
const INLINE = /^data:image\/(png|jpeg|gif|webp|avif);base64,/;

export function PictureView({ it, pen }: ComponentProps) {
  const url = words(resolved(it['url'], pen.scope));
  const text = words(resolved(it['description'], pen.scope));
  if (!INLINE.test(url)) return <Elsewhere url={url} text={text === '' ? 'Image' : text} />;
  const variant = words(it['variant']).replaceAll(/\W/g, '');
  const fit = words(it['fit']) === 'scaleDown' ? 'scale-down' : words(it['fit']);
  return <img class={`surface-image surface-${variant}`} src={url} alt={text} style={fit === '' ? {} : { objectFit: fit }} />;
}

/** Symbols for the icons that forms use most. The others are shown by their names. */
const SYMBOLS: Readonly<Record<string, string>> = {
  ...{ add: '＋', arrowBack: '←', arrowForward: '→', calendarToday: '▦', check: '✓', close: '✕', delete: '⌫', download: '↓', edit: '✎' },
  ...{ error: '⚠', event: '▦', favorite: '♥', help: '?', home: '⌂', info: 'ℹ', locationOn: '⌖', lock: '⚿', mail: '✉', menu: '☰' },
  ...{ moreVert: '⋮', moreHoriz: '…', notifications: '◔', payment: '▭', person: '☺', phone: '☎', play: '▶', pause: '⏸', refresh: '↻' },
  ...{ search: '⌕', send: '➤', settings: '⚙', share: '⤴', star: '★', stop: '■', upload: '↑', warning: '⚠' },
};

export function MediaView({ it, pen }: ComponentProps) {
  if (it['component'] === 'Icon') {
    const name = words(resolved(it['name'], pen.scope));
    const symbol = Object.hasOwn(SYMBOLS, name) ? SYMBOLS[name] : undefined;
    return symbol === undefined ? (
      <span class="dim">{name.slice(0, 40)}</span>
    ) : (
      <span class="surface-icon" role="img" aria-label={name}>
        {symbol}
      </span>
    );
  }
  const text = words(resolved(it['description'], pen.scope));
  return (
    <Elsewhere url={words(resolved(it['url'], pen.scope))} text={text === '' ? (it['component'] === 'Video' ? 'Video' : 'Sound') : text} />
  );
}

function Elsewhere({ url, text }: { readonly url: string; readonly text: string }) {
  if (!/^https?:\/\//.test(url)) return <span class="dim">{text}</span>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {text} ↗
    </a>
  );
}
