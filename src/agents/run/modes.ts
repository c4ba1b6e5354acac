/**
 * Modes without approvals, or in which a model approves in the caller's place. Modes that accept only
 * edits are not among them.
 */
const UNASKED = /(?:^|#)auto$|auto.?(?:pilot|review)|yolo|bypass|full.?access|allow.?all|unrestricted/i;

/** Matches the mode's id or its name: Codex has `agent`, an "Auto review". */
export function asksNobody({ id, name = '' }: { readonly id: string; readonly name?: string }): boolean {
  return UNASKED.test(id) || UNASKED.test(name);
}
