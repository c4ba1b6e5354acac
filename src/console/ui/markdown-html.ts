import { Marked } from 'marked';

/** Media that a browser would load from somewhere. */
const MEDIA = /<\/?\s*(?:img|image|video|audio|source|track|picture|iframe|frame|object|embed|link|base|svg|portal)\b[^>]*(?:>|$)/gi;

/** Only pictures inside the text itself are shown: any other address tells somebody that the text was read. */
export function isRemote(address: string): boolean {
  return !/^data:image\/(?:png|jpeg|gif|webp|avif);base64,/i.test(address);
}

const markdown = new Marked({
  async: false,
  gfm: true,
  breaks: true,
  renderer: {
    image: ({ href, text }) => (isRemote(href) ? linkTo(href, text) : `<img src="${escaped(href)}" alt="${escaped(text)}">`),
    // The title survives the cleaning, and a class does not. The page reads the language from it and removes it.
    code: ({ text, lang = '' }) => `<pre><code title="${escaped(lang.trim().split(/\s/)[0] ?? '')}">${escaped(text)}\n</code></pre>\n`,
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    html: ({ text }) => text.replaceAll(MEDIA, ''),
  },
});

/** The HTML of an agent's markdown, without remote media. It is not safe yet: DOMPurify removes the rest. */
export function markdownHtml(text: string): string {
  return markdown.parse(text, { async: false });
}

/** A remote picture becomes a link, which is loaded only when somebody follows it. */
function linkTo(href: string, text: string): string {
  return `<a href="${escaped(href)}">${escaped(text === '' ? 'picture' : text)}</a>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
