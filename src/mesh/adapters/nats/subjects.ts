/**
 * NATS separates levels by dots and has no empty levels. Characters with a meaning in subjects are
 * escaped.
 */

export function subjectOf(topic: string): string {
  const levels = topic.split('/').map((level) => {
    if (level === '+') return '*';
    if (level === '#') return '>';
    return level === '' ? '%' : level.replace(/[%.*>\s\p{Cc}]|^\$/gu, escaped);
  });
  return levels.join('.');
}

/** The topic of a subject that `subjectOf` made. */
export function topicOf(subject: string): string {
  return subject
    .split('.')
    .map((token) => (token === '%' ? '' : unescaped(token)))
    .join('/');
}

/** Header lines are trimmed and end at a line break, so such characters are escaped. */
export function headerValue(text: string): string {
  return text.replace(/[%:\s\p{Cc}]|[^\p{ASCII}]/gu, (character) => encodeURIComponent(character).replace(':', '%3A'));
}

/** The text of a header value that `headerValue` made. Other values are returned unchanged. */
export function readHeader(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not written by us
  }
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`;
}

function unescaped(token: string): string {
  return token.replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
