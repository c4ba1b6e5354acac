const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'abstract and as async await begin break case catch class const continue create crate def default defer del delete do elif else end ' +
    'enum except export extends false False final finally fn for from func function go group if impl implements import in insert interface ' +
    'into is join lambda let limit loop match mod module mut namespace new nil None none not null on or order package pass private ' +
    'protected pub public raise return select self set static struct super switch table then this throw throws trait true True try type ' +
    'typeof undefined unless update use using values var void where while with yield'
  ).split(' '),
);
const HASH = /^(?:py|python|sh|bash|shell|zsh|ya?ml|toml|rb|ruby|r|perl|dockerfile|makefile|conf|ini|nginx|elixir)$/;
const STRINGS = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|${'`'}(?:\\.|[^${'`'}\\])*${'`'}`;
const REST = String.raw`|(${STRINGS})|(\b\d[\w.]*)|([A-Za-z_$][\w$]*)`;
const C_LIKE = new RegExp(String.raw`(\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))${REST}`, 'g');
const HASHED = new RegExp(String.raw`(#[^\n]*)${REST}`, 'g');
const SQL = new RegExp(String.raw`(--[^\n]*)${REST}`, 'g');
/** Longer code is left plain, because colouring it would take too long. */
const CHARS_MAX = 30_000;

/** A piece of code and what it is: a comment, a string, a number, a keyword, a function, or nothing of these. */
export type Token = readonly [text: string, kind: '' | 'comment' | 'string' | 'number' | 'keyword' | 'function'];

/** What the groups of a match say. */
function kindOf([text, comment, string, number, word]: RegExpExecArray, after: string | undefined, isSql: boolean): Token[1] {
  if (comment !== undefined) return 'comment';
  if (string !== undefined) return 'string';
  if (number !== undefined) return 'number';
  if (word !== undefined && KEYWORDS.has(isSql ? text.toLowerCase() : word)) return 'keyword';
  return after === '(' ? 'function' : '';
}

/** Splits code into its tokens. It knows no grammar, so it is right for most languages and exact for none. */
export function tokensOf(code: string, language: string): readonly Token[] {
  const tokens: Token[] = [];
  let from = 0;
  const isSql = language === 'sql';
  for (const match of code.matchAll(isSql ? SQL : HASH.test(language) ? HASHED : C_LIKE)) {
    const end = match.index + match[0].length;
    const kind = kindOf(match, code[end], isSql);
    if (kind === '') continue;
    if (match.index > from) tokens.push([code.slice(from, match.index), '']);
    tokens.push([match[0], kind]);
    from = end;
  }
  if (from < code.length) tokens.push([code.slice(from), '']);
  return tokens;
}

/** Colours the text of an element. */
export function highlight(element: Element, language: string): void {
  const code = element.textContent ?? '';
  if (code.length > CHARS_MAX) return;
  element.replaceChildren(
    ...tokensOf(code, language.toLowerCase()).map(([text, kind]) => {
      if (kind === '') return text;
      const span = document.createElement('span');
      span.className = `tok-${kind}`;
      span.textContent = text;
      return span;
    }),
  );
}
