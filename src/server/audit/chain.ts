import type { AuditRecord } from '#protocol';

/** A record without the fields that the log adds: sequence number, time and hash. */
export type AuditDraft = Pick<AuditRecord, 'principal' | 'action' | 'decision'> & {
  readonly [Name in 'tenant' | 'object' | 'agent' | 'reason' | 'requestId' | 'client' | 'repeats']?: AuditRecord[Name] | undefined;
};

/**
 * The end of a hash chain: the last record's number, the last hash, and the lines after it that no hash
 * covers yet.
 */
export interface ChainEnd {
  readonly seq: number;
  readonly hash: string;
  readonly open: string;
}

export type Hash = (text: string) => string;

/** The chain of an empty log. */
export const GENESIS: ChainEnd = { seq: 0, hash: '0'.repeat(64), open: '' };

const TEXT_CHARS_MAX = 256;
const MEMBERS = ['tenant', 'action', 'object', 'agent', 'decision', 'reason', 'requestId', 'client', 'repeats'] as const;

/** What the log adds to a record. */
interface RecordPlace {
  readonly seq: number;
  readonly time: string;
  /** The number of the chain, where a log has several. */
  readonly chain?: number | undefined;
}

/**
 * A record as a line of the log, without its closing brace. Built by hand because JSON.stringify is
 * slower and every send makes one.
 */
export function bodyOf(draft: AuditDraft, { seq, time, chain }: RecordPlace): string {
  let body = `{"seq":${seq}${chain === undefined ? '' : `,"chain":${chain}`},"time":"${time}","principal":${quoted(draft.principal)}`;
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

/** Characters that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

/**
 * Lines written together share one hash, in the last of them, because hashing is most of what a record
 * costs.
 */
export function sealed(
  bodies: readonly string[],
  { hash: before, open }: ChainEnd,
  hash: Hash,
): { readonly text: string; readonly hash: string } {
  const text = bodies.join('}\n');
  const seal = hash(before + open + text);
  return { text: `${text},"hash":"${seal}"}\n`, hash: seal };
}

const SEAL = /^(\{.*),"hash":"([0-9a-f]{64})"\}$/;

/** Checks the next line. Returns the chain's new end, or a text that describes the problem. */
export function follow(line: string, { seq, hash: before, open }: ChainEnd, hash: Hash): ChainEnd | string {
  const found = seqIn(line);
  if (found === undefined) return 'it is not an audit record';
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
