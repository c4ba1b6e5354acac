/** Modes of coding agents in which nobody is asked, or a model decides in the caller's place. Those that accept edits alone are not among them. */
const UNASKED = /(?:^|#)(?:auto|autopilot)$|yolo|bypass|full-?access|allow-?all|unrestricted/i;

export function asksNobody(mode: string): boolean {
  return UNASKED.test(mode);
}
