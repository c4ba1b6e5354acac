import DOMPurify from 'dompurify';
import { memo } from 'preact/compat';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { copyText } from './basic.tsx';
import { isRemote, markdownHtml } from './markdown-html.ts';

/**
 * Text of agents is untrusted: no styles, no forms, and nothing that a browser loads from elsewhere. The content security policy blocks
 * remote media too, but a page that does not contain them needs no policy.
 */
const CLEAN = {
  FORBID_TAGS: [
    ...['style', 'form', 'input', 'button', 'textarea', 'select', 'iframe', 'object', 'embed', 'svg', 'math'],
    ...['video', 'audio', 'source', 'track', 'picture', 'image', 'link', 'meta', 'base', 'frame', 'frameset', 'portal'],
  ],
  FORBID_ATTR: ['style', 'class', 'id', 'srcset', 'background', 'poster', 'ping', 'lowsrc', 'dynsrc'],
  ALLOW_DATA_ATTR: false,
};

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A') {
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer');
  } else if (node.tagName === 'IMG' && isRemote(node.getAttribute('src') ?? '')) node.remove();
  else if (node.tagName !== 'IMG') node.removeAttribute('src');
});

/** Markdown as sanitised HTML. */
function htmlOf(text: string): string {
  return DOMPurify.sanitize(markdownHtml(text), CLEAN);
}

const BLOCK_MAX = 4000;

/**
 * Splits a growing text into finished blocks and an unfinished one. Only the last block is drawn again,
 * so that the cost per chunk stays constant in a stream of 10,000 chunks.
 */
export function blocksOf(text: string): readonly string[] {
  const blocks: string[] = [];
  let from = 0;
  let isFenced = false;
  let lineStart = 0;
  while (lineStart < text.length) {
    const end = text.indexOf('\n', lineStart);
    const lineEnd = end === -1 ? text.length : end;
    const line = text.slice(lineStart, lineEnd);
    if (/^\s*(```|~~~)/.test(line)) isFenced = !isFenced;
    const isBreak = !isFenced && line.trim() === '' && end !== -1;
    if (isBreak && lineEnd > from) {
      blocks.push(text.slice(from, lineEnd + 1));
      from = lineEnd + 1;
    }
    lineStart = lineEnd + 1;
  }
  const last = text.slice(from);
  // A very long paragraph is split at a space: it looks the same, and drawing stays cheap.
  for (let rest = last; rest !== ''; ) {
    if (rest.length <= BLOCK_MAX || isFenced) {
      blocks.push(rest);
      break;
    }
    const space = rest.lastIndexOf(' ', BLOCK_MAX);
    const cut = space <= 0 ? BLOCK_MAX : space + 1;
    blocks.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return blocks;
}

/** Adds what the HTML of an agent may not contain itself: copy buttons for code, and boxes in which wide tables scroll. */
function furnish(block: HTMLElement): void {
  for (const pre of block.querySelectorAll('pre')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    button.addEventListener('click', () => void copyText(pre.textContent ?? '', 'code'));
    boxed(pre, 'code-box').append(button);
    colour(pre);
  }
  for (const table of block.querySelectorAll('table')) boxed(table, 'table-box');
  for (const item of block.querySelectorAll('li')) {
    const mark = /^\s*[☐☑]/.test(item.firstChild?.textContent ?? '');
    if (mark) item.classList.add('task-item');
  }
}

/** A code block that grows is drawn again with every chunk: only one that stays for a moment is coloured. */
const COLOUR_MS = 120;

function colour(pre: Element): void {
  const code = pre.querySelector('code');
  const language = code?.title ?? '';
  code?.removeAttribute('title');
  if (code === null || language === '' || language === 'text') return;
  setTimeout(async () => {
    if (!code.isConnected) return;
    const { highlight } = await import('./highlight.ts');
    if (code.isConnected) highlight(code, language);
  }, COLOUR_MS);
}

function boxed(node: Element, name: string): HTMLElement {
  const box = document.createElement('div');
  box.className = name;
  node.replaceWith(box);
  box.append(node);
  return box;
}

const Block = memo(function Block({ text }: { readonly text: string }) {
  const html = useMemo(() => htmlOf(text), [text]);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current !== null) furnish(box.current);
  }, [html]);
  return <div ref={box} class="md-block" dangerouslySetInnerHTML={{ __html: html }} />;
});

/** Markdown of an agent, in blocks: a streamed text renders only its last block again. */
export function Markdown({ text }: { readonly text: string }) {
  return (
    <div class="md">
      {blocksOf(text).map((block, at) => (
        <Block key={at} text={block} />
      ))}
    </div>
  );
}
