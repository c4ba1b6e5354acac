import type { AuditRecord } from '#protocol';

/** What is written down; number, time and hash are the log's own business. */
export type AuditDraft = Pick<AuditRecord, 'principal' | 'action' | 'decision'> & {
  readonly [Name in 'tenant' | 'object' | 'agent' | 'reason' | 'requestId' | 'client' | 'repeats']?: AuditRecord[Name] | undefined;
};

/** Where a chain stands: the last record's number, the last hash, and the lines since that no hash covers yet. */
export interface Chain {
  readonly seq: number;
  readonly hash: string;
  readonly open: string;
}

export type Hash = (text: string) => string;

/** Before the first record. */
export const GENESIS: Chain = { seq: 0, hash: '0'.repeat(64), open: '' };

const TEXT_CHARS_MAX = 256;
const MEMBERS = ['tenant', 'action', 'object', 'agent', 'decision', 'reason', 'requestId', 'client', 'repeats'] as const;

/** A record as a line of the log, but for the brace at its end. Put together by hand, for it is done for every send. */
export function bodyOf(draft: AuditDraft, seq: number, time: string): string {
  let body = `{"seq":${seq},"time":"${time}","principal":${quoted(draft.principal)}`;
  for (const name of MEMBERS) {
    const value = draft[name];
    if (value !== undefined) body += typeof value === 'number' ? `,"${name}":${value}` : `,"${name}":${quoted(value)}`;
  }
  return body;
}

function quoted(text: string): string {
  const short = text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text;
  return PLAIN.test(short) ? `"${short}"` : JSON.stringify(short);
}

/** What JSON writes as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Lines that are written together share a hash, which stands in the last of them: hashing is most of what a record costs. */
export function sealed(
  bodies: readonly string[],
  { hash: before, open }: Chain,
  hash: Hash,
): { readonly text: string; readonly hash: string } {
  const text = bodies.join('}\n');
  const seal = hash(before + open + text);
  return { text: `${text},"hash":"${seal}"}\n`, hash: seal };
}

const SEAL = /^(\{.*),"hash":"([0-9a-f]{64})"\}$/;

/** Where the chain stands after this line; a text says what is wrong with it. */
export function follow(line: string, { seq, hash: before, open }: Chain, hash: Hash): Chain | string {
  const found = seqIn(line);
  if (found === undefined) return 'it is no record';
  if (found !== seq + 1) return `it has number ${found} after ${seq}`;
  const [, body, seal] = SEAL.exec(line) ?? [];
  if (body === undefined || seal === undefined) return { seq: found, hash: before, open: `${open}${line}\n` };
  if (hash(before + open + body) === seal) return { seq: found, hash: seal, open: '' };
  const lines = open.split('\n').length;
  return lines === 1 ? 'it, or the one before it, was changed' : `it, or one of the ${lines} before it, was changed`;
}

function seqIn(line: string): number | undefined {
  try {
    const { seq } = JSON.parse(line) as { readonly seq?: unknown };
    return typeof seq === 'number' ? seq : undefined;
  } catch {
    return undefined;
  }
}
