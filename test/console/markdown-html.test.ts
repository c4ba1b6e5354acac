import { describe, expect, it } from 'vitest';
import { isRemote, markdownHtml } from '../../src/console/ui/markdown-html.ts';

const PIXEL = 'https://evil.example/pixel.gif';
const REMOTE = [
  `![seen](${PIXEL})`,
  `![seen][1]\n\n[1]: ${PIXEL}`,
  `<img src="${PIXEL}">`,
  `<IMG\nSRC='${PIXEL}' onerror=x>`,
  `text <img src=${PIXEL}> text`,
  `<video src="${PIXEL}" poster="${PIXEL}" autoplay></video>`,
  `<audio src="${PIXEL}"></audio>`,
  `<picture><source srcset="${PIXEL}"><img src="${PIXEL}"></picture>`,
  `<svg><image href="${PIXEL}"/></svg>`,
  `<link rel="stylesheet" href="${PIXEL}">`,
  `<iframe src="${PIXEL}"></iframe>`,
  `<object data="${PIXEL}"></object><embed src="${PIXEL}">`,
  `<img src="${PIXEL}"`,
];

describe('remote media in the markdown of an agent', () => {
  it.each(REMOTE)('are removed: %s', (text) => {
    const html = markdownHtml(text);
    expect(html).not.toMatch(/<(?:img|image|video|audio|source|track|picture|iframe|object|embed|link|svg)\b/i);
    expect(html.replaceAll(/<a href="[^"]*">/g, '').replaceAll('&lt;', '')).not.toMatch(/(?:src|href|poster|data)\s*=\s*["']?https:/i);
  });

  it('leave a link behind where a picture was', () => {
    expect(markdownHtml(`![seen](${PIXEL})`)).toBe(`<p><a href="${PIXEL}">seen</a></p>\n`);
    expect(markdownHtml(`![](${PIXEL})`)).toContain('>picture</a>');
  });

  it('differ from pictures inside the text', () => {
    const own = 'data:image/png;base64,iVBORw0KGgo=';
    expect(markdownHtml(`![dot](${own})`)).toContain(`<img src="${own}" alt="dot">`);
    for (const address of ['//evil.example/x', 'blob:x', 'data:text/html;base64,eA==', 'data:image/svg+xml;base64,eA==', '/local.png', ''])
      expect(isRemote(address)).toBe(true);
  });
});

it('keeps the rest of the markdown', () => {
  expect(markdownHtml('**a** `b` <kbd>c</kbd>\n\n- d')).toBe(
    '<p><strong>a</strong> <code>b</code> <kbd>c</kbd></p>\n<ul>\n<li>d</li>\n</ul>\n',
  );
});
