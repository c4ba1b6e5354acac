import type { AuditRecord } from '#protocol';

/** What is written down; sequence, time and hash are the log's own business. */
export type AuditDraft = Omit<AuditRecord, 'seq' | 'time' | 'hash'>;

/** Where the chain stands: the last record's number and hash. */
export interface ChainEnd {
  readonly seq: number;
  readonly hash: string;
}

export type Hash = (text: string) => string;

/** Before the first record. */
export const GENESIS: ChainEnd = { seq: 0, hash: '0'.repeat(64) };

const TEXT_CHARS_MAX = 256;
const SEAL = /^(\{.*),"hash":"([0-9a-f]{64})"\}$/;

/** A record as a line of the log, without its newline. Members have an order, so that the bytes can be checked as they stand. */
export function sealed(
  draft: AuditDraft,
  { seq, hash: before }: ChainEnd,
  { time, hash }: { readonly time: string; readonly hash: Hash },
): { readonly line: string; readonly end: ChainEnd } {
  const { principal, tenant, action, object, agent, decision, reason, requestId, client, repeats } = draft;
  const next = seq + 1;
  const body = JSON.stringify({
    seq: next,
    time,
    principal: short(principal),
    tenant: short(tenant),
    action,
    object: short(object),
    agent,
    decision,
    reason: short(reason),
    requestId,
    client,
    repeats,
  }).slice(0, -1);
  const seal = hash(before + body);
  return { line: `${body},"hash":"${seal}"}`, end: { seq: next, hash: seal } };
}

function short<T extends string | undefined>(text: T): T {
  return (text !== undefined && text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text) as T;
}

/** What is wrong with a line that comes after `before`; otherwise where the chain stands then. */
export function checkLine(line: string, before: ChainEnd, hash: Hash): ChainEnd | string {
  const match = SEAL.exec(line);
  const [, body, seal] = match ?? [];
  if (body === undefined || seal === undefined) return 'it is no record';
  const { seq } = JSON.parse(line) as { readonly seq?: unknown };
  if (seq !== before.seq + 1) return `it has number ${String(seq)} after ${before.seq}`;
  if (hash(before.hash + body) !== seal) return 'it, or the one before it, was changed';
  return { seq, hash: seal };
}
