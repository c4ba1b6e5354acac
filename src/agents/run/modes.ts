/** Modes in which nobody is asked, or a model answers in the caller's place. Those that accept edits alone are not among them. */
const UNASKED = /(?:^|#)auto$|auto.?(?:pilot|review)|yolo|bypass|full.?access|allow.?all|unrestricted/i;

/** By its id, or by what the agent calls it: Codex has `agent`, an "Auto review". */
export function asksNobody({ id, name = '' }: { readonly id: string; readonly name?: string }): boolean {
  return UNASKED.test(id) || UNASKED.test(name);
}
