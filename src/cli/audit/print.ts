import type { AuditRecord } from '#protocol';

/** Prints a record: as it is with `--json`, else for people. */
export function print(line: string, json: boolean): void {
  const record = json ? undefined : recordIn(line);
  process.stdout.write(`${record === undefined ? line : forPeople(record)}\n`);
}

/** The record of a line. Undefined: it is none. */
export function recordIn(line: string): AuditRecord | undefined {
  try {
    return JSON.parse(line) as AuditRecord;
  } catch {
    return undefined;
  }
}

/** One record on one line. */
function forPeople(record: AuditRecord): string {
  const { seq, time, principal, tenant, action, object, agent, decision, reason, client, repeats, node } = record;
  const who = `${principal === '' ? '-' : principal}${tenant === undefined ? '' : ` of ${tenant}`}`;
  const what = [action, agent, object].filter((word) => word !== undefined).join(' ');
  const why = reason === undefined ? '' : ` (${reason})`;
  const from = client === undefined ? '' : ` from ${client}`;
  const times = repeats === undefined ? '' : `, ${repeats} times more`;
  const at = node === undefined ? '' : `, at ${node}`;
  return clean(`${seq}  ${time}  ${decision.padEnd(7)}  ${who}  ${what}${why}${from}${times}${at}`);
}

/** Paths and ids come from callers. Control characters in them are made visible. */
function clean(text: string): string {
  return text.replaceAll(/\p{Cc}|\p{Cf}/gu, '?');
}
