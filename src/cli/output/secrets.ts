/** The secrets of this run. All diagnostics are masked, and no flag switches that off (A2A CLI specification §8). */
export interface Secrets {
  /** Masks this value from now on, in every encoding in which a request, a URL or a log can show it. */
  add(secret: string | undefined): void;
  /** Masks the tokens and codes of an answer, if it is one of an authorization server. */
  addFromAnswer(body: string): void;
  mask(text: string): string;
}

const MASK = '***';
/** A shorter value is masked only where it stands alone: inside of words it would mask unrelated text. */
const SHORTEST_IN_WORDS = 4;

/** Starts without secrets. */
export function createSecrets(): Secrets {
  const known = new Set<string>();
  const add = (secret: string | undefined): void => {
    if (secret === undefined || secret === '') return;
    for (const spelling of spellings(secret)) known.add(spelling);
  };
  return {
    add,
    addFromAnswer: (body) => {
      for (const secret of secretsInAnswer(body)) add(secret);
    },
    mask: (text) => {
      let out = text;
      for (const secret of [...known].sort((left, right) => right.length - left.length)) out = masked(out, secret);
      return out;
    },
  };
}

function masked(text: string, secret: string): string {
  if (secret.length >= SHORTEST_IN_WORDS) return text.replaceAll(secret, MASK);
  return text.replaceAll(new RegExp(`(?<![\\w*])${secret.replaceAll(/\W/g, '\\$&')}(?![\\w*])`, 'g'), MASK);
}

function spellings(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const ascii = json.replaceAll(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const percent = percentEncoded(secret);
  const bytes = Buffer.from(secret);
  // Inside of a longer text, as in the `user:password` of HTTP Basic, the bytes can start at any place of a group of three.
  const base64 = [0, 1, 2].map((before) => base64Within(bytes, before));
  return [
    secret,
    json,
    JSON.stringify(json).slice(1, -1),
    ascii,
    ...percent,
    ...percent.map((text) => text.replaceAll(/%[\dA-F]{2}/g, (byte) => byte.toLowerCase())),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    ...base64.flatMap((text) => (text.length < 6 ? [] : [text, text.replaceAll('+', '-').replaceAll('/', '_')])),
    ...(bytes.length < SHORTEST_IN_WORDS ? [] : [bytes.toString('hex')]),
  ];
}

/** As `encodeURIComponent`, a form, a query and a path write it. A lone surrogate has no such form. */
function percentEncoded(secret: string): readonly string[] {
  if (!secret.isWellFormed()) return [];
  const form = new URLSearchParams([['', secret]]).toString().slice(1);
  return [encodeURIComponent(secret), encodeURI(secret), form, new URL(`http://h/?${secret}`).search.slice(1)];
}

/** The characters of a base64 text that depend on these bytes alone, if `before` other bytes stand before them in their group. */
function base64Within(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/(?<!=)=+$/, '');
  const start = before === 0 ? 0 : before + 1;
  const isWhole = (before + bytes.length) % 3 === 0;
  return text.slice(start, isWhole ? undefined : -1);
}

/** What an answer with a token or a device code says in the open. */
const OPEN = new Set([
  'token_type',
  'scope',
  'issued_token_type',
  'user_code',
  'verification_uri',
  'verification_uri_complete',
  'error',
  'error_description',
  'error_uri',
]);
const TELLS = /(?:^|_)(?:token|device_code|secret|assertion)$/;

function secretsInAnswer(body: string): readonly string[] {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    return [];
  }
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return [];
  const members = Object.entries(answer);
  if (!members.some(([name, value]) => TELLS.test(name) && typeof value === 'string')) return [];
  return members.flatMap(([name, value]) => (typeof value === 'string' && !OPEN.has(name) ? [value] : []));
}
